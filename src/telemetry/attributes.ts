/**
 * Every attribute name of our spans. Ours begin with `proofline.`; the others are OpenTelemetry's.
 */
export const ATTRIBUTES = {
  jobId: 'proofline.job.id',
  partition: 'proofline.partition',
  worker: 'proofline.worker',
  device: 'proofline.device',
  /** No end was reported; the span ends where the one around it does. */
  unfinished: 'proofline.unfinished',
  /** Events of a job beyond what is kept of one. */
  eventsDropped: 'proofline.events_dropped',
  errorType: 'error.type',
  serviceName: 'service.name',
  serviceVersion: 'service.version',
} as const;

/** Attributes of events that go into spans, by the name they have there. All others stay out. */
export const FROM_EVENT: Readonly<Record<string, string>> = {
  kind: 'proofline.job.kind',
  state: 'proofline.job.state',
  keyDigest: 'proofline.key.digest',
  bytes: 'proofline.bytes',
  error: ATTRIBUTES.errorType,
};
