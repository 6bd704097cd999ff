import { cpus } from 'node:os';
import type { Listener } from '../../backends/common/napi/native.ts';
import { settled } from '../../backends/common/napi/native-call.ts';
import { type CpuAddon, loadAddon } from '../../backends/cpu/addon.ts';
import type { Run } from '../backend/backend.ts';
import { ProverError } from '../core/errors.ts';
import { openBlst } from './blst-peer.ts';
import { median } from './median.ts';
import type { BenchPartsParams, BenchPartsResult } from './protocol.ts';
import type { Call } from './server.ts';

/**
 * Times the native MSM or NTT on random values, each result checked first; blst's MSM turn by turn
 * where that is asked for. @throws ERR_BACKEND_UNAVAILABLE
 */
export async function benchParts(params: BenchPartsParams, call: Call): Promise<BenchPartsResult> {
  const { what, curve, group = 'G1', logN, threads, runs, against, instructionSet } = params;
  const addon = nativeAddon();
  if (instructionSet !== undefined) addon.limitInstructionSet(instructionSet);
  if (against !== undefined && (what !== 'msm' || curve !== 'bls12-381' || group !== 'G1')) {
    const expected = 'an MSM in G1 of bls12-381';
    const actual = `${what} in ${group} of ${curve}`;
    throw new ProverError('ERR_PARAMS', { subject: 'against blst', expected, actual });
  }
  const pool = addon.openPool(threads);
  const run: Run = { signal: call.signal, stage() {} };
  const once = async (): Promise<number> => {
    const [seconds] = await settled(run, (listener: Listener) =>
      what === 'msm'
        ? addon.benchMsm(pool, curve, group, logN, 1, listener)
        : addon.benchNtt(pool, curve, logN, 1, listener),
    );
    return seconds as number;
  };
  await using peer = against === undefined ? undefined : await openBlst(logN, threads);
  const [ours, theirs]: [number[], number[]] = [[], []];
  for (let i = 0; i < runs; i++) {
    ours.push(await once());
    if (peer !== undefined) theirs.push(await peer.run());
    call.progress((i + 1) / runs);
  }
  return {
    what,
    curve,
    ...(what === 'msm' && { group }),
    logN,
    instructionSet: addon.instructionSet(),
    threads,
    cpu: cpus()[0]?.model ?? 'unknown',
    runs,
    seconds: median(ours),
    ...(peer && {
      peer: 'blst',
      peerSeconds: median(theirs),
      ratio: median(theirs) / median(ours),
    }),
  };
}

function nativeAddon(): CpuAddon {
  const loaded = loadAddon();
  if ('addon' in loaded) return loaded.addon;
  throw new ProverError('ERR_BACKEND_UNAVAILABLE', { backend: 'cpu', reason: loaded.reason });
}
