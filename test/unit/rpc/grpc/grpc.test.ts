import { once } from 'node:events';
import { readdir, readFile, rename, writeFile } from 'node:fs/promises';
import http2 from 'node:http2';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ProverError } from '../../../../src/core/errors.ts';
import type { Micros } from '../../../../src/core/units.ts';
import {
  type Answer,
  type GrpcService,
  type GrpcServiceOptions,
  grpcClient,
  grpcService,
} from '../../../support/grpc.ts';
import { firstPhase, sha256 } from '../../../support/lotus.ts';

let service: GrpcService;
const services: GrpcService[] = [];

beforeEach(async () => {
  service = await start();
});
afterEach(async () => {
  for (const each of services.splice(0)) await each.stop();
});
async function start(options: GrpcServiceOptions = {}): Promise<GrpcService> {
  const started = await grpcService(options);
  services.push(started);
  return started;
}

/** 32 bytes, each one more than that before it; hex. */
const counting = (first: number) =>
  Buffer.from(Array.from({ length: 32 }, (_, i) => first + i)).toString('hex');
const PROOF = Buffer.alloc(192, 7);
/** As Curio sends it: lib/ffi/cuzk_funcs.go. */
const wrapper = (c1: Buffer): Buffer =>
  Buffer.from(JSON.stringify({ SectorNum: 9, Phase1Out: c1.toString('base64'), SectorSize: 2048 }));
const nonInteractive = Buffer.from(
  firstPhase().toString().replace('V1_1"', 'V1_2_Feat_NonInteractivePoRep"'),
);
const porep = (over: object = {}) => ({
  ...{ request_id: 'porep-1000-9', proof_kind: 1, sector_size: 2048, registered_proof: 5 },
  ...{ priority: 2, vanilla_proof: wrapper(firstPhase()), sector_number: 9, miner_id: 1000 },
  ...over,
});
const prove = (submit?: object, client = service.client, deadlineMs?: number) =>
  client.call('Prove', submit === undefined ? {} : { submit }, deadlineMs);
const payload = (digest: string): Promise<Buffer> =>
  readFile(join(service.folder, 'payloads', digest));
const statementOfJob = async (index = 0) => {
  const [job] = service.jobs.all.slice(index);
  return JSON.parse((await payload(job?.request.statement ?? '')).toString());
};

describe("Curio's sequence", () => {
  it('proves a PoRep: the wrapper is a payload, the statement is what the chain knows', async () => {
    const answer = prove(porep());
    await service.jobs.until(1);
    const [job] = service.jobs.all;
    expect(job?.request).toMatchObject({
      kind: 'porep',
      priority: 'normal',
      label: 'porep-1000-9',
    });
    const [vanilla = ''] = job?.request.vanilla ?? [];
    expect(await payload(vanilla)).toEqual(wrapper(firstPhase()));
    expect(await statementOfJob()).toEqual({
      ...{ kind: 'porep', registered_proof: 'StackedDrg2KiBV1_1', prover_id: 'f01000' },
      ...{ sector_number: '9', comm_r: counting(1), comm_d: counting(2) },
      ...{ seed: counting(4), ticket: counting(5) },
    });
    service.jobs.complete('job-1', PROOF);
    const { result } = await answer;
    expect(result).toMatchObject({ job_id: 'porep-1000-9', status: 1, error_message: '' });
    expect(result.proof).toEqual(PROOF);
  });

  it('proves SnapDeals, WindowPoSt and WinningPoSt from what their wire says', async () => {
    const sector = (number: number, commR: number): Buffer => {
      const bytes = Buffer.alloc(60, commR);
      bytes.writeBigUInt64LE(BigInt(number));
      return bytes;
    };
    const raw = (byte: number) => Buffer.alloc(32, byte);
    const answers = [
      prove({
        ...{ request_id: 'snap-1000-9', proof_kind: 2, priority: 2, registered_proof: 3 },
        ...{ vanilla_proofs: [Buffer.from('a'), Buffer.from('b')], sector_number: 9 },
        ...{ comm_r_old: raw(1), comm_r_new: raw(2), comm_d_new: raw(3) },
      }),
      prove({
        ...{ request_id: 'wdpost-1000-4-[1 2 3 4 5 6 7 8]', proof_kind: 3, priority: 3 },
        ...{ registered_proof: 13, partition_index: 4, randomness: raw(6), miner_id: 1000 },
        vanilla_proofs: [sector(70, 1), sector(71, 2)],
      }),
      prove({
        ...{ request_id: 'winpost-1000-0102', proof_kind: 4, priority: 0, registered_proof: 3 },
        ...{ randomness: raw(6), miner_id: 1000, vanilla_proofs: [sector(8, 1)] },
      }),
    ];
    await service.jobs.until(3);
    const byKind = new Map(service.jobs.all.map((job) => [job.request.kind as string, job]));
    const statement = async (kind: string) =>
      JSON.parse((await payload(byKind.get(kind)?.request.statement ?? '')).toString());
    const snap = byKind.get('snap-deals')?.request;
    expect(snap).toMatchObject({
      priority: 'normal',
      vanilla: ['a', 'b'].map((text) => sha256(Buffer.from(text))),
    });
    expect(await statement('snap-deals')).toEqual({
      ...{ kind: 'snap-deals', registered_proof: 3, comm_r_old: '01'.repeat(32) },
      ...{ comm_r_new: '02'.repeat(32), comm_d_new: '03'.repeat(32) },
    });
    expect(byKind.get('window-post')?.request).toMatchObject({ priority: 'high' });
    expect(byKind.get('window-post')?.request).not.toHaveProperty('partition');
    expect(await statement('window-post')).toEqual({
      ...{ kind: 'window-post', registered_proof: 13, randomness: '06'.repeat(32) },
      ...{ sectors: ['70', '71'], comm_r: ['01'.repeat(32), '02'.repeat(32)] },
    });
    // Unspecified: the kind's own, which is critical.
    expect(byKind.get('winning-post')?.request).not.toHaveProperty('priority');
    expect(await statement('winning-post')).toMatchObject({ sectors: ['8'] });
    for (const { id } of service.jobs.all) service.jobs.complete(id, PROOF);
    const names = (await Promise.all(answers)).map(({ result }) => result.job_id);
    expect(names).toEqual(['snap-1000-9', 'wdpost-1000-4-[1 2 3 4 5 6 7 8]', 'winpost-1000-0102']);
  });

  it('joins the job of the same request, while it runs and once it has its proof', async () => {
    const answers = [prove(porep()), prove(porep())];
    await service.jobs.until(1);
    await service.client.call('GetStatus');
    service.jobs.complete('job-1', PROOF);
    for (const { result } of await Promise.all(answers)) expect(result.proof).toEqual(PROOF);
    expect((await prove(porep())).result.proof).toEqual(PROOF);
    expect(service.jobs.all).toHaveLength(1);
  });

  it('takes another payload under the same id for a new job, and cancels the older', async () => {
    const older = prove(porep());
    await service.jobs.until(1);
    const newer = prove(porep({ vanilla_proof: firstPhase(3000) }));
    expect((await older).result).toMatchObject({ status: 3 });
    await service.jobs.until(2);
    expect(service.jobs.cancelled).toEqual(['job-1']);
    service.jobs.complete('job-2', PROOF);
    expect((await newer).result.status).toBe(1);
    const awaited = await service.client.call('AwaitProof', { job_id: 'porep-1000-9' });
    expect(awaited.proof).toEqual(PROOF);
  });

  it('proves anew what has failed, and goes on when the client has given up', async () => {
    const failed = prove(porep());
    await service.jobs.until(1);
    service.jobs.fail('job-1', { code: 'ERR_HOST_CRASHED', data: { device: 'd', cause: 'c' } });
    expect((await failed).result).toMatchObject({ status: 2 });
    await expect(prove(porep(), service.client, 300)).rejects.toMatchObject({ code: 4 });
    await service.jobs.until(2);
    expect(service.jobs.cancelled).toEqual([]);
    const again = prove(porep());
    service.jobs.complete('job-2', PROOF);
    expect((await again).result.status).toBe(1);
    expect(service.jobs.all).toHaveLength(2);
  });

  it('finds the jobs of an earlier process by their request ids', async () => {
    void prove(porep()).catch(() => {});
    await service.jobs.until(1);
    const later = await start({ jobs: service.jobs });
    const answer = later.client.call('AwaitProof', { job_id: 'porep-1000-9' });
    service.jobs.complete('job-1', PROOF);
    expect(await answer).toMatchObject({ job_id: 'porep-1000-9', status: 1 });
  });
});

describe('what goes wrong', () => {
  it.each([
    ['no submit', undefined, 3, 'missing submit field'],
    ['a kind that is none', porep({ proof_kind: 9 }), 3, 'invalid proof_kind: 9'],
    ['a long id', porep({ request_id: 'x'.repeat(1001) }), 3, /request_id: expected at most 1000/],
  ])('%s is refused', async (_, submit, code, details) => {
    await expect(prove(submit)).rejects.toMatchObject({
      code,
      details: expect.stringMatching(details),
    });
    expect(service.jobs.all).toHaveLength(0);
  });

  it.each([
    [porep({ vanilla_proof: Buffer.from('{') }), /^C1 parse failed: expected/],
    [porep({ vanilla_proof: Buffer.alloc(0) }), /^C1 parse failed: expected/],
    [porep({ vanilla_proof: wrapper(nonInteractive) }), /NonInteractive.*, which it aggregates/],
    [porep({ proof_kind: 2 }), /^comm_r_old: expected 32 bytes, got 0/],
    [porep({ proof_kind: 3 }), /^sectors?|vanilla_proofs|randomness/],
    [
      porep({ proof_kind: 3, registered_proof: 8, partition_index: 1 }),
      /^registered_proof: expected V1_1/,
    ],
  ])('a proof that cannot be asked for has failed: %#', async (submit, message) => {
    const { result } = await prove(submit);
    expect(result).toMatchObject({ job_id: 'porep-1000-9', status: 2 });
    expect(result.error_message).toMatch(message);
    await expect(service.client.call('SubmitProof', submit)).rejects.toMatchObject({ code: 3 });
  });

  it('a witness that does not satisfy the circuit is told without any value', async () => {
    const answer = prove(porep());
    await service.jobs.until(1);
    service.jobs.fail('job-1', {
      code: 'ERR_WITNESS_UNSATISFIED',
      data: { detail: 'constraint 7' },
    });
    const { result } = await answer;
    expect(result).toMatchObject({ status: 2, proof: Buffer.alloc(0) });
    expect(result.error_message).toMatch(/constraint 7/);
  });

  it.each([
    [
      new ProverError('ERR_QUEUE_FULL', { limit: 1, retryAfterSeconds: 5 }),
      8,
      /fewer than 1 waiting/,
    ],
    [new ProverError('ERR_SHUTTING_DOWN', {}), 14, /shutting down/],
    [new ProverError('ERR_STORAGE', { subject: 's', action: 'write', reason: 'full' }), 14, /full/],
    [new Error('secret'), 13, /internal error: see \S+ in the log/],
  ])('a job that cannot be taken now is a status: %s', async (refusal, code, details) => {
    service.jobs.refusals.push(refusal);
    await expect(prove(porep())).rejects.toMatchObject({
      code,
      details: expect.stringMatching(details),
    });
  });

  it('a job without its key has failed, and says how to get one', async () => {
    service.jobs.refusals.push(new ProverError('ERR_KEY_UNKNOWN', { key: 'for porep 2KiB' }));
    expect((await prove(porep())).result).toMatchObject({ status: 2 });
  });

  it('a disk that is full leaves nothing behind', async () => {
    const full = await start({ payloadsMaxBytes: 100 });
    await expect(prove(porep(), full.client)).rejects.toMatchObject({ code: 14 });
    expect(await readdir(join(full.folder, 'payloads'))).toHaveLength(0);
  });

  it('a message above 256 MiB is refused by its length alone', async () => {
    using call = rawProve(2 ** 28 + 1);
    const [headers] = await once(call.stream, 'response');
    expect(headers['grpc-status']).toBe('8');
    expect(decodeURI(headers['grpc-message'])).toMatch(/larger than max \(268435457/);
  });

  it('a message that is none costs its call alone', async () => {
    const garbage = Buffer.from('0affffffff0f', 'hex');
    using call = rawProve(garbage.length, garbage);
    const [headers] = await once(call.stream, 'response');
    expect(headers).toMatchObject({
      'grpc-status': '13',
      'grpc-message': expect.stringMatching(/deserializing/),
    });
    void prove(porep()).catch(() => {});
    await service.jobs.until(1);
  });

  it('large messages take turns, the newest first, and one that is cut off gives its up', async () => {
    const cutOff = [rawProve(1000), rawProve(1000)];
    await service.client.call('GetStatus');
    for (const request_id of ['older', 'newer']) {
      void prove(porep({ request_id })).catch(() => {});
      await service.client.call('GetStatus');
    }
    expect(service.jobs.all).toEqual([]);
    cutOff[0]?.[Symbol.dispose]();
    await service.jobs.until(2);
    expect(service.jobs.all.map(({ request }) => request.label)).toEqual(['newer', 'older']);
    cutOff[1]?.[Symbol.dispose]();
  });
});

/** A call of which so many bytes were announced, and these were sent. */
function rawProve(length: number, bytes: Buffer = Buffer.alloc(0)) {
  const connection = http2.connect(`http://${service.address}`);
  const stream = connection.request({
    ...{ ':method': 'POST', ':path': '/cuzk.v1.ProvingEngine/Prove' },
    ...{ 'content-type': 'application/grpc', te: 'trailers' },
  });
  const prefix = Buffer.alloc(5);
  prefix.writeUInt32BE(length, 1);
  stream.write(Buffer.concat([prefix, bytes]));
  if (bytes.length > 0) stream.end();
  return { stream, [Symbol.dispose]: () => connection.destroy() };
}

describe('jobs by their ids', () => {
  it('are submitted, awaited for a while, cancelled', async () => {
    const submitted = await service.client.call('SubmitProof', porep({ request_id: '' }));
    expect(submitted).toMatchObject({ queue_position: 0, assigned_gpu: '' });
    expect(submitted.job_id).toMatch(/^[0-9a-f-]{36}$/);
    expect(await service.client.call('SubmitProof', porep())).toMatchObject({
      ...{ job_id: 'porep-1000-9', queue_position: 1 },
    });
    const { job_id } = submitted;
    const late = await service.client.call('AwaitProof', { job_id, timeout_ms: 50 });
    expect(late).toMatchObject({ job_id, status: 4 });
    const awaited = service.client.call('AwaitProof', { job_id });
    expect(await service.client.call('CancelProof', { job_id })).toEqual({ was_running: false });
    expect(await awaited).toMatchObject({ job_id, status: 3 });
  });

  it('are unknown by that name', async () => {
    const expected = { code: 5, details: 'job not found: nope' };
    for (const method of ['AwaitProof', 'CancelProof']) {
      await expect(service.client.call(method, { job_id: 'nope' })).rejects.toMatchObject(expected);
    }
  });
});

it('a crowd of calls does not keep others waiting', async () => {
  const { jobs } = service;
  let turn = 0;
  const began: number[] = [];
  const count = () => {
    turn++;
    others = setImmediate(count);
  };
  let others = setImmediate(count);
  const list = jobs.list.bind(jobs);
  jobs.list = (query) => {
    began.push(turn);
    return list(query);
  };
  await Promise.all(Array.from({ length: 200 }, () => service.client.call('GetStatus')));
  clearImmediate(others);
  const atOnce = (at: number) => began.filter((each) => each === at).length;
  // Two lists a status, and eight statuses a turn.
  expect(Math.max(...began.map(atOnce))).toBeLessThanOrEqual(16);
});

describe('what a refusal quotes', () => {
  it('is cut off before it fills the headers', async () => {
    const refused = service.client.call('AwaitProof', { job_id: 'é'.repeat(200_000) }, 5000);
    const details = expect.stringMatching(/^job not found: é{1900,2000}…$/);
    await expect(refused).rejects.toMatchObject({ code: 5, details });
  });

  it('may be half a character', async () => {
    const proof = nonInteractive.toString().replace('PoRep"', 'PoRep\\ud800"');
    const submit = porep({ vanilla_proof: Buffer.from(proof) });
    const details = expect.stringMatching(/NonInteractivePoRep\ufffd, which it aggregates/);
    const refused = service.client.call('SubmitProof', submit, 5000);
    await expect(refused).rejects.toMatchObject({ code: 3, details });
  });
});

describe('keys', () => {
  it('are loaded and let go by the circuits that cuzk names', async () => {
    const key = { circuit_id: 'porep-32g' };
    expect(await service.client.call('PreloadSRS', key)).toMatchObject({ already_loaded: false });
    expect([...service.jobs.loaded]).toEqual(['porep 32GiB']);
    expect(await service.client.call('PreloadSRS', key)).toEqual({
      ...{ already_loaded: true, load_time_ms: '0' },
    });
    const evicted = await service.client.call('EvictSRS', key);
    expect(evicted).toEqual({ was_loaded: true, freed_bytes: '44' });
    expect(await service.client.call('EvictSRS', key)).toEqual({
      ...{ was_loaded: false, freed_bytes: '0' },
    });
  });

  it('of an unknown circuit, or that a job proves with, stay', async () => {
    for (const method of ['PreloadSRS', 'EvictSRS']) {
      const call = service.client.call(method, { circuit_id: 'porep-1k' });
      const details = 'unknown circuit ID: porep-1k';
      await expect(call).rejects.toMatchObject({ code: 13, details });
    }
    const data = { jobId: 'j', expected: 'e', actual: 'running' };
    service.jobs.unloadRefusal = new ProverError('ERR_JOB_STATE', data);
    const evict = service.client.call('EvictSRS', { circuit_id: 'wpost-64g' });
    await expect(evict).rejects.toMatchObject({ code: 9 });
  });
});

describe('what monitors read', () => {
  it('GetStatus: devices, keys, and a queue of each kind', async () => {
    await service.client.call('SubmitProof', porep());
    const residents = [
      {
        backend: 'cuda' as const,
        digest: 'ab'.repeat(32),
        bytes: 300,
        lastUsedMicros: 1 as Micros,
      },
    ];
    service.jobs.hosts = () => [
      {
        ...{ backend: 'cuda', available: true, state: 'proving', restarts: 0, residents },
        ...{ deviceName: 'H200', memoryBytes: 1000, jobId: 'job-1' },
      },
    ];
    expect(await service.client.call('GetStatus')).toMatchObject({
      gpus: [
        {
          ...{ ordinal: 0, name: 'H200', vram_total_bytes: '1000', vram_free_bytes: '700' },
          ...{ current_job_id: 'porep-1000-9', current_proof_kind: 'porep-c2' },
        },
      ],
      loaded_srs: [{ circuit_id: 'porep-32g', tier: 0, size_bytes: '300', ref_count: 0 }],
      queues: [
        { proof_kind: 'porep-c2', pending: 1, in_progress: 0 },
        { proof_kind: 'snap-update', pending: 0, in_progress: 0 },
        { proof_kind: 'window-post', pending: 0, in_progress: 0 },
        { proof_kind: 'winning-post', pending: 0, in_progress: 0 },
      ],
      ...{ total_proofs_completed: '0', total_proofs_failed: '0', pinned_memory_bytes: '0' },
    });
  });

  it('GetMetrics: the names of cuzk', async () => {
    const at = (seconds: number) => (seconds * 1e6) as Micros;
    const emit = (event: 'JOB_START' | 'JOB_END', seconds: number, attributes: object) =>
      service.events.emit({
        atMicros: at(seconds),
        event,
        jobId: 'j',
        attributes: { ...attributes },
      });
    const read = async () => (await service.client.call('GetMetrics')).prometheus_text;
    expect(await read()).not.toContain('cuzk_proof_duration_seconds_count');
    emit('JOB_START', 1, { kind: 'snap-deals' });
    emit('JOB_END', 3.5, { state: 'completed' });
    emit('JOB_START', 4, { kind: 'porep' });
    emit('JOB_END', 5, { state: 'failed' });
    const text = await read();
    const samples = text.split('\n').filter((line: string) => !line.startsWith('#'));
    expect(samples.join('\n').replace(/(uptime_seconds) \d+/, '$1 0')).toMatchInlineSnapshot(`
      "cuzk_proofs_completed_total 1
      cuzk_proofs_failed_total 1
      cuzk_uptime_seconds 0
      cuzk_queue_depth 0
      cuzk_proofs_completed{proof_kind="porep_c2"} 0
      cuzk_proofs_completed{proof_kind="snap_update"} 1
      cuzk_proofs_completed{proof_kind="window_post"} 0
      cuzk_proofs_completed{proof_kind="winning_post"} 0
      cuzk_proofs_failed{proof_kind="porep_c2"} 1
      cuzk_proofs_failed{proof_kind="snap_update"} 0
      cuzk_proofs_failed{proof_kind="window_post"} 0
      cuzk_proofs_failed{proof_kind="winning_post"} 0
      cuzk_proof_duration_seconds_count{proof_kind="snap_update"} 1
      cuzk_proof_duration_seconds_sum{proof_kind="snap_update"} 2.500
      cuzk_running_jobs 0
      cuzk_gpu_workers 1
      "
    `);
    for (const [, name] of text.matchAll(/^# TYPE (\S+)/gm))
      expect(text).toContain(`# HELP ${name} `);
  });

  it('/status: under the names of cuzk, for any web page, and nothing else', async () => {
    await service.client.call('SubmitProof', porep());
    const answer = await fetch(service.statusUrl);
    expect(answer.headers.get('access-control-allow-origin')).toBe('*');
    expect(answer.headers.get('connection')).toBe('close');
    expect(Object.keys((await answer.json()) as object)).toEqual(
      expect.arrayContaining([
        ...['uptime_secs', 'memory', 'synthesis', 'pipelines', 'gpu_workers', 'allocations'],
        ...['counters', 'buffers'],
      ]),
    );
    const { origin } = new URL(service.statusUrl);
    for (const [method, path] of [
      ['GET', '/'],
      ['POST', '/status'],
      ['GET', '/v1/jobs'],
    ] as const) {
      const refused = await fetch(`${origin}${path}`, { method });
      expect(refused.status).toBe(404);
      expect(refused.headers.get('access-control-allow-origin')).toBeNull();
      expect(await refused.text()).toBe('404 Not Found\n');
    }
  });
});

it('a thread that has crashed starts again, at its place; jobs go on', async () => {
  const lost = prove(porep()).catch((error) => error);
  await service.jobs.until(1);
  service.crash();
  expect(await lost).toMatchObject({ code: expect.any(Number) });
  const again = (): Promise<Answer> => prove(porep()).catch(again);
  const answer = again();
  service.jobs.complete('job-1', PROOF);
  expect((await answer).result.proof).toEqual(PROOF);
  expect(service.jobs.all).toHaveLength(1);
  expect(service.warned).toEqual(['gRPC: its thread has ended and starts again: out of memory']);
});

describe('where it listens', () => {
  it('is a socket too, whose folder it makes, and not one that is in use', async () => {
    const path = join(service.folder, 'run', 'curio', 'cuzk.sock');
    const first = await start({ grpcListen: `unix://${path}` });
    expect((await first.client.call('GetStatus')).queues).toHaveLength(4);
    await expect(start({ grpcListen: `unix://${path}` })).rejects.toMatchObject({
      ...{ code: 'ERR_LISTEN', data: { address: `unix://${path}` } },
    });
  });

  it('is a socket that a killed server has left', async () => {
    const path = join(service.folder, 'left.sock');
    await leaveSocket(path);
    const second = await start({ grpcListen: `unix:${path}` });
    expect((await second.client.call('GetStatus')).queues).toHaveLength(4);
  });

  it('is no file of another kind, which stays as it is', async () => {
    const path = join(service.folder, 'notes.txt');
    await writeFile(path, 'mine');
    await expect(start({ grpcListen: `unix:${path}` })).rejects.toMatchObject({
      code: 'ERR_LISTEN',
    });
    expect(await readFile(path, 'utf8')).toBe('mine');
  });

  it('is this machine, unless the setting says otherwise', async () => {
    await expect(start({ grpcListen: '0.0.0.0:0' })).rejects.toMatchObject({ code: 'ERR_PARAMS' });
    const open = await start({ grpcListen: '0.0.0.0:0', grpcPublic: true });
    const client = grpcClient(open.address.replace('0.0.0.0', '127.0.0.1'));
    expect((await client.call('GetStatus')).queues).toHaveLength(4);
    client.close();
  });

  it('is a port that is free', async () => {
    const { address } = service;
    await expect(start({ grpcListen: address })).rejects.toMatchObject({
      ...{ code: 'ERR_LISTEN', data: { address, reason: 'EADDRINUSE' } },
    });
  });
});

/** A socket's file without a server: Node removes those that it closes. */
async function leaveSocket(path: string): Promise<void> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(`${path}.old`, resolve));
  await rename(`${path}.old`, path);
  await new Promise((resolve) => server.close(resolve));
  await new Promise<void>((resolve) => connect(path).once('error', () => resolve()));
}
