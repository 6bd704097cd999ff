import { z } from '@hono/zod-openapi';
import type { Context } from 'hono';
import { streamSSE } from 'hono/streaming';
import { ProverError } from '../../core/errors.ts';
import { nowMicros } from '../../core/units.ts';
import { isSettled } from '../../jobs/job.ts';
import { LOG_LEVELS } from '../../telemetry/log.ts';
import { type Env, readJson } from '../body.ts';
import type { ServiceContext } from '../context.ts';
import type { LoggedEvent } from '../event-log.ts';
import { json, type Route, responses } from '../route.ts';
import { JobId } from '../schemas.ts';
import { Turns } from '../turns.ts';

/** Events that are written at once, as a client takes them. */
const CHUNK_EVENTS = 50;
/** Clients that are written to between two looks at all others. */
const CLIENTS_AT_ONCE = 10;
const BEAT_MS = 1000;

const stream = (description: string) => ({
  description,
  content: { 'text/event-stream': { schema: z.string() } },
});
const resume = z.object({
  'last-event-id': z
    .string()
    .regex(/^\d{1,15}$/)
    .optional()
    .describe('Id of the last event that was seen: later ones follow'),
});

export const eventsRoute: Route = {
  scope: 'read',
  config: {
    method: 'get',
    path: '/v1/events',
    summary: 'Server-sent events of all jobs, from now on or after Last-Event-ID',
    request: { headers: resume },
    responses: { 200: stream('Events as they happen; a comment a second while there are none') },
  },
  handle(c, context) {
    const from = lastEventId(c) ?? Number.POSITIVE_INFINITY;
    return follow(c, context, { from, wants: () => true, beat: () => undefined });
  },
};

export const jobEventsRoute: Route = {
  scope: 'read',
  config: {
    method: 'get',
    path: '/v1/jobs/{job_id}/events',
    summary: 'Server-sent events of a job, with its progress each second, until it settles',
    request: { params: z.object({ job_id: JobId }), headers: resume },
    responses: responses({ 200: stream('Events from the first one, or after Last-Event-ID') }, [
      'ERR_JOB_UNKNOWN',
    ]),
  },
  handle(c, context) {
    const { jobs } = context.services;
    const { id } = jobs.get(c.req.param('job_id') ?? '');
    return follow(c, context, {
      from: lastEventId(c) ?? 0,
      wants: ({ event }) => event.jobId === id,
      beat() {
        const job = jobs.get(id);
        if (isSettled(job.state)) return 'end';
        const eta = context.eta.secondsLeft(job, nowMicros());
        return { state: job.state, progress: job.progress, eta_seconds: eta ?? null };
      },
    });
  },
};

interface Following {
  /** Events with larger ids are sent. */
  readonly from: number;
  wants(logged: LoggedEvent): boolean;
  /** Each second: what to tell about progress, nothing, or that this is the end. */
  beat(): object | 'end' | undefined;
}

const turns = new Turns(CLIENTS_AT_ONCE);

/** A client that falls behind what is kept of events is cut off, and may resume. */
function follow(c: Context<Env>, { eventLog }: ServiceContext, { from, wants, beat }: Following) {
  return streamSSE(c, async (out) => {
    let wake = () => {};
    let open = true;
    const unsubscribe = eventLog.subscribe(() => wake());
    const timer = setInterval(() => wake(), BEAT_MS);
    out.onAbort(() => {
      open = false;
      wake();
    });
    let last = eventLog.resume(from);
    let beatAt = Number.NEGATIVE_INFINITY;
    let told: ReturnType<typeof beat>;
    try {
      while (open) {
        await turns.take();
        const news = eventLog.after(last, CHUNK_EVENTS);
        if (news === undefined) break;
        last += news.length;
        const texts = news.filter(wants).map(({ text }) => text);
        if (texts.length > 0) await out.write(texts.join(''));
        const isDue = performance.now() - beatAt >= BEAT_MS;
        if (isDue || texts.length > 0) told = beat();
        if (told === 'end' && news.length === 0) break;
        if (isDue) {
          beatAt = performance.now();
          if (typeof told === 'object') {
            await out.writeSSE({ event: 'progress', data: JSON.stringify(told) });
          } else await out.write(':\n\n');
        }
        if (open && eventLog.after(last, 1)?.length === 0) {
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
        }
      }
    } finally {
      clearInterval(timer);
      unsubscribe();
    }
  });
}

/** @throws ERR_PARAMS */
function lastEventId(c: Context<Env>): number | undefined {
  const text = c.req.header('last-event-id');
  if (text === undefined || text === '') return undefined;
  if (/^\d{1,15}$/.test(text)) return Number(text);
  const expected = 'the id of an event';
  throw new ProverError('ERR_PARAMS', { subject: 'last-event-id', expected, actual: 'other text' });
}

export const metricsRoute: Route = {
  scope: 'read',
  config: {
    method: 'get',
    path: '/metrics',
    summary: 'Metrics for Prometheus',
    responses: {
      200: { description: 'Metrics', content: { 'text/plain': { schema: z.string() } } },
    },
  },
  handle: async (c, { metrics }) =>
    c.body(await metrics.text(), 200, { 'content-type': metrics.contentType }),
};

const LogLevel = z.strictObject({ level: z.enum(LOG_LEVELS) }).openapi('LogLevel');

export const logLevelRoute: Route = {
  scope: 'admin',
  config: {
    method: 'put',
    path: '/v1/log-level',
    summary: 'Change how much the service logs, until it restarts',
    request: { body: { required: true, content: { 'application/json': { schema: LogLevel } } } },
    responses: responses({ 200: json('The level', LogLevel) }, ['ERR_PARAMS', 'ERR_MEDIA_TYPE']),
  },
  async handle(c, { logLevel }) {
    const parsed = LogLevel.safeParse(await readJson(c));
    if (!parsed.success) {
      const expected = `{level}, one of ${LOG_LEVELS.join(', ')}`;
      throw new ProverError('ERR_PARAMS', { subject: 'body', expected, actual: 'another value' });
    }
    logLevel.level = parsed.data.level;
    return c.json(parsed.data);
  },
};
