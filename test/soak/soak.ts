import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import Database from 'libsql';
import { expect } from 'vitest';
import { openKey } from '../../src/formats/key-file.ts';
import { parsePublicInputs, parseSnarkjsProof } from '../../src/formats/snarkjs-json.ts';
import { verify } from '../../src/groth16/verify.ts';
import { chainWitness } from '../support/chain-files.ts';
import { type Service, serve } from '../support/command.ts';

export interface SoakOptions {
  /** With the key `chain` in it. */
  readonly folder: string;
  readonly jobs: number;
  readonly serverKills: number;
  readonly hostKills: number;
  /** Draws when the kills happen. */
  readonly random: () => number;
}

/** A job of this test takes less, host start and back-off included. */
const JOB_MS_MAX = 2000;

/** The ids of jobs that were accepted, by the client's own key for each. */
type Accepted = Map<string, string>;

/**
 * Submits jobs while the service and its device hosts are killed at random moments, and then checks
 * that each accepted job has exactly one result, verified here once more.
 */
export async function soak(options: SoakOptions): Promise<void> {
  const { folder, jobs } = options;
  const accepted: Accepted = new Map();
  const fleet = new Fleet(folder);
  await fleet.start();
  const killing = new AbortController();
  const kills = killAtRandom(fleet, options, killing.signal);
  for (let i = 0; i < jobs; i++) {
    const witness = await readFile(await chainWitness(folder, BigInt(i + 2)));
    accepted.set(`job-${i}`, await submit(fleet, `job-${i}`, witness));
  }
  await kills;
  const results = new Map<string, Result>();
  for (const id of accepted.values()) results.set(id, await resultOf(fleet, id));
  expect(accepted.size).toBe(jobs);
  expect(results.size).toBe(jobs);
  await fleet.stop();
  checkDatabase(join(folder, 'jobs.db'), jobs);
  await checkProofs(join(folder, 'chain.zkey'), [...results.values()]);
}

interface Result {
  readonly state: string;
  readonly verified: boolean;
  readonly proof: unknown;
  readonly public: readonly string[];
}

/** The one service of a data folder, started again whenever it has been killed. */
class Fleet {
  readonly #folder: string;
  #service: Promise<Service> | undefined;

  constructor(folder: string) {
    this.#folder = folder;
  }

  async start(): Promise<void> {
    this.#service = serve(this.#folder, { PROOFLINE_LOG_LEVEL: 'silent' });
    await this.#service;
  }

  async kill(): Promise<void> {
    await (await this.#service)?.stop('SIGKILL');
    await this.start();
  }

  /** Kills every process that the service has started. */
  async killHosts(): Promise<void> {
    const pid = (await this.#service)?.pid;
    const children = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8').catch(() => '');
    for (const child of children.trim().split(' ')) {
      if (child !== '') process.kill(Number(child), 'SIGKILL');
    }
  }

  async stop(): Promise<void> {
    expect(await (await this.#service)?.stop('SIGTERM')).toBe(0);
  }

  /** Sends a request until something answers it. */
  async send(path: string, options: () => RequestInit): Promise<Response> {
    for (let tries = 0; ; tries++) {
      try {
        const { url } = (await this.#service) as Service;
        const response = await fetch(new URL(path, url), options());
        if (response.status < 500) return response;
      } catch (thrown) {
        if (tries > 200) throw thrown;
      }
      await sleep(50);
    }
  }
}

async function killAtRandom(fleet: Fleet, options: SoakOptions, signal: AbortSignal) {
  const kills = [
    ...Array(options.serverKills).fill('server'),
    ...Array(options.hostKills).fill('hosts'),
  ].sort(() => options.random() - 0.5);
  for (const what of kills) {
    await sleep(100 + options.random() * 900, undefined, { signal });
    if (what === 'server') await fleet.kill();
    else {
      await fleet.killHosts();
      // Three kills of one job's host in a row would rightly put the job into quarantine.
      await sleep(JOB_MS_MAX, undefined, { signal });
    }
  }
}

async function submit(fleet: Fleet, key: string, witness: Uint8Array): Promise<string> {
  const response = await fleet.send('/v1/prove', () => {
    const body = new FormData();
    body.set('key', 'chain');
    body.set('idempotency_key', key);
    body.set('witness', new Blob([Buffer.from(witness)]), 'w.wtns');
    return { method: 'POST', body };
  });
  const answer = (await response.json()) as { job_id: string };
  expect(answer.job_id, JSON.stringify(answer)).toMatch(/^[0-9a-f-]{36}$/);
  return answer.job_id;
}

async function resultOf(fleet: Fleet, id: string): Promise<Result> {
  for (;;) {
    const response = await fleet.send(`/v1/jobs/${id}`, () => ({}));
    const job = (await response.json()) as Result;
    expect(['queued', 'running', 'completed'], JSON.stringify(job)).toContain(job.state);
    if (job.state === 'completed') return job;
    await sleep(100);
  }
}

function checkDatabase(path: string, jobs: number): void {
  const database = new Database(path);
  expect(database.prepare('PRAGMA integrity_check').get()).toMatchObject({
    integrity_check: 'ok',
  });
  const rows = database.prepare('SELECT state, count(*) AS n FROM jobs GROUP BY state').all();
  expect(rows).toMatchObject([{ state: 'completed', n: jobs }]);
  database.close();
}

async function checkProofs(keyPath: string, results: readonly Result[]): Promise<void> {
  const { key } = await openKey(keyPath);
  const statements = new Set<string>();
  for (const { verified, proof, public: inputs } of results) {
    expect(verified).toBe(true);
    statements.add(inputs.join());
    const verdict = await verify(
      key.verifyingKey,
      parsePublicInputs(inputs, key.curve),
      parseSnarkjsProof(proof, key.curve),
    );
    expect(verdict).toEqual({ valid: true });
  }
  expect(statements.size).toBe(results.length);
}
