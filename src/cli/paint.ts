import type { Lane } from '../trace/stages.ts';
import type { Timeline } from '../trace/timeline.ts';
import { drawWaterfall } from '../trace/waterfall.ts';
import { columnsOf, type Io } from './io.ts';
import type { Wiring } from './wiring.ts';

type Colour = 'red' | 'green' | 'yellow' | 'cyan' | 'blue';
const SGR: Readonly<Record<Colour, number>> = {
  red: 31,
  green: 32,
  yellow: 33,
  blue: 34,
  cyan: 36,
};
const LANE_COLOURS: Readonly<Record<Lane, Colour>> = {
  service: 'yellow',
  host: 'cyan',
  device: 'green',
};

export type Painter = (colour: Colour, text: string) => string;

/** Colours on a terminal whose user has not refused them (https://no-color.org); else none. */
export function painterOf(io: Io, wiring: Wiring): Painter {
  if (io.stdout.isTTY !== true || wiring.config().noColor) return (_, text) => text;
  return (colour, text) => `\x1b[${SGR[colour]}m${text}\x1b[39m`;
}

export function waterfallText(
  timeline: Timeline,
  io: Io,
  wiring: Wiring,
  options: { readonly ascii?: boolean; readonly width?: number } = {},
): string {
  const painter = painterOf(io, wiring);
  return drawWaterfall(timeline, {
    width: options.width ?? columnsOf(io.stdout),
    ascii: options.ascii === true,
    paint: (lane, bar) => painter(LANE_COLOURS[lane], bar),
  });
}
