import type { Route } from './route.ts';
import {
  cancelRoute,
  jobRoute,
  jobsRoute,
  proofBytesRoute,
  proofRoute,
  publicRoute,
  timelineRoute,
} from './routes/jobs.ts';
import { payloadsRoute, proveRoute } from './routes/prove.ts';
import { rpcRoute } from './routes/rpc.ts';
import {
  keysRoute,
  liveRoute,
  openapiRoute,
  openrpcRoute,
  readyRoute,
  statusRoute,
  verifyRoute,
} from './routes/service.ts';
import { eventsRoute, jobEventsRoute, logLevelRoute, metricsRoute } from './routes/watch.ts';

/** Everything that the service answers over HTTP; the OpenAPI document is made from this list. */
export const ROUTES: readonly Route[] = [
  rpcRoute,
  payloadsRoute,
  proveRoute,
  verifyRoute,
  jobsRoute,
  jobRoute,
  proofRoute,
  proofBytesRoute,
  publicRoute,
  timelineRoute,
  cancelRoute,
  jobEventsRoute,
  eventsRoute,
  keysRoute,
  statusRoute,
  metricsRoute,
  logLevelRoute,
  liveRoute,
  readyRoute,
  openapiRoute,
  openrpcRoute,
];
