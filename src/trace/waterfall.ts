import type { Lane } from './stages.ts';
import type { Timeline, TimelineStage } from './timeline.ts';

export interface WaterfallOptions {
  /** Columns of the terminal. Default 80; below 40 is drawn as 40. */
  readonly width?: number;
  /** Only characters of ASCII. Default false. */
  readonly ascii?: boolean;
  /** Colours a bar. Default: leaves it as it is. */
  paint?(lane: Lane, bar: string): string;
}

const LABEL_COLUMNS_MAX = 28;
const BAR_COLUMNS_MIN = 8;

interface Glyphs {
  /** A column by its filled halves: neither, right, left, both. */
  readonly halves: readonly [string, string, string, string];
  readonly running: string;
  readonly failed: string;
  readonly cut: string;
}
const UNICODE: Glyphs = { halves: [' ', '▐', '▌', '█'], running: '▶', failed: '✗', cut: '…' };
const ASCII: Glyphs = { halves: [' ', '#', '#', '#'], running: '>', failed: '!', cut: '~' };

/**
 * Draws a job for a terminal: a title with its total, then a row for each stage inside it.
 *
 *     job 7f3a  12.0 ms  cpu-reference:0
 *                 ms   share  0                                              12.0
 *     QUEUE      1.0   8.3 %  ████
 *     GPU        9.0  75.0 %      ████████████████████████████████████
 *       NTT      3.0  25.0 %      ████████████
 *       MSM_H    6.0  50.0 %                  ████████████████████████
 *     VERIFY     2.0  16.7 %                                          ████████
 *
 * The column after the name marks what did not end well: failed, still running, or no end reported
 * (`?`).
 * @returns lines of at most `width` columns, each ended by a line feed; text from events holds no
 *   control characters
 */
export function drawWaterfall(timeline: Timeline, options: WaterfallOptions = {}): string {
  const width = Math.max(40, options.width ?? 80);
  const glyphs = options.ascii === true ? ASCII : UNICODE;
  const rows = timeline.stages.filter(({ stage }) => stage !== 'JOB');
  const labels = labelsOf(rows).map((label) => clip(label, LABEL_COLUMNS_MAX, glyphs));
  const millis = rows.map(({ ms }) => ms.toFixed(1));
  const shares = rows.map(({ share }) => `${(share * 100).toFixed(1)} %`);
  const labelColumns = widest(labels);
  const millisColumns = widest(['ms', ...millis]);
  const shareColumns = widest(['share', ...shares]);
  const barColumns = Math.max(
    BAR_COLUMNS_MIN,
    width - labelColumns - millisColumns - shareColumns - 7,
  );
  const line = (label: string, mark: string, ms: string, share: string) =>
    `${label.padEnd(labelColumns)} ${mark} ` +
    `${ms.padStart(millisColumns)}  ${share.padStart(shareColumns)}  `;

  const lines = [clip(titleOf(timeline, glyphs), width, glyphs)];
  if (rows.length > 0) {
    lines.push(line('', ' ', 'ms', 'share') + axis(timeline.total_ms, barColumns));
  }
  rows.forEach((stage, i) => {
    const bar = drawBar(stage, timeline.total_ms, barColumns, glyphs);
    const painted = options.paint === undefined ? bar : options.paint(stage.lane, bar);
    const text = line(labels[i] ?? '', markOf(stage, glyphs), millis[i] ?? '', shares[i] ?? '');
    lines.push((text + painted).trimEnd());
  });
  rows.forEach((stage, i) => {
    const note = noteOf(stage, labels[i]?.trim() ?? '', glyphs);
    if (note !== undefined) lines.push(clip(note, width, glyphs));
  });
  return lines.map((text) => `${text}\n`).join('');
}

function titleOf({ job_id, total_ms, running, stages }: Timeline, glyphs: Glyphs): string {
  const job = `job ${plain(job_id)}`;
  if (stages.length === 0) return `${job}  no stages yet`;
  const total = `${total_ms.toFixed(1)} ms`;
  const error = stages.find(({ stage }) => stage === 'JOB')?.error;
  const devices = new Set(stages.flatMap(({ device }) => (device === undefined ? [] : [device])));
  return [
    job,
    running ? `running, ${total} so far` : total,
    ...(error === undefined ? [] : [`${glyphs.failed} ${plain(error)}`]),
    ...(devices.size === 0 ? [] : [plain([...devices].join(', '))]),
  ].join('  ');
}

/** Partition, worker and device are named only where they tell rows apart. */
function labelsOf(rows: readonly TimelineStage[]): readonly string[] {
  const several = (key: 'partition' | 'worker' | 'device') =>
    new Set(rows.map((row) => row[key]).filter((value) => value !== undefined)).size > 1;
  const partitions = several('partition');
  const workers = several('worker');
  const devices = several('device');
  const top = rows.reduce((least, { depth }) => Math.min(least, depth), Infinity);
  return rows.map(({ stage, depth, partition, worker, device }) =>
    [
      '  '.repeat(depth - top) + plain(stage),
      ...(partitions && partition !== undefined ? [`p${partition}`] : []),
      ...(workers && worker !== undefined ? [`w${worker}`] : []),
      ...(devices && device !== undefined ? [plain(device)] : []),
    ].join(' '),
  );
}

function axis(totalMillis: number, columns: number): string {
  const end = totalMillis.toFixed(1);
  return `0${end.padStart(columns - 1)}`;
}

/** Two halves a column; edges are rounded alike, so that stages back to back meet without a gap. */
function drawBar(stage: TimelineStage, total: number, columns: number, glyphs: Glyphs): string {
  const halves = columns * 2;
  const at = (ms: number) =>
    total === 0 ? 0 : Math.min(halves, Math.max(0, Math.round((ms / total) * halves)));
  const start = Math.min(at(stage.start_ms), halves - 1);
  const end = Math.max(at(stage.start_ms + stage.ms), start + 1);
  const filled = (half: number) => half >= start && half < end;
  const cells = Array.from({ length: Math.ceil(end / 2) }, (_, column) => {
    const which = (filled(column * 2) ? 2 : 0) + (filled(column * 2 + 1) ? 1 : 0);
    return glyphs.halves[which] as string;
  });
  if (stage.end_ms === null) cells[cells.length - 1] = glyphs.running;
  return cells.join('');
}

function markOf(stage: TimelineStage, glyphs: Glyphs): string {
  if (stage.error !== undefined) return glyphs.failed;
  if (stage.unfinished === true) return '?';
  return stage.end_ms === null ? glyphs.running : ' ';
}

function noteOf(stage: TimelineStage, label: string, glyphs: Glyphs): string | undefined {
  if (stage.error !== undefined) return `${glyphs.failed} ${label}: ${plain(stage.error)}`;
  return stage.unfinished === true ? `? ${label}: no end was reported` : undefined;
}

function widest(texts: readonly string[]): number {
  return texts.reduce((columns, text) => Math.max(columns, text.length), 0);
}

function clip(text: string, columns: number, glyphs: Glyphs): string {
  return text.length <= columns ? text : text.slice(0, columns - 1) + glyphs.cut;
}

/** Text that came over the wire cannot steer the terminal. */
function plain(text: string): string {
  return text.replace(/\p{Cc}/gu, '?');
}
