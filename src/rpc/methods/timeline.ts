import { z } from '@hono/zod-openapi';
import { nowMicros } from '../../core/units.ts';
import { type ProverEvent, STAGES } from '../../telemetry/events.ts';
import { TimelineLines } from '../../telemetry/timeline-lines.ts';
import { timelineOf } from '../../trace/timeline.ts';
import { defineMethod } from '../method.ts';
import { Instant, JobId } from '../schemas.ts';

const Milliseconds = z.number();

export const TimelineView = z
  .object({
    job_id: JobId,
    started_at: Instant.nullable(),
    total_ms: Milliseconds,
    running: z.boolean(),
    stages: z
      .array(
        z.object({
          stage: z.enum(STAGES),
          lane: z.enum(['service', 'host', 'device']),
          depth: z.int(),
          parent: z.int().nullable().describe('Index of the stage around it'),
          partition: z.int().optional(),
          worker: z.int().optional(),
          device: z.string().optional(),
          start_ms: Milliseconds,
          end_ms: Milliseconds.nullable(),
          ms: Milliseconds,
          share: z.number().describe("Of the job's time, 0 to 1"),
          error: z.string().optional(),
          unfinished: z.literal(true).optional(),
        }),
      )
      .describe('Each stage is followed by those inside it'),
    lines: z
      .array(z.string())
      .describe(
        'TIMELINE,<ms since the first event>,<event>,<job_id>,<detail>, as cuzk prints them',
      ),
  })
  .openapi('Timeline');

export const timeline = defineMethod({
  summary: "A job's stages: start, end, lane and share of the whole",
  scope: 'read',
  params: z.strictObject({ job_id: JobId }),
  result: TimelineView,
  errors: ['ERR_JOB_UNKNOWN'],
  run: ({ job_id }, { services }) => {
    const events = services.jobs.events(job_id);
    const { stages, ...whole } = timelineOf(job_id, events, nowMicros());
    return { ...whole, stages: [...stages], lines: linesOf(events) };
  },
});

function linesOf(events: readonly ProverEvent[]): string[] {
  const lines: string[] = [];
  const started = events[0]?.atMicros ?? nowMicros();
  const printer = new TimelineLines(started, (line) => void lines.push(line));
  for (const event of events) printer.listener(event);
  return lines;
}
