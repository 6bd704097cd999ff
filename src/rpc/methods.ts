import type { Method } from './method.ts';
import { cancel } from './methods/cancel.ts';
import { discover } from './methods/discover.ts';
import { keys } from './methods/keys.ts';
import { prove } from './methods/prove.ts';
import { result } from './methods/result.ts';
import { status } from './methods/status.ts';
import { timeline } from './methods/timeline.ts';
import { verify } from './methods/verify.ts';

/** Every method of `POST /rpc`, by name. */
export const METHODS: Readonly<Record<string, Method>> = {
  prove,
  status,
  timeline,
  result,
  cancel,
  verify,
  keys,
  'rpc.discover': discover,
};
