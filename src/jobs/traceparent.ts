export interface TraceParent {
  readonly traceId: string;
  readonly spanId: string;
  /** Whether the caller records the trace. */
  readonly sampled: boolean;
}

/** W3C Trace Context 3.2; anything malformed is as if it were absent. */
export function parseTraceparent(header: string | undefined): TraceParent | undefined {
  const match = /^[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/.exec(header ?? '');
  const [, traceId, spanId, flags] = match ?? [];
  if (traceId === undefined || spanId === undefined || header?.startsWith('ff')) return undefined;
  if (/^0+$/.test(traceId) || /^0+$/.test(spanId)) return undefined;
  return { traceId, spanId, sampled: (Number.parseInt(flags as string, 16) & 1) === 1 };
}
