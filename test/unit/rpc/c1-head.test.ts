import { describe, expect, it } from 'vitest';
import { C1HeadScanner, readC1Head } from '../../../src/rpc/c1-head.ts';
import { firstPhase } from '../../support/lotus.ts';

const hexFrom = (mark: number) =>
  Buffer.from(Array.from({ length: 32 }, (_, i) => mark + i)).toString('hex');
const HEAD = {
  registeredProof: 'StackedDrg2KiBV1_1',
  ...{ commR: hexFrom(1), commD: hexFrom(2), seed: hexFrom(4), ticket: hexFrom(5) },
};

async function* inChunks(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

function wrapped(c1: Buffer): Buffer {
  const Phase1Out = c1.toString('base64');
  return Buffer.from(JSON.stringify({ SectorNum: 7, Phase1Out, SectorSize: 2048 }));
}

describe('C1 head', () => {
  it.each([1, 2, 7, 64, 5000])(
    'is read in chunks of %d, whatever stands in strings',
    async (size) => {
      expect(await readC1Head(inChunks(firstPhase(3000), size))).toEqual(HEAD);
    },
  );

  it.each([3000, 300_000])('is read out of a wrapper around %d bytes', async (bytes) => {
    const head = await readC1Head(inChunks(wrapped(firstPhase(bytes)), 65_536));
    expect(head).toEqual({ ...HEAD, sector: '7' });
  });

  it('is read with its fields in another order, indented', async () => {
    const { registered_proof, vanilla_proofs, ...rest } = JSON.parse(firstPhase().toString());
    const other = JSON.stringify({ ...rest, vanilla_proofs, registered_proof }, null, 2);
    expect(await readC1Head(inChunks(Buffer.from(other), 100))).toEqual(HEAD);
  });

  const broken: [string, (c1: Record<string, unknown>) => unknown, string][] = [
    ['no seed', ({ seed: _, ...rest }) => rest, 'C1: seed: expected 32 bytes as numbers'],
    ['31 bytes', (c1) => ({ ...c1, comm_r: [1] }), 'C1: comm_r: expected 32 bytes'],
    ['a number that is no byte', (c1) => ({ ...c1, ticket: Array(32).fill(256) }), 'C1: ticket'],
    ['no proof', ({ registered_proof: _, ...rest }) => rest, 'C1: registered_proof'],
    ['an array', () => [], 'C1: registered_proof'],
    ['null', () => null, "C1: expected the JSON of PoRep's first phase"],
    ['more than a head', (c1) => ({ ...c1, other: 'x'.repeat(9000) }), 'C1: expected'],
  ];
  it.each(broken)('refuses %s', (_, change, message) => {
    const scanner = new C1HeadScanner();
    scanner.push(Buffer.from(JSON.stringify(change(JSON.parse(firstPhase().toString())))));
    expect(() => scanner.end()).toThrow(message);
  });

  it.each(['', '{', '{}}', '\0', '"'])('refuses %j', (text) => {
    const scanner = new C1HeadScanner();
    scanner.push(Buffer.from(text));
    expect(() => scanner.end()).toThrow('C1');
  });

  it.each([
    ['no text', { SectorNum: 1, Phase1Out: 5, SectorSize: 2048 }],
    ['another text', { SectorNum: 1, Phase1Out: '!', SectorSize: 2048 }],
    ['a long one', { SectorNum: 1, Phase1Out: '!'.repeat(100_000), SectorSize: 2048 }],
  ])('refuses a wrapper with %s', async (_, wrapper) => {
    const bytes = Buffer.from(JSON.stringify(wrapper));
    await expect(readC1Head(inChunks(bytes, 65_536))).rejects.toThrow(/C1|base64/);
  });
});
