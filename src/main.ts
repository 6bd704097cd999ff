#!/usr/bin/env node
import { processIo } from './cli/io.ts';
import { inspectMachine } from './cli/machine.ts';
import { run } from './cli/program.ts';
import { RemoteProver } from './cli/remote.ts';
import type { Wiring } from './cli/wiring.ts';
import { openEngine, openTokens, startServer, version } from './compose.ts';
import { loadConfig, showConfig } from './config.ts';

const wiring: Wiring = {
  version,
  config: (flags) => loadConfig(flags),
  showConfig: (flags) => showConfig(flags),
  openEngine: async (flags) => openEngine(loadConfig(flags)),
  connectServer: async (url) => new RemoteProver(url, loadConfig().token),
  startServer: async (flags) => startServer(loadConfig(flags)),
  inspectMachine,
  tokens: (flags) => openTokens(loadConfig(flags)),
};

// What is left by then, such as the retries of an exporter, must not hold the command up.
process.exit(await run(process.argv.slice(2), wiring, processIo()));
