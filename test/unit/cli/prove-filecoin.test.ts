import { readFileSync, writeFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import type { FilecoinReport } from '../../../src/cli/wiring.ts';
import { golden } from '../../support/shared.ts';
import { command, folder, REPORT } from './fake.ts';

const STATEMENT = golden('winning-2kib.statement.json');
const statement = JSON.parse(readFileSync(STATEMENT, 'utf8'));
const { proof: _, public: __, ...origin } = REPORT;
const PROVEN: FilecoinReport = {
  ...origin,
  kind: 'winning-post',
  registeredProof: 'StackedDrgWinning2KiBV1',
  proof: 'ab'.repeat(192),
  partitions: [{ partition: 0, backend: 'cpu', device: '0', attempts: 1 }],
};
const prove = async () => PROVEN;

describe('proofline prove of Filecoin', () => {
  it('writes the bytes of the proof and says what they prove', async () => {
    const out = folder()('proof.bin');
    const argv = ['prove', '--statement', STATEMENT, '--vanilla', 'v.bin', '--out', out];
    const ran = await command(argv, { prove });
    expect(ran.stderr).toBe('');
    expect(readFileSync(out).toString('hex')).toBe(PROVEN.proof);
    expect(ran.stdout.replace(out, 'OUT')).toBe(
      [
        'proof     OUT (1 partition)',
        'proves    winning-post, StackedDrgWinning2KiBV1',
        `key       sha256 ${REPORT.keyDigest}`,
        'backend   cpu-reference, device 0',
        'verified  yes',
        '',
      ].join('\n'),
    );
    expect(ran.asked[1]).toEqual([
      'prove',
      { kind: 'winning-post', statement, vanilla: ['v.bin'] },
    ]);
  });

  it('prints one JSON document, with the proof in hex', async () => {
    const out = folder()('proof.bin');
    const argv = ['prove', '--statement', STATEMENT, '--vanilla', 'a', 'b', '--out', out, '--json'];
    const more = ['--partition', '1', '--key', 'K', '--backend', 'cpu'];
    const partial = async () => ({ ...PROVEN, aggregated: false }) as const;
    const ran = await command([...argv, ...more], { prove: partial });
    expect(JSON.parse(ran.stdout)).toMatchObject({
      ...{ kind: 'winning-post', proof: PROVEN.proof, aggregated: false, verified: true },
      ...{ registered_proof: PROVEN.registeredProof, partitions: PROVEN.partitions },
      files: { proof: out },
    });
    expect(ran.asked[1]).toEqual([
      'prove',
      {
        ...{ kind: 'winning-post', statement, vanilla: ['a', 'b'], partition: 1 },
        ...{ key: 'K', backend: 'cpu' },
      },
    ]);
  });

  it.each([
    ['bare', 'porep-2kib-c1.json.gz', ['--sector-number', '1']],
    ['wrapped', 'porep-2kib-c1-wrapped.json.gz', []],
  ])("reads a PoRep's statement from its C1, %s", async (_, name, more) => {
    const at = folder();
    writeFileSync(at('c1.json'), gunzipSync(readFileSync(golden(name))));
    const argv = ['prove', '--vanilla', at('c1.json'), '--miner', 'f01000', '--out', at('out')];
    const ran = await command([...argv, ...more], { prove });
    expect(ran.stderr).toBe('');
    const { comm_r, comm_d, ticket, seed } = JSON.parse(
      readFileSync(golden('porep-2kib.statement.json'), 'utf8'),
    );
    expect(ran.asked[1]?.[1]).toMatchObject({
      kind: 'porep',
      statement: { ...{ comm_r, comm_d, ticket, seed }, prover_id: 'f01000', sector_number: '1' },
    });
  });

  it.each([
    [['--vanilla', 'v', '--witness', 'w'], 'those of circom or those of Filecoin'],
    [['--statement', STATEMENT], '--vanilla: expected files of vanilla proofs, got none'],
    [['--vanilla', 'v'], '--miner: expected an address such as f01000, or a --statement, got none'],
    [['--vanilla', 'v', '--miner', 'f1x'], 'got f1x'],
    [['--vanilla', '/none', '--miner', 'f01'], '/none'],
    [['--vanilla', 'v', '--statement', '/none'], '/none'],
    [['--vanilla', 'v', '--statement', STATEMENT, '--miner', 'f01'], 'got --miner'],
    [['--vanilla', 'v', '--statement', STATEMENT, '--partition', 'x'], '--partition: expected'],
    [['--vanilla', 'v', '--statement', golden('tiny.json')], 'statement: kind: expected porep'],
  ])('refuses %j with exit code 2 before any work', async (args, reason) => {
    const { code, stderr, asked } = await command(['prove', ...args]);
    expect(stderr).toContain(reason);
    expect(code).toBe(2);
    expect(asked).toEqual([]);
  });
});
