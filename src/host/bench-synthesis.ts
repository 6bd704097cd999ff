import { createHash } from 'node:crypto';
import { cpus } from 'node:os';
import { settled } from '../../backends/common/napi/native-call.ts';
import { loadAddon } from '../../backends/cpu/addon.ts';
import { nativePoseidon } from '../../backends/cpu/poseidon.ts';
import { programOf } from '../circuits/filecoin/circuits.ts';
import { sectorConfig } from '../circuits/filecoin/sector-size.ts';
import { ProverError } from '../core/errors.ts';
import { type ByteSource, openFile } from '../core/source.ts';
import { readJson } from '../formats/snarkjs-json.ts';
import { parseStatement } from '../formats/statement.ts';
import { readPrivateInputs } from '../formats/vanilla-inputs.ts';
import { Pacer } from '../math/pacer.ts';
import { readProgram } from '../r1cs/program.ts';
import { AnonymousMemory } from './anonymous-memory.ts';
import { median } from './median.ts';
import type { BenchSynthesisParams, BenchSynthesisResult, FilecoinCircuit } from './protocol.ts';
import type { Call } from './server.ts';

const INPUT_BYTES = 32;

/** A circuit's program and private inputs, and how long it took to have them. */
interface Prepared {
  readonly circuit: FilecoinCircuit;
  readonly program: Uint8Array;
  readonly privateInputs: Uint8Array;
  readonly layoutSeconds: number;
  readonly vanillaSeconds: number;
}

/**
 * Times native synthesis of a partition: program and private inputs in memory, the values in their
 * final form. @throws ERR_BACKEND_UNAVAILABLE, ERR_FORMAT
 */
export async function benchSynthesis(
  params: BenchSynthesisParams,
  call: Call,
): Promise<BenchSynthesisResult> {
  const { threads, runs, expanded } = params;
  const loaded = loadAddon();
  if (!('addon' in loaded)) {
    throw new ProverError('ERR_BACKEND_UNAVAILABLE', { backend: 'cpu', reason: loaded.reason });
  }
  const { addon } = loaded;
  const wholeMemory = new AnonymousMemory();
  const { circuit, program, privateInputs, ...prepared } = await prepare(params, call);
  const memory = new AnonymousMemory();
  const pool = addon.openPool(threads);
  const turns: { readonly total: number; readonly parts: Readonly<Record<string, number>> }[] = [];
  for (let i = 0; i < runs; i++) {
    const start = performance.now();
    const parts = await settled({ signal: call.signal, stage() {} }, (listener) =>
      addon.benchSynthesis(pool, program, privateInputs, expanded, listener),
    );
    turns.push({ total: (performance.now() - start) / 1000, parts: { ...parts } });
    call.progress((i + 1) / runs);
  }
  addon.release(pool);
  const seconds = median(turns.map(({ total }) => total));
  return {
    ...{ circuit, expanded, threads, runs, seconds, ...prepared },
    constraints: readProgram(program).root.rows,
    cpu: cpus()[0]?.model ?? 'unknown',
    wholeSeconds: prepared.layoutSeconds + prepared.vanillaSeconds + seconds,
    parts: turns.find(({ total }) => total >= seconds)?.parts ?? {},
    peakBytes: memory.stop(),
    wholePeakBytes: wholeMemory.stop(),
  };
}

async function prepare({ of }: BenchSynthesisParams, call: Call): Promise<Prepared> {
  if (!('statementPath' in of)) {
    const { program, layoutSeconds } = layOut(of);
    const privateInputs = madeUpInputs(readProgram(program).root.hints);
    return { circuit: of, program, privateInputs, layoutSeconds, vanillaSeconds: 0 };
  }
  const start = performance.now();
  await using source = await openFile(of.statementPath);
  const statement = parseStatement(await readJson(source));
  const files: ByteSource[] = [];
  try {
    for (const path of of.vanillaPaths) files.push(await openFile(path));
    const pacer = new Pacer(call.signal);
    const options = { poseidon: nativePoseidon() };
    const privateInputs = await readPrivateInputs(statement, files, of.partition, pacer, options);
    const vanillaSeconds = (performance.now() - start) / 1000;
    const circuit = { kind: statement.kind, sectorSize: statement.proof.sectorSize };
    return { circuit, privateInputs, vanillaSeconds, ...layOut(circuit) };
  } finally {
    for (const file of files) await file[Symbol.asyncDispose]();
  }
}

function layOut({ kind, sectorSize }: FilecoinCircuit) {
  const start = performance.now();
  const program = programOf(kind, sectorConfig(sectorSize));
  return { program, layoutSeconds: (performance.now() - start) / 1000 };
}

/** Numbers that prove nothing, but take as long as others. */
function madeUpInputs(count: number): Uint8Array {
  const inputs = new Uint8Array(count * INPUT_BYTES);
  for (let i = 0; i < count; i++) {
    const digest = createHash('sha256').update(`proofline bench ${i}`).digest();
    digest[INPUT_BYTES - 1] = (digest[INPUT_BYTES - 1] as number) & 0x3f;
    inputs.set(digest, i * INPUT_BYTES);
  }
  return inputs;
}
