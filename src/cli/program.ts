import { Command, CommanderError } from 'commander';
import { defineBench } from './bench.ts';
import { defineCircuit } from './circuit.ts';
import { defineConfig } from './config.ts';
import { defineDoctor } from './doctor.ts';
import { defineFfi } from './ffi.ts';
import { interruptible } from './interrupt.ts';
import { columnsOf, type Io } from './io.ts';
import { defineKeys } from './keys.ts';
import { document, documentEnvironment } from './manual.ts';
import { defineProve } from './prove.ts';
import { EXIT, reportError } from './report.ts';
import { defineServe } from './serve.ts';
import { defineSetup } from './setup.ts';
import { defineTimeline } from './timeline.ts';
import { defineToken } from './token.ts';
import { defineVerify } from './verify.ts';
import type { Wiring } from './wiring.ts';
import { defineWorker } from './worker.ts';

/** What a command does; answers the exit code. */
export type Work = (wiring: Wiring, io: Io) => Promise<number>;
/**
 * Runs a command's work. An interrupt ends it within a second, except where it `drains`: then the
 * work itself decides when it has let go.
 */
export type Act = (work: Work, options?: { readonly drains: true }) => Promise<void>;

/**
 * The `proofline` command.
 * @param argv arguments, without node and the script
 * @returns the exit code; never rejects
 */
export async function run(argv: readonly string[], wiring: Wiring, io: Io): Promise<number> {
  let code: number = EXIT.done;
  const act: Act = async (work, options) => {
    const running = work(configured(wiring, program.opts().config), io);
    code = await (options?.drains === true ? running : interruptible(io.interrupt, running));
  };
  const refused: string[] = [];
  const program = define(wiring.version, act, io, (text) => refused.push(text));
  try {
    await program.parseAsync([...argv], { from: 'user' });
    return code;
  } catch (thrown) {
    if (thrown instanceof CommanderError) {
      if (thrown.exitCode === 0) return EXIT.done;
      if (thrown.code === 'commander.help') {
        io.stderr.write(refused.join(''));
        return EXIT.usage;
      }
    }
    return reportError(thrown, io, argv);
  }
}

/** The wiring with settings from that file. */
function configured(wiring: Wiring, config: string | undefined): Wiring {
  if (config === undefined) return wiring;
  return {
    ...wiring,
    config: (flags) => wiring.config({ ...flags, config }),
    showConfig: (flags) => wiring.showConfig({ ...flags, config }),
    openEngine: (flags) => wiring.openEngine({ ...flags, config }),
    startServer: (flags) => wiring.startServer({ ...flags, config }),
    tokens: (flags) => wiring.tokens({ ...flags, config }),
  };
}

function define(version: string, act: Act, io: Io, refuse: (text: string) => void): Command {
  const program = document(new Command('proofline'), {
    summary: '',
    about: `
      Groth16 proofs for circom circuits, made and verified on this machine or by a running
      service, with a waterfall that says where the time went.`,
    examples: [
      ['proofline doctor', 'what works here'],
      ['proofline setup --r1cs circuit.r1cs --out circuit.zkey', 'a key for development'],
      ['proofline prove --key circuit.zkey --witness witness.wtns', 'a verified proof'],
      ['proofline serve', 'the service'],
    ],
    exits: [
      ['0', 'done'],
      ['1', 'the proof is invalid (`verify`)'],
      ['2', 'wrong usage or bad input'],
      ['3', 'failed'],
      ['130', 'interrupted (143 by SIGTERM)'],
    ],
  })
    .version(version, '-V, --version', 'print the version')
    .option('--config <file>', 'settings, JSON; for every command ("config --help" says more)')
    .helpOption('-h, --help', 'print this help')
    .helpCommand('help [command]', 'print the help of a command')
    .exitOverride()
    .configureOutput({
      writeOut: (text) => io.stdout.write(text),
      writeErr: refuse,
      getOutHelpWidth: () => columnsOf(io.stdout),
      getErrHelpWidth: () => columnsOf(io.stderr),
      getOutHasColors: () => false,
      getErrHasColors: () => false,
    });
  documentEnvironment(program);
  defineServe(program, act);
  defineWorker(program, act);
  defineProve(program, act);
  defineVerify(program, act);
  defineSetup(program, act);
  defineTimeline(program, act);
  defineKeys(program, act);
  defineToken(program, act);
  defineConfig(program, act);
  defineBench(program, act);
  defineCircuit(program, act);
  defineFfi(program, act);
  defineDoctor(program, act);
  return program;
}
