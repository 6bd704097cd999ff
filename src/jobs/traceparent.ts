/** W3C Trace Context 3.2; anything malformed is as if it were absent. */
export function parseTraceparent(
  header: string | undefined,
): { readonly traceId: string; readonly spanId: string } | undefined {
  const match = /^[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}$/.exec(header ?? '');
  const [, traceId, spanId] = match ?? [];
  if (traceId === undefined || spanId === undefined || header?.startsWith('ff')) return undefined;
  return /^0+$/.test(traceId) || /^0+$/.test(spanId) ? undefined : { traceId, spanId };
}
