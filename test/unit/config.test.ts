import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Environment, loadConfig, SETTINGS, showConfig } from '../../src/config.ts';

it('has defaults for everything', () => {
  const config = loadConfig({}, { XDG_DATA_HOME: '/data' });
  expect(config.dataDir).toBe('/data/proofline');
  expect(config.listen).toBe('127.0.0.1:9830');
  expect(config.uploadLimitBytes).toBe(4 * 2 ** 30);
  expect(config.timelineLines).toBe(false);
});

it('prefers flags to the environment, and the environment to the defaults', () => {
  const environment = { PROOFLINE_THREADS: '3', PROOFLINE_QUEUE_LIMIT: '7' };
  const config = loadConfig({ threads: '5' }, environment);
  expect(config.threads).toBe(5);
  expect(config.queueLimit).toBe(7);
});

it.each([
  [{ PROOFLINE_LISTEN: 'a/b:80' }, 'PROOFLINE_LISTEN: expected an address and a port'],
  [{ PROOFLINE_LISTEN: '127.0.0.1:65536' }, 'PROOFLINE_LISTEN: expected a port up to 65535'],
  [{ PROOFLINE_THREADS: '0' }, 'PROOFLINE_THREADS: expected 1 to 1024, got 0'],
  [{ PROOFLINE_THREADS: '1025' }, 'PROOFLINE_THREADS: expected 1 to 1024, got 1025'],
  [{ PROOFLINE_THREADS: '1e3' }, 'PROOFLINE_THREADS: expected a whole number, got 1e3'],
  [{ PROOFLINE_UPLOAD_LIMIT: '5GB' }, 'PROOFLINE_UPLOAD_LIMIT: expected a size such as 512MiB'],
  [{ PROOFLINE_UPLOAD_LIMIT: '0B' }, 'PROOFLINE_UPLOAD_LIMIT: expected 1B or more, got 0B'],
  [{ PROOFLINE_DRAIN_TIME: '90' }, 'PROOFLINE_DRAIN_TIME: expected a duration such as 90s, got 90'],
  [{ PROOFLINE_DRAIN_TIME: '25h' }, 'PROOFLINE_DRAIN_TIME: expected at most 1d, got 25h'],
  [{ PROOFLINE_DATA_DIR: '~/data' }, 'PROOFLINE_DATA_DIR: expected a path without ~, got ~/data'],
  [{ PROOFLINE_TIMELINE_LINES: 'yes' }, 'TIMELINE_LINES: expected true or false, got yes'],
  [{ PROOFLINE_TIMELINE_LINES: 'TRUE' }, 'TIMELINE_LINES: expected true or false, got TRUE'],
  [
    { PROOFLINE_LOG_LEVEL: 'trace' },
    'PROOFLINE_LOG_LEVEL: expected error, warn, info, debug or silent, got trace',
  ],
])('refuses %j', (environment, message) => {
  expect(() => loadConfig({}, environment)).toThrow(message);
});

it('exports telemetry only when the standard variables ask for it', () => {
  const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318' };
  expect(loadConfig({}, {}).telemetryExport).toBe(false);
  expect(loadConfig({}, endpoint).telemetryExport).toBe(true);
  expect(loadConfig({}, { ...endpoint, OTEL_SDK_DISABLED: 'true' }).telemetryExport).toBe(false);
  expect(loadConfig({}, { ...endpoint, OTEL_TRACES_EXPORTER: 'none' }).telemetryExport).toBe(false);
});

it('calls a value by the option that it came from', () => {
  expect(() => loadConfig({ queueLimit: 'x' }, {})).toThrow('--queue-limit: expected a whole');
});

it('names every setting once', () => {
  const names = Object.values(SETTINGS).map((setting) => setting.env);
  expect(new Set(names).size).toBe(names.length);
});

describe('the file', () => {
  let folder: string;
  let path: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'proofline-config-'));
    path = join(folder, 'config.json');
  });
  afterEach(() => rm(folder, { recursive: true }));
  const load = (environment: Environment = {}, flags = {}) =>
    loadConfig(flags, { PROOFLINE_CONFIG: path, ...environment });

  it('is stronger than the defaults and weaker than the environment', async () => {
    await writeFile(path, '{"queue_limit": 5, "timeline_lines": true, "drain_time": "2m"}');
    expect(load()).toMatchObject({ queueLimit: 5, timelineLines: true, drainMs: 120_000 });
    expect(load({ PROOFLINE_QUEUE_LIMIT: '6' }).queueLimit).toBe(6);
    expect(load({ PROOFLINE_QUEUE_LIMIT: '6' }, { queueLimit: '7' }).queueLimit).toBe(7);
    const shown = showConfig(
      { threads: '2' },
      { PROOFLINE_CONFIG: path, PROOFLINE_JOBS_KEPT: '9' },
    );
    expect(shown.file).toBe(path);
    const origins = Object.fromEntries(shown.settings.map(({ name, origin }) => [name, origin]));
    expect(origins).toMatchObject({
      queue_limit: 'file',
      threads: 'flag',
      jobs_kept: 'environment',
      listen: 'default',
    });
  });

  it.each([
    [
      '{"queue_limits": 5}',
      'expected a setting that exists, perhaps queue_limit, got queue_limits',
    ],
    ['{"queue_limit": "many"}', 'config.json: queue_limit: expected a whole number, got many'],
    ['{"queue_limit": null}', 'config.json: queue_limit: expected a string, a number, true, false'],
    ['{"cors_origins": [1]}', 'config.json: cors_origins: expected a string, a number, true, fals'],
    ['{"queue_limit": true}', 'config.json: queue_limit: expected a whole number, got true'],
    ['{"queue_limit": 1e30}', 'config.json: queue_limit: expected a whole number, got 1e+30'],
    ['[]', 'config.json: expected a JSON object of settings'],
    ['{\n\n"queue_limit": 5,\n}', 'config.json: line 4: expected JSON, got text that is none'],
    ['{"queue_limit": }', 'config.json: expected JSON, got text that is none (Unexpected token'],
    ['', 'config.json: expected JSON, got text that is none (Unexpected end of JSON input'],
    [`"${'x'.repeat(70_000)}"`, 'config.json: expected at most 65536 bytes'],
  ])('refuses %s', async (text, message) => {
    await writeFile(path, text);
    expect(() => load()).toThrow(message);
  });

  it('must be there when it was asked for', () => {
    expect(() => load()).toThrow('config.json: no such file');
    expect(() => loadConfig({ config: path }, {})).toThrow('config.json: no such file');
    expect(() => loadConfig({ config: folder }, {})).toThrow('expected a file, got a folder');
    for (const none of [{}, { PROOFLINE_CONFIG: '' }]) {
      const environment = { XDG_CONFIG_HOME: folder, ...none };
      expect(loadConfig({}, environment).queueLimit).toBe(1000);
      expect(showConfig({}, environment).file).toBeUndefined();
    }
  });

  it('named by an option wins over the one named by the environment', async () => {
    await writeFile(path, '{"queue_limit": 5}');
    const other = join(folder, 'other.json');
    await writeFile(other, '{"queue_limit": 6, "cors_origins": ["https://a", "https://b"]}');
    expect(load({}, { config: other })).toMatchObject({
      queueLimit: 6,
      corsOrigins: ['https://a', 'https://b'],
    });
  });

  it('is found where configuration is kept', async () => {
    await mkdir(join(folder, 'proofline'));
    await writeFile(join(folder, 'proofline/config.json'), '{"queue_limit": 3}');
    expect(loadConfig({}, { XDG_CONFIG_HOME: folder }).queueLimit).toBe(3);
  });
});

it('refuses variables that are none of its own', () => {
  expect(() => loadConfig({}, { PROOFLINE_LISTN: '127.0.0.1:1' })).toThrow(
    'environment: expected a setting that exists, perhaps PROOFLINE_LISTEN, got PROOFLINE_LISTN',
  );
  expect(loadConfig({}, { PROOFLINE_TOKEN: 'secret' }).token).toBe('secret');
});
