import { spawn } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { MAIN, proofline, type Service, serve } from '../support/command.ts';
import { FakeMiner, sealedCid } from '../support/lotus.ts';
import { golden } from '../support/shared.ts';

// A deadline of two sectors of 2 KiB, with real vanilla proofs.
const STATEMENT = golden('window-2kib.statement.json');
const WINDOW_2KIB_V1_2 = 10;
const miner = new FakeMiner();
let folder: string;
let service: Service;
let vanilla: Buffer[];
let statement: { sectors: number[]; comm_r: string[]; randomness: string };

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'proofline-lotus-'));
  const circuit = ['--circuit', 'window-post', '--sector-size', '2KiB', '--insecure-seed', 'test'];
  const kept = ['--out', join(folder, 'window.params'), '--name', 'window'];
  const made = await proofline(['setup', ...circuit, ...kept, '--data-dir', folder]);
  expect(made).toMatchObject({ code: 0, stderr: '' });
  statement = JSON.parse(await readFile(STATEMENT, 'utf8'));
  vanilla = await Promise.all(
    statement.sectors.map((n) => readFile(golden(`window-2kib-vanilla-sector${n}.bin`))),
  );
  for (const [i, sector] of statement.sectors.entries())
    miner.sectors.set(sector, vanilla[i] as Buffer);
  await miner.listen();
  const roles = { PROOFLINE_WORKER_ROLES: 'window-post' };
  service = await serve(folder, { ...roles, PROOFLINE_MINER_API: miner.apiInfo }, 'worker');
});

afterAll(async () => {
  await service?.stop('SIGKILL');
  await miner.close();
  await rm(folder, { recursive: true });
});

async function expectValid(proofBase64: string): Promise<void> {
  const proof = join(folder, 'proof.bin');
  await writeFile(proof, Buffer.from(proofBase64, 'base64'));
  const vk = join(folder, 'window.vk');
  const verified = ['verify', '--vk', vk, '--statement', STATEMENT, '--proof', proof];
  expect(await proofline(verified)).toMatchObject({ code: 0, stdout: 'valid\n' });
}

const RANDOMNESS = () => Buffer.from(statement.randomness, 'hex').toString('base64');

describe('proofline worker', () => {
  it('proves a WindowPoSt for its miner, which verifies', async () => {
    while (miner.joined.length === 0) await new Promise((resolve) => setTimeout(resolve, 20));
    const [joined] = miner.joined;
    expect(joined).toMatchObject({
      url: `${service.url}/worker/wdpost/rpc/v0`,
      tasks: ['post/v0/windowproof'],
    });
    const sectors = statement.sectors.map((SectorNumber, i) => ({
      ...{ SealProof: 5, SectorNumber, SealedCID: sealedCid(statement.comm_r[i] as string) },
      ...{ Challenge: [], Update: false },
    }));
    const params = [WINDOW_2KIB_V1_2, 1000, sectors, 0, RANDOMNESS()];
    const answer = await miner.ask(joined?.url as string, 'GenerateWindowPoSt', params);
    expect(answer).toMatchObject({
      result: { PoStProofs: { PoStProof: WINDOW_2KIB_V1_2 }, Skipped: null },
    });
    await expectValid(answer.result.PoStProofs.ProofBytes);

    const wrong = [...params.slice(0, 4), Buffer.alloc(32, 1).toString('base64')];
    const refused = await miner.ask(joined?.url as string, 'GenerateWindowPoSt', wrong);
    expect(refused.error).toMatchObject({
      code: 1,
      message: expect.stringMatching(/partition 0, sector \d, challenge \d: /),
    });
  });

  it('says what it lacks: a key', async () => {
    const url = `${service.url}/worker/wdpost/rpc/v0`;
    const c1 = await readFile(golden('porep-2kib.statement.json'));
    const sector = { ID: { Miner: 1000, Number: 1 }, ProofType: 5 };
    const { error } = await miner.ask(url, 'SealCommit2', [sector, c1.toString('base64')]);
    expect(error.message).toMatch(/^C1: /);
  });

  it('tells its tokens to nobody, and ends when it is asked to', async () => {
    expect(service.stderr()).toContain('joined the miner');
    expect(await service.stop('SIGTERM')).toBe(0);
    for (const secret of [miner.ownToken, miner.token]) {
      expect(service.stderr()).not.toContain(secret);
    }
    const env = { PROOFLINE_MINER_API: miner.apiInfo };
    const { stdout } = await proofline(['config', 'show', '--data-dir', folder], env);
    expect(stdout).toMatch(/miner_api +environment +\(set\)/);
    expect(stdout).not.toContain(miner.ownToken);
  });

  it('needs a miner', async () => {
    const { code, stderr } = await proofline(['worker', '--data-dir', folder]);
    expect([code, stderr]).toEqual([2, expect.stringContaining('miner: expected its --miner-api')]);
  });
});

describe('proofline ffi', () => {
  async function ffi(request: object, descriptor: number) {
    const out = descriptor === 1 ? [] : ['--fd', String(descriptor)];
    const child = spawn(process.execPath, [MAIN, 'ffi', '--data-dir', folder, ...out], {
      stdio: ['pipe', 'pipe', 'inherit', 'pipe'],
    });
    child.stdin?.end(JSON.stringify(request));
    const response = text(child.stdio[descriptor] as Readable);
    const code = await new Promise((resolve) => child.once('close', resolve));
    return { code, response: JSON.parse(await response) };
  }

  it('answers one call, on the descriptor that it is told', async () => {
    const proofs = vanilla.map((proof) => proof.toString('base64'));
    const { code, response } = await ffi(
      {
        ...{ id: 1, jsonrpc: '2.0' },
        method: 'FFI.GenerateSinglePartitionWindowPoStWithVanilla',
        params: [WINDOW_2KIB_V1_2, 1000, RANDOMNESS(), proofs, 0],
      },
      3,
    );
    expect(response).toMatchObject({ id: 1, result: { PoStProof: WINDOW_2KIB_V1_2 } });
    expect(code).toBe(0);
    expect(Buffer.from(response.result.ProofBytes, 'base64')).toHaveLength(192);
  });

  it('answers an error, and says so by its exit code', async () => {
    const method = 'FFI.SealPreCommitPhase2';
    const { code, response } = await ffi({ id: 1, method, params: [] }, 1);
    expect(response.error).toEqual({ code: -32601, message: `method '${method}' not found` });
    expect(code).toBe(3);
  });

  it('answers a request that is too long, too', async () => {
    const { code, response } = await ffi(Array(2 ** 20).fill(0), 1);
    const message = 'request bigger than maximum 2097152 allowed';
    expect([code, response.error]).toEqual([3, { code: -32700, message }]);
  });

  it('needs an open descriptor before it begins', async () => {
    const { code, stderr } = await proofline(['ffi', '--fd', '77']);
    expect([code, stderr]).toEqual([2, expect.stringContaining('--fd: expected an open desc')]);
  });

  it('leaves nothing behind where it is interrupted while it reads', async () => {
    const tmp = await mkdtemp(join(tmpdir(), 'proofline-lotus-e2e-'));
    const child = spawn(process.execPath, [MAIN, 'ffi'], {
      ...{ stdio: ['pipe', 'ignore', 'ignore'], env: { ...process.env, TMPDIR: tmp } },
    });
    const closed = new Promise((resolve) => child.once('close', resolve));
    child.stdin?.write('{"id":1,');
    await expect.poll(() => readdir(tmp)).toHaveLength(1);
    child.kill('SIGINT');
    expect(await closed).toBe(130);
    expect(await readdir(tmp)).toEqual([]);
    await rm(tmp, { recursive: true });
  });
});
