import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { describe, expect, it } from 'vitest';
import { inspectMachine } from '../../../src/cli/machine.ts';
import { checkWritable, writeFiles } from '../../../src/cli/output-files.ts';
import { folder } from './fake.ts';

describe('writeFiles', () => {
  it('replaces what is there', async () => {
    const at = folder();
    writeFileSync(at('a'), 'old');
    await writeFiles([
      { path: at('a'), content: 'new a' },
      { path: at('b'), content: 'new b' },
    ]);
    expect(readFileSync(at('a'), 'utf8')).toBe('new a');
    expect(readFileSync(at('b'), 'utf8')).toBe('new b');
    expect(readdirSync(dirname(at('a'))).sort()).toEqual(['a', 'b']);
  });

  it('replaces nothing and leaves nothing when one of the files cannot be written', async () => {
    const at = folder();
    writeFileSync(at('a'), 'old');
    const files = [
      { path: at('a'), content: 'new' },
      { path: at('missing/b'), content: 'new' },
    ];
    await expect(writeFiles(files)).rejects.toThrow('missing/b: no such folder');
    expect(readFileSync(at('a'), 'utf8')).toBe('old');
    expect(readdirSync(dirname(at('a')))).toEqual(['a']);
  });

  it('keeps a link and replaces what it leads to', async () => {
    const at = folder();
    writeFileSync(at('real'), 'old');
    symlinkSync('real', at('link'));
    await writeFiles([{ path: at('link'), content: 'new' }]);
    expect(readFileSync(at('real'), 'utf8')).toBe('new');
    expect(readdirSync(dirname(at('a'))).sort()).toEqual(['link', 'real']);
  });

  it('writes into what is no ordinary file', async () => {
    await writeFiles([{ path: '/dev/null', content: 'gone' }]);
    expect(existsSync('/dev/null')).toBe(true);
  });
});

describe('checkWritable', () => {
  it('refuses a folder, a missing folder and one path twice', async () => {
    const at = folder();
    mkdirSync(at('folder'));
    await expect(checkWritable([at('folder')])).rejects.toThrow('expected a file, got a folder');
    await expect(checkWritable([at('no/file')])).rejects.toThrow('no such folder');
    await expect(checkWritable([at('x'), at('folder/../x')])).rejects.toThrow('twice');
    await expect(checkWritable([at('x'), at('y')])).resolves.toBeUndefined();
    expect(readdirSync(dirname(at('a')))).toEqual(['folder']);
  });
});

describe('inspectMachine', () => {
  it('reports this machine and makes the data folder', async () => {
    const at = folder();
    const facts = await inspectMachine(at('data/folder'));
    expect(facts.nodeVersion).toBe(process.versions.node);
    expect(facts.memoryFreeBytes).toBeGreaterThan(0);
    expect(facts.memoryFreeBytes).toBeLessThanOrEqual(facts.memoryBytes);
    expect(facts.dataDirProblem).toBeUndefined();
    expect(readdirSync(at('data/folder'))).toEqual([]);
  });

  it('says why the data folder cannot be used', async () => {
    const at = folder();
    writeFileSync(at('file'), '');
    expect((await inspectMachine(at('file/data'))).dataDirProblem).toBe('ENOTDIR');
  });
});
