import type { RunningServer } from './cli/wiring.ts';
import { startServer } from './compose.ts';
import { type Flags, loadConfig } from './config.ts';

export type { RunningServer } from './cli/wiring.ts';
export type { Flags } from './config.ts';

/**
 * The service inside another program. Settings that are not given come from the environment and the
 * configuration file, as for `proofline serve`.
 */
export async function startService(settings: Flags = {}): Promise<RunningServer> {
  return startServer(loadConfig(settings));
}
