import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { readSmallFile } from '../../../src/core/small-file.ts';

const folder = mkdtempSync(join(tmpdir(), 'proofline-small-'));
afterAll(() => rmSync(folder, { recursive: true }));
const file = join(folder, 'file');

it('reads a file of the limit, and none that is larger', () => {
  writeFileSync(file, '12345');
  expect(readSmallFile(file, 5).toString()).toBe('12345');
  expect(() => readSmallFile(file, 4, 'it')).toThrow('it: expected at most 4 bytes, got more');
});

it('neither waits for a pipe nor reads a device without an end', () => {
  const pipe = join(folder, 'pipe');
  execFileSync('mkfifo', [pipe]);
  for (const path of [pipe, '/dev/zero', '/dev/null']) {
    expect(() => readSmallFile(path, 5, 'it')).toThrow('it: expected a file, got something else');
  }
});

it('says why a file cannot be read', () => {
  expect(() => readSmallFile(folder, 5, 'it')).toThrow('it: expected a file, got a folder');
  expect(() => readSmallFile(join(folder, 'none'), 5, 'it')).toThrow('it: no such file');
});
