import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { loadConfig, showConfig } from '../../src/config.ts';
import { readCuzkConfig } from '../../src/cuzk-config.ts';

const folder = mkdtempSync(join(tmpdir(), 'proofline-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** Every key that cuzk's example configuration has, and those that it only warns about. */
const OPERATORS = `
[daemon]
listen = "unix:///run/curio/cuzk.sock"
status_listen = "127.0.0.1:9821"
[memory]
total_budget = "auto"
safety_margin = "5GiB"
eviction_min_idle = "5m"
pinned_budget = "50GiB"
working_memory_budget = "50GiB"
[gpus]
devices = []
gpu_threads = 32
gpu_workers_per_device = 2
[scheduler]
max_batch_size = 1
max_batch_wait_ms = 10000
sort_by_type = true
[synthesis]
threads = 0
partition_workers = 16
[pipeline]
enabled = true
synthesis_lookahead = 1
synthesis_concurrency = 1
max_parallel_synthesis = 18
slot_size = 0
max_gpu_queue_depth = 0
[srs]
param_cache = "/data/zk/params"
preload = ["porep-32g"]
[logging]
level = "trace"
format = "text"
`;

it('says what became of each key of an operator', () => {
  const { settings, notes } = readCuzkConfig('cuzk.toml', OPERATORS);
  expect(settings).toEqual({
    grpc_listen: 'unix:///run/curio/cuzk.sock',
    status_listen: '127.0.0.1:9821',
    threads: '32',
    log_level: 'debug',
  });
  const keys = OPERATORS.match(/^\w+ =/gm) as RegExpMatchArray;
  expect(notes).toHaveLength(keys.length);
  for (const note of notes) {
    expect(note).toMatch(/^[a-z]+\.\w+: (honoured: \w+|ignored: .+)/);
    expect(note).not.toContain('no such key');
  }
  expect(notes).toContain('daemon.listen: honoured: grpc_listen is unix:///run/curio/cuzk.sock');
  expect(notes).toContain('synthesis.threads: honoured: the default of threads says the same');
});

it('names a key that cuzk does not have, and one that says a setting again', () => {
  const { settings, notes } = readCuzkConfig(
    'cuzk.toml',
    'constructor = 1\n[gpus]\ngpu_threads = 3\n[synthesis]\nthreads = 5\n',
  );
  expect(settings).toEqual({ threads: '3' });
  expect(notes).toEqual([
    'constructor: ignored: cuzk has no such key',
    'gpus.gpu_threads: honoured: threads is 3',
    'synthesis.threads: ignored: threads is set already',
  ]);
});

it('is a configuration file by its name, and its values are checked as others are', () => {
  const good = join(folder, 'cuzk.toml');
  writeFileSync(good, '[synthesis]\nthreads = 7\n');
  expect(loadConfig({ config: good }, {})).toMatchObject({
    threads: 7,
    notes: ['synthesis.threads: honoured: threads is 7'],
  });
  expect(showConfig({ config: good }, {}).notes).toHaveLength(1);
  const bad = join(folder, 'bad.toml');
  writeFileSync(bad, '[logging]\nlevel = "loud"\n');
  expect(() => loadConfig({ config: bad }, {})).toThrow(`${bad}: log_level: expected error, warn`);
});

it('refuses text that is no TOML, with its line', () => {
  expect(() => readCuzkConfig('c.toml', '[daemon]\nlisten = \n')).toThrow(
    'c.toml: line 2: expected TOML, got text that is none',
  );
});

it('ignores tables however deep they are', () => {
  const { notes } = readCuzkConfig('cuzk.toml', `${'a.'.repeat(20_000)}a = 1`);
  expect(notes).toEqual(['a.a: ignored: cuzk has no such key']);
});

it.each([
  ['daemon.listen = ["127.0.0.1:1"]', 'grpc_listen', 'something else'],
  ['logging.level = ["info"]', 'log_level', 'something else'],
  ['gpus.gpu_threads = "all"', 'threads', 'all'],
  ['gpus.gpu_threads = -3', 'threads', '-3'],
])('%s is not taken for what it is not', (line, setting, text) => {
  expect(readCuzkConfig('cuzk.toml', line).settings).toEqual({ [setting]: text });
});
