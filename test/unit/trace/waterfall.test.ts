import { describe, expect, it } from 'vitest';
import { timelineOf } from '../../../src/trace/timeline.ts';
import { drawWaterfall, type WaterfallOptions } from '../../../src/trace/waterfall.ts';
import { drawn } from './drawn.ts';

function draw(picture: string, options?: WaterfallOptions): string {
  return `\n${drawWaterfall(timelineOf('7f3a', drawn(picture)), options)}`;
}

const WHOLE = `
  JOB                        ├──────────────────────────────────────┤
  QUEUE                      ├───┤
  GPU p0 w0 @cpu-reference:0     ├──────────────────────────┤
  NTT p0 w0 @cpu-reference:0     ├───────────┤
  MSM_H p0 w0 @cpu-reference:0               ├──────────────┤
  FINISH p0 @cpu-reference:0                                ├┤
  VERIFY p0                                                  ├──────┤`;

describe('drawWaterfall', () => {
  it('draws a job in 80 columns', () => {
    expect(draw(WHOLE)).toMatchInlineSnapshot(`
      "
      job 7f3a  39.0 ms  cpu-reference:0
                  ms   share  0                                                   39.0
      QUEUE      4.0  10.3 %  █████▌
      GPU       27.0  69.2 %       ▐██████████████████████████████████████▌
        NTT     12.0  30.8 %       ▐█████████████████
        MSM_H   15.0  38.5 %                         █████████████████████▌
      FINISH     1.0   2.6 %                                              ▐█
      VERIFY     7.0  17.9 %                                                ██████████
      "
    `);
  });

  it('draws in ASCII, in any width', () => {
    expect(draw(WHOLE, { ascii: true, width: 60 })).toMatchInlineSnapshot(`
      "
      job 7f3a  39.0 ms  cpu-reference:0
                  ms   share  0                               39.0
      QUEUE      4.0  10.3 %  ####
      GPU       27.0  69.2 %     ##########################
        NTT     12.0  30.8 %     ############
        MSM_H   15.0  38.5 %                 ##############
      FINISH     1.0   2.6 %                              ##
      VERIFY     7.0  17.9 %                               #######
      "
    `);
  });

  it('shows what runs as open', () => {
    const picture = `
      JOB       ├───────────────────
      QUEUE     ├───┤
      GPU           ├─────────────
      NTT           ├───────────┤
      MSM_H                     ├───
      MSM_L                     ├───┤`;
    expect(draw(picture)).toMatchInlineSnapshot(`
      "
      job 7f3a  running, 20.0 ms so far
                  ms   share  0                                                   20.0
      QUEUE      4.0  20.0 %  ███████████
      GPU     ▶ 16.0  80.0 %             ████████████████████████████████████████████▶
        NTT     12.0  60.0 %             ██████████████████████████████████
        MSM_H ▶  4.0  20.0 %                                               ██████████▶
        MSM_L    4.0  20.0 %                                               ███████████
      "
    `);
    expect(draw(picture, { ascii: true })).toMatchInlineSnapshot(`
      "
      job 7f3a  running, 20.0 ms so far
                  ms   share  0                                                   20.0
      QUEUE      4.0  20.0 %  ###########
      GPU     > 16.0  80.0 %             ############################################>
        NTT     12.0  60.0 %             ##################################
        MSM_H >  4.0  20.0 %                                               ##########>
        MSM_L    4.0  20.0 %                                               ###########
      "
    `);
  });

  it('marks and names what failed and what was lost', () => {
    expect(
      draw(`
      JOB       ├───────────────────────────────┤ ERR_HOST_CRASHED
      QUEUE     ├───┤
      GPU           ├──────────────────────┤ ERR_HOST_CRASHED
      NTT           ├───────────┤
      MSM_H                     ├───`),
    ).toMatchInlineSnapshot(`
      "
      job 7f3a  32.0 ms  ✗ ERR_HOST_CRASHED
                  ms   share  0                                                   32.0
      QUEUE      4.0  12.5 %  ███████
      GPU     ✗ 23.0  71.9 %         ████████████████████████████████████████▌
        NTT     12.0  37.5 %         █████████████████████
        MSM_H ? 11.0  34.4 %                              ███████████████████▌
      ✗ GPU: ERR_HOST_CRASHED
      ? MSM_H: no end was reported
      "
    `);
  });

  it('names partitions, workers and devices only where there are several', () => {
    expect(
      draw(`
      JOB              ├───────────────────┤
      SYNTH p0         ├───┤
      SYNTH p1         ├────────┤
      GPU p0 w0 @cpu:0     ├────┤
      GPU p1 w1 @cpu:1          ├──────────┤
      NTT p1 w1 @cpu:1          ├────┤`),
    ).toMatchInlineSnapshot(`
      "
      job 7f3a  20.0 ms  cpu:0, cpu:1
                            ms   share  0                                         20.0
      SYNTH p0             4.0  20.0 %  █████████
      SYNTH p1             9.0  45.0 %  ████████████████████▌
      GPU p0 w0 cpu:0      5.0  25.0 %           ███████████▌
      GPU p1 w1 cpu:1     11.0  55.0 %                      ▐█████████████████████████
        NTT p1 w1 cpu:1    5.0  25.0 %                      ▐███████████
      "
    `);
  });

  it('keeps a sliver of stages too short to see', () => {
    const rows = draw('JOB ├──────┤\nQUEUE ┼\nVERIFY     ┼').split('\n');
    expect(rows.filter((row) => /[▌▐]$/.test(row))).toHaveLength(2);
  });

  it('says when there is nothing yet', () => {
    expect(drawWaterfall(timelineOf('7f3a', []))).toBe('job 7f3a  no stages yet\n');
    expect(draw('JOB ┼')).toBe('\njob 7f3a  0.0 ms\n');
  });

  it.each([40, 60, 80, 200])('keeps to %i columns', (width) => {
    for (const ascii of [true, false]) {
      const lines = draw(WHOLE, { width, ascii }).split('\n');
      expect(lines.filter((line) => line.length > width)).toEqual([]);
    }
  });

  it('writes only ASCII when asked to', () => {
    expect(draw(WHOLE, { ascii: true })).toMatch(/^[\n -~]*$/);
  });

  it('paints bars by lane', () => {
    const text = draw('JOB ├───┤\nGPU ├─┤', { paint: (lane, bar) => `<${lane}>${bar}` });
    expect(text).toContain('<device>█');
  });

  it('lets no control character through', () => {
    const timeline = timelineOf('a\u001b[2Jb\n', drawn('JOB ├───┤\nGPU ├─┤ ERR\u001b[0m'));
    expect(drawWaterfall(timeline)).not.toMatch(/(?!\n)\p{Cc}/u);
  });
});
