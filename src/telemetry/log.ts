import { type DestinationStream, type Logger, pino } from 'pino';
import { withWireNames } from '../core/wire-names.ts';
import type { EventListener } from './events.ts';

export const LOG_LEVELS = ['error', 'warn', 'info', 'debug', 'silent'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** JSON lines. Nothing secret is ever passed in; `authorization` is cut out all the same. */
export function createLog(level: LogLevel, destination: DestinationStream): Logger {
  return pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      redact: ['authorization', 'headers.authorization', 'token'],
    },
    destination,
  );
}

/** Writes the life of each job to the log, under its trace id; every other event at level debug. */
export function logJobs(log: Logger): EventListener {
  const traces = new Map<string, unknown>();
  return ({ event, jobId, atMicros, attributes, ...place }) => {
    if (event === 'JOB_START') traces.set(jobId, attributes?.traceId);
    const names = { job_id: jobId, trace_id: traces.get(jobId) };
    const fields = { ...names, ...place, ...withWireNames(attributes ?? {}) };
    if (event === 'JOB_START') log.info(fields, 'job accepted');
    else if (event === 'JOB_END') log.info(fields, 'job settled');
    else log.debug({ ...fields, event, at_micros: atMicros }, 'event');
    if (event === 'JOB_END') traces.delete(jobId);
  };
}
