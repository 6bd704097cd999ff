import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { proofline, type Service, serve } from '../support/command.ts';
import { golden } from '../support/shared.ts';

const SETUP_MS = 600_000;

/** The two whose keys take long to make; the others: test/e2e/filecoin.test.ts, README's tour. */
describe.each([
  {
    circuit: 'porep',
    statement: 'porep-2kib.statement.json',
    vanilla: 'porep-2kib-c1.json.gz',
    // Nothing but the C1, and whose it is.
    fields: { miner: 'f01000', sector_number: '1' },
  },
  {
    circuit: 'snap-deals',
    statement: 'snap-2kib.statement.json',
    vanilla: 'snap-2kib-partition0.bin',
    fields: {},
  },
])('$circuit', ({ circuit, statement, vanilla, fields }) => {
  let folder: string;
  let service: Service;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'proofline-large-'));
    const of = ['--circuit', circuit, '--sector-size', '2KiB', '--insecure-seed', 'test'];
    const kept = ['--out', join(folder, 'k.params'), '--name', circuit, '--data-dir', folder];
    expect(await proofline(['setup', ...of, ...kept])).toMatchObject({ code: 0, stderr: '' });
    service = await serve(folder);
  }, SETUP_MS);
  afterAll(async () => {
    await service?.stop('SIGKILL');
    await rm(folder, { recursive: true });
  });

  it('is proved from its vanilla proof over HTTP, and the proof verifies', async () => {
    const file = await readFile(golden(vanilla));
    const body = new FormData();
    for (const [name, value] of Object.entries({ kind: circuit, wait: 'true', ...fields })) {
      body.set(name, value);
    }
    body.set('vanilla', new Blob([vanilla.endsWith('.gz') ? gunzipSync(file) : file]), 'v');
    if (!('miner' in fields)) {
      body.set('statement', new Blob([await readFile(golden(statement))]), 's.json');
    }
    const answer = await fetch(new URL('/v1/prove', service.url), {
      ...{ method: 'POST', body, headers: { accept: 'application/octet-stream' } },
    });
    expect(answer.status).toBe(200);
    const proof = join(folder, 'proof.bin');
    await writeFile(proof, Buffer.from(await answer.arrayBuffer()));
    const stated = ['--vk', join(folder, 'k.vk'), '--statement', golden(statement)];
    const verified = await proofline(['verify', ...stated, '--proof', proof]);
    expect(verified).toMatchObject({ code: 0, stdout: 'valid\n' });
  });

  if (circuit !== 'porep') return;
  it('of the kind that the chain aggregates says so', async () => {
    const c1 = gunzipSync(await readFile(golden('variants/porep-2kib-ni-c1.json.gz')));
    const body = new FormData();
    const fields = { kind: circuit, wait: 'true', miner: 'f01000', partition: '12' };
    for (const [name, value] of Object.entries(fields)) body.set(name, value);
    const stated = await readFile(golden('variants/porep-2kib-ni.statement.json'), 'utf8');
    body.set('sector_number', String(JSON.parse(stated).sector_number));
    body.set('vanilla', new Blob([c1]), 'c1.json');
    const answer = await fetch(new URL('/v1/prove', service.url), { method: 'POST', body });
    expect(await answer.json()).toMatchObject({
      ...{ state: 'completed', aggregated: false, partitions: [{ partition: 12 }] },
      registered_proof: 'StackedDrg2KiBV1_2_Feat_NonInteractivePoRep',
    });
  });
});
