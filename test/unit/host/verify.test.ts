import { copyFile, writeFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { toHex } from '../../../src/core/bytes.ts';
import { verify } from '../../../src/host/verify.ts';
import { temporaryPath } from '../../support/key-files.ts';
import { golden } from '../../support/shared.ts';
import { goldenBytes, goldenJson } from '../../support/vanilla.ts';

const { signal } = new AbortController();
const NAMES = ['window-2kib', 'winning-2kib', 'snap-2kib', 'porep-2kib'];

function given(name: string) {
  const proof = toHex(goldenBytes(`${name}.proof`));
  return { statement: goldenJson(`${name}.statement.json`), proof, keyPath: golden(`${name}.vk`) };
}

describe.each(NAMES)('a proof of %s', (name) => {
  it('is valid for what the chain knows, and for nothing else', async () => {
    const params = given(name);
    expect(await verify(params, signal)).toEqual({ valid: true });
    const { statement } = params;
    const reason = 'partition 0: the pairing equation does not hold';
    for (const change of changesOf(statement)) {
      const other = { ...params, statement: { ...statement, ...change } };
      expect(await verify(other, signal), JSON.stringify(change)).toEqual({ valid: false, reason });
    }
  });
});

/** Every value of the chain's that a proof depends on, each changed by itself. */
type Fields = Record<string, unknown>;

function changesOf(statement: Fields): Fields[] {
  const flipped = (hex: string) => `${hex.startsWith('00') ? '01' : '00'}${hex.slice(2)}`;
  return Object.entries(statement).flatMap(([name, value]): Fields[] => {
    if (/^(comm_|prover_id|ticket|seed|randomness|porep_id)/.test(name)) {
      // A PoSt does not depend on the prover, nor does an update.
      if (name === 'prover_id' && statement.kind !== 'porep') return [];
      if (Array.isArray(value)) return [{ [name]: value.with(0, flipped(value[0])) }];
      return [{ [name]: flipped(String(value)) }];
    }
    if (name === 'sector_number') return [{ [name]: Number(value) + 1 }];
    if (name === 'sectors') return [{ [name]: (value as number[]).with(-1, 1000) }];
    return [];
  });
}

it('takes CIDs and addresses for the same values', async () => {
  const { statement, ...rest } = given('porep-2kib');
  const cid = (prefix: number[], hex: unknown) =>
    `b${base32(Buffer.concat([Buffer.from(prefix), Buffer.from(String(hex), 'hex')]))}`;
  const same = {
    ...{ ...statement, prover_id: 'f01000', registered_proof: 5 },
    comm_d: cid([1, 0x81, 0xe2, 0x03, 0x92, 0x20, 0x20], statement.comm_d),
    comm_r: { '/': cid([1, 0x82, 0xe2, 0x03, 0x81, 0xe8, 0x02, 0x20], statement.comm_r) },
  };
  expect(await verify({ ...rest, statement: same }, signal)).toEqual({ valid: true });
});

/** RFC 4648, lower case, without padding. */
function base32(bytes: Uint8Array): string {
  const bits = Array.from(bytes, (byte) => byte.toString(2).padStart(8, '0')).join('');
  return (bits.match(/.{1,5}/g) ?? [])
    .map((five) => 'abcdefghijklmnopqrstuvwxyz234567'[Number.parseInt(five.padEnd(5, '0'), 2)])
    .join('');
}

describe('a statement of two partitions', () => {
  const { proof, keyPath } = given('window-2kib');
  const statement = goldenJson('variants/window-2kib-3sectors.statement.json');

  it('needs a proof of each', async () => {
    const one = verify({ statement, proof, keyPath }, signal);
    await expect(one).rejects.toThrow('proof: expected 384 bytes, got 192');
    const reason = 'partition 0: the pairing equation does not hold';
    const both = { statement, proof: proof + proof, keyPath };
    expect(await verify(both, signal)).toEqual({ valid: false, reason });
  });
});

describe('bad input', () => {
  it.each([
    [
      'the key of another circuit',
      { keyPath: golden('snap-2kib.vk') },
      'verifying key: expected one of window-post 2KiB, 22 public inputs, got one of 4',
    ],
    ['a proof that is no hex', { proof: 'proof' }, 'proof: expected'],
    ['a point that is none', { proof: 'ff'.repeat(192) }, 'proof: partition 0: A'],
    ['no statement', { statement: [] }, 'statement: expected a JSON object'],
  ])('is told: %s', async (_, change, message) => {
    const params = { ...given('window-2kib'), ...change };
    await expect(verify(params, signal)).rejects.toThrow(message);
  });

  it('is told: a key whose points are outside of their group', async () => {
    const keyPath = await temporaryPath('bad.vk');
    await copyFile(golden('window-2kib.vk'), keyPath);
    const bytes = goldenBytes('window-2kib.vk');
    bytes[bytes.length - 1] = (bytes.at(-1) as number) ^ 1;
    await writeFile(keyPath, bytes);
    const bad = verify({ ...given('window-2kib'), keyPath }, signal);
    await expect(bad).rejects.toThrow('ic[22]: expected a point of bls12-381 G1');
  });
});
