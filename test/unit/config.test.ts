import { expect, it } from 'vitest';
import { loadConfig, SETTINGS } from '../../src/config.ts';

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
