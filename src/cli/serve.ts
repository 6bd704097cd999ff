import type { Command } from 'commander';
import { SETTINGS } from '../config.ts';
import { type Io, plain, writeFields, writeJson } from './io.ts';
import { document } from './manual.ts';
import { flagsOf, jsonOption, settingOption } from './options.ts';
import type { Act } from './program.ts';
import { EXIT } from './report.ts';
import type { RunningServer, Wiring } from './wiring.ts';

type Options = Readonly<Record<string, unknown>> & { readonly json?: true };

export function defineServe(program: Command, act: Act): void {
  const command = document(program.command('serve'), {
    summary: 'run the service',
    about: `
      Answers JSON-RPC and REST until it is interrupted; it then accepts nothing more, settles
      what is left and ends. Without tokens it listens to this machine only. Its keys are those
      of "proofline keys", also such as are imported while it runs. An option wins over its
      variable in the environment
      ("proofline --help" lists them).`,
    examples: [
      ['proofline serve', 'on the default address'],
      ['proofline serve --listen 127.0.0.1:0 --json', 'on a free port, which the JSON names'],
      ['proofline serve --timeline-lines true 2> timeline.log', 'keep the TIMELINE lines'],
    ],
    exits: [
      ['0', 'stopped by SIGINT or SIGTERM, all jobs settled'],
      ['2', 'wrong usage or a wrong setting'],
      ['3', 'failed, for example because the port is taken'],
    ],
  });
  for (const name of Object.keys(SETTINGS) as (keyof typeof SETTINGS)[]) {
    command.addOption(settingOption(name));
  }
  command
    .addOption(jsonOption())
    .action((options: Options) =>
      act((wiring, io) => serve(options, wiring, io), { drains: true }),
    );
}

async function serve(options: Options, wiring: Wiring, io: Io): Promise<number> {
  const flags = flagsOf(options);
  const { dataDir } = wiring.config(flags);
  const server = await wiring.startServer(flags);
  if (options.json === true) {
    writeJson(io, {
      url: server.url,
      data_dir: dataDir,
      pid: process.pid,
      version: wiring.version,
    });
  } else {
    writeFields(io, [
      ['proofline', `${wiring.version} at ${server.url}`],
      ['data', plain(dataDir)],
      ['try', `curl ${server.url}/status`],
      ['stop', 'Ctrl-C'],
    ]);
  }
  return await stopOnInterrupt(server, io, options.json === true);
}

/** Waits for the interrupt, then for the end of the service. */
export async function stopOnInterrupt(
  server: RunningServer,
  io: Io,
  quiet: boolean,
): Promise<number> {
  await aborted(io.interrupt);
  if (!quiet) io.stderr.write('proofline: stopping\n');
  await server.stop();
  return EXIT.done;
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
