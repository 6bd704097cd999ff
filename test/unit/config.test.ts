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
  [{ PROOFLINE_THREADS: '0' }, 'PROOFLINE_THREADS'],
  [{ PROOFLINE_THREADS: '1e3' }, 'PROOFLINE_THREADS: expected a whole number, got 1e3'],
  [{ PROOFLINE_UPLOAD_LIMIT: '5GB' }, 'PROOFLINE_UPLOAD_LIMIT: expected a size such as 512MiB'],
  [{ PROOFLINE_TIMELINE_LINES: 'yes' }, 'PROOFLINE_TIMELINE_LINES'],
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
    const origins = Object.fromEntries(shown.map(({ name, origin }) => [name, origin]));
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
    ['{"queue_limit": null}', 'config.json: expected a JSON object of settings'],
    ['[]', 'config.json: expected a JSON object of settings'],
    ['{', 'config.json: expected a JSON object of settings'],
    [`"${'x'.repeat(70_000)}"`, 'config.json: expected at most 65536 bytes'],
  ])('refuses %s', async (text, message) => {
    await writeFile(path, text);
    expect(() => load()).toThrow(message);
  });

  it('must be there when it was asked for', () => {
    expect(() => load()).toThrow('config.json: no such file');
    expect(loadConfig({}, { XDG_CONFIG_HOME: folder }).queueLimit).toBe(1000);
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
