import { type Command, InvalidArgumentError } from 'commander';
import { type Io, writeJson } from './io.ts';
import { document } from './manual.ts';
import { jsonOption } from './options.ts';
import { waterfallText } from './paint.ts';
import type { Act } from './program.ts';
import { EXIT } from './report.ts';
import type { Wiring } from './wiring.ts';

const WIDTH_MIN = 40;
const WIDTH_MAX = 1_000;

interface Options {
  readonly server?: string;
  readonly width?: number;
  readonly ascii?: true;
  readonly json?: true;
}

export function defineTimeline(program: Command, act: Act): void {
  document(program.command('timeline'), {
    summary: 'draw where the time of a job went',
    about: `
      Draws the stages of a job of a running service as a waterfall: when each began, how long
      it took and its share of the whole. Stages that still run are drawn open.`,
    examples: [
      ['proofline timeline 7f3a0c52 --server http://127.0.0.1:9830', 'of a service elsewhere'],
      ['proofline timeline 7f3a0c52 --json', 'the stages as data'],
    ],
  })
    .argument('<job>', 'id of the job')
    .option('--server <url>', 'running service (default: PROOFLINE_LISTEN on this machine)')
    .option('--width <columns>', 'columns to draw in (default: those of the terminal)', widthOf)
    .option('--ascii', 'draw with characters of ASCII only')
    .addOption(jsonOption())
    .action((job: string, options: Options) =>
      act((wiring, io) => timeline(job, options, wiring, io)),
    );
}

async function timeline(job: string, options: Options, wiring: Wiring, io: Io): Promise<number> {
  const url = options.server ?? `http://${wiring.config().listen}`;
  await using server = await wiring.connectServer(url);
  const found = await server.timeline(job);
  if (options.json === true) writeJson(io, found);
  else io.stdout.write(waterfallText(found, io, wiring, options));
  return EXIT.done;
}

function widthOf(text: string): number {
  const width = Number(text);
  if (Number.isInteger(width) && width >= WIDTH_MIN && width <= WIDTH_MAX) return width;
  throw new InvalidArgumentError(`Expected a whole number from ${WIDTH_MIN} to ${WIDTH_MAX}.`);
}
