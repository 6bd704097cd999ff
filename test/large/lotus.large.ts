import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { proofline, type Service, serve } from '../support/command.ts';
import { FakeMiner, sealedCid, unsealedCid } from '../support/lotus.ts';
import { golden } from '../support/shared.ts';

const SETUP_MS = 600_000;

/** What a miner calls for a golden statement. */
interface Sealing {
  readonly circuit: string;
  readonly statement: string;
  readonly method: string;
  params(): Promise<readonly unknown[]>;
}

const SEALINGS: readonly Sealing[] = [
  {
    circuit: 'porep',
    statement: 'porep-2kib.statement.json',
    method: 'SealCommit2',
    async params() {
      const c1 = gunzipSync(await readFile(golden('porep-2kib-c1.json.gz')));
      return [{ ID: { Miner: 1000, Number: 1 }, ProofType: 5 }, c1.toString('base64')];
    },
  },
  {
    circuit: 'snap-deals',
    statement: 'snap-2kib.statement.json',
    method: 'ProveReplicaUpdate2',
    async params() {
      const stated = JSON.parse(await readFile(golden('snap-2kib.statement.json'), 'utf8'));
      const vanilla = await readFile(golden('snap-2kib-partition0.bin'));
      return [
        { ID: { Miner: 1000, Number: 1 }, ProofType: 5 },
        ...[sealedCid(stated.comm_r_old), sealedCid(stated.comm_r_new)],
        ...[unsealedCid(stated.comm_d_new), [vanilla.toString('base64')]],
      ];
    },
  },
];

describe.each(SEALINGS)('$method of a miner', ({ circuit, statement, method, params }) => {
  const miner = new FakeMiner();
  let folder: string;
  let service: Service;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'proofline-large-'));
    const of = ['--circuit', circuit, '--sector-size', '2KiB', '--insecure-seed', 'test'];
    const kept = ['--out', join(folder, 'k.params'), '--name', circuit, '--data-dir', folder];
    expect(await proofline(['setup', ...of, ...kept])).toMatchObject({ code: 0, stderr: '' });
    await miner.listen();
    service = await serve(folder, { PROOFLINE_MINER_API: miner.apiInfo }, 'worker');
  }, SETUP_MS);
  afterAll(async () => {
    await service?.stop('SIGKILL');
    await miner.close();
    await rm(folder, { recursive: true });
  });

  it('is returned with a proof that verifies, also by a process after the one that took it', async () => {
    const url = `${service.url}/rpc/v0`;
    const { result: call } = await miner.ask(url, method, await params());
    expect(call.Sector).toEqual({ Miner: 1000, Number: 1 });
    await service.stop('SIGKILL');
    service = await serve(folder, { PROOFLINE_MINER_API: miner.apiInfo }, 'worker');
    while (!miner.results.has(call.ID)) await new Promise((resolve) => setTimeout(resolve, 50));
    const [, proofBase64, error] = miner.results.get(call.ID) ?? [];
    expect(error).toBeNull();
    const proof = join(folder, 'proof.bin');
    await writeFile(proof, Buffer.from(String(proofBase64), 'base64'));
    const stated = ['--vk', join(folder, 'k.vk'), '--statement', golden(statement)];
    const verified = await proofline(['verify', ...stated, '--proof', proof]);
    expect(verified).toMatchObject({ code: 0, stdout: 'valid\n' });
    expect(miner.called(`Return${method}`)).toHaveLength(1);
  });
});
