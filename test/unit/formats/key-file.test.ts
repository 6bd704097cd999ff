import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { openKey } from '../../../src/formats/key-file.ts';
import { golden } from '../../support/shared.ts';
import { refusal, sampleR1cs, sampleWtns, sampleZkey } from './samples.ts';

const folder = mkdtempSync(join(tmpdir(), 'proofline-keys-'));
afterAll(() => rmSync(folder, { recursive: true }));

function write(name: string, bytes: Uint8Array): string {
  const path = join(folder, name);
  writeFileSync(path, bytes);
  return path;
}

describe('key file', () => {
  it('opens a zkey, whatever it is called', async () => {
    const path = write('key.params', await sampleZkey('bn254'));
    const { key, contributions } = await openKey(path);
    expect(key).toMatchObject({ curve: 'bn254', format: 'zkey', hBasis: 'odd-lagrange' });
    expect(key.h.slice.path).toBe(path);
    expect(contributions).toBe(0);
  });

  it('opens bellman parameters', async () => {
    const opened = await openKey(golden('tiny.params'));
    expect(opened.key).toMatchObject({ curve: 'bls12-381', format: 'bellman', hBasis: 'monomial' });
    expect(opened.key.a.slice.path).toBe(golden('tiny.params'));
    expect(opened.contributions).toBeUndefined();
  });

  it('refuses files that are neither', async () => {
    const others: [string, Uint8Array][] = [
      ['empty', new Uint8Array(0)],
      ['short', Uint8Array.of(0, 1, 2)],
      ['witness', await sampleWtns('bn254')],
      ['circuit', await sampleR1cs('bn254')],
      ['text', new TextEncoder().encode('{"protocol": "groth16"}')],
      ['proof', new Uint8Array(readFileSync(golden('tiny.proof')))],
    ];
    for (const [name, bytes] of others) {
      const message = await refusal(openKey(write(name, bytes)));
      expect(message).toBe(`${name}: expected a zkey or bellman parameters, got another file`);
    }
    const zeros = await refusal(openKey(write('zeros', new Uint8Array(5000))));
    expect(zeros).toBe('zeros: alpha: expected a point of bls12-381 G1, got the origin');
    const vk = await refusal(openKey(golden('tiny.vk')));
    expect(vk).toBe('tiny.vk: h: expected a count, got the end of the file');
  });

  it('names the file, not its folder, when it cannot be opened', async () => {
    await expect(openKey(join(folder, 'absent.zkey'))).rejects.toMatchObject({
      code: 'ERR_FILE',
      message: 'absent.zkey: no such file',
    });
    await expect(openKey(folder)).rejects.toMatchObject({ code: 'ERR_FILE' });
  });
});
