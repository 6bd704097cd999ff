import { readFileSync } from 'node:fs';
import { mkdir, readFile, rename, stat, writeFile } from 'node:fs/promises';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadAddon } from '../../backends/cpu/addon.ts';
import { nativeMultiples } from '../../backends/cpu/multiples.ts';
import type { Device, LoadedKey, PartitionInput, Run } from '../backend/backend.ts';
import type { BackendRegistry } from '../backend/registry.ts';
import { writeBigIntLE } from '../core/bytes.ts';
import { formatError, ProverError } from '../core/errors.ts';
import { fromBytes, openFile } from '../core/source.ts';
import { openKey } from '../formats/key-file.ts';
import { readR1cs } from '../formats/r1cs.ts';
import { readWtns, writeWtns } from '../formats/wtns.ts';
import { writeZkey } from '../formats/zkey.ts';
import { drawBlinding } from '../groth16/blinding.ts';
import { setup } from '../groth16/setup.ts';
import { toxicWasteFromSeed } from '../groth16/toxic-waste.ts';
import { verify } from '../groth16/verify.ts';
import { type CurveName, curveOf, type FrCanonicalLE } from '../math/curve.ts';
import type { ConstraintSystemSource } from '../r1cs/constraint-system.ts';
import { AnonymousMemory } from './anonymous-memory.ts';
import { median } from './median.ts';
import type { BenchProveParams, BenchProveResult } from './protocol.ts';
import type { Call } from './server.ts';

const SEED = 'proofline bench';

/**
 * Times `stage`, `compute` and `finish` of a proof, and snarkjs's prover in the same process and
 * turn by turn where that is asked for: key loaded, files cached, witness in memory, verification
 * excluded. The first proof is verified before anything is timed.
 */
export async function benchProve(
  params: BenchProveParams,
  backends: BackendRegistry,
  call: Call,
): Promise<BenchProveResult> {
  const { backend, threads, runs, against, instructionSet } = params;
  if (instructionSet !== undefined) limitInstructionSet(instructionSet);
  const files = await prepare(params, call);
  const witness = await readFile(files.witness);
  await using device = await backends.open(backend, '0', { threads });
  await using prover = await BenchProver.open(device, files.key, witness, call.signal);
  const memory = new AnonymousMemory();
  await prover.proveVerified();
  const peakBytes = memory.stop();
  const peer = against === 'snarkjs' ? await openSnarkjs(files.key, witness) : undefined;
  const peerMemory = new AnonymousMemory();
  const [ours, theirs]: [number[], number[]] = [[], []];
  for (let run = 0; run < runs; run++) {
    ours.push(await seconds(() => prover.prove()));
    if (peer !== undefined) theirs.push(await seconds(peer));
    call.progress((run + 1) / runs);
  }
  const peerPeakBytes = peerMemory.stop();
  return {
    curve: prover.curve,
    constraints: files.constraints,
    logN: prover.logN,
    backend,
    instructionSet: backend === 'cpu' ? nativeInstructionSet() : undefined,
    threads,
    cpu: cpus()[0]?.model ?? 'unknown',
    runs,
    seconds: median(ours),
    peakBytes,
    stages: prover.stageMillis,
    ...(peer !== undefined && {
      peer: 'snarkjs',
      peerSeconds: median(theirs),
      ratio: median(theirs) / median(ours),
      peerPeakBytes,
    }),
  };
}

interface BenchFiles {
  readonly key: string;
  readonly witness: string;
  readonly constraints: number;
}

/** The key and the witness, made once and kept in the folder for temporary files. */
async function prepare(params: BenchProveParams, call: Call): Promise<BenchFiles> {
  const folder = join(tmpdir(), 'proofline-bench');
  await mkdir(folder, { recursive: true });
  const { circuit } = params;
  if (circuit.kind === 'chain') {
    const { curve, constraints } = circuit;
    const base = join(folder, `chain-${curve}-${constraints}`);
    const witness = `${base}.wtns`;
    await makeOnce(witness, async (path) => {
      const bytes = [chainWitness(curve, constraints)];
      await writeFile(path, writeWtns(curve, { count: constraints + 2, bytes }));
    });
    const key = `${base}.zkey`;
    await makeOnce(key, (path) => writeKey(path, chain(curve, constraints), params, call));
    return { key, witness, constraints };
  }
  await using source = await openFile(circuit.r1csPath);
  const system = await readR1cs(source);
  const { size, mtimeMs } = await stat(circuit.r1csPath);
  const key = join(folder, `r1cs-${size}-${Math.round(mtimeMs)}.zkey`);
  await makeOnce(key, (path) => writeKey(path, system, params, call));
  return { key, witness: circuit.witnessPath, constraints: system.constraintCount };
}

async function makeOnce(path: string, make: (path: string) => Promise<void>): Promise<void> {
  if ((await stat(path).catch(() => undefined)) !== undefined) return;
  const partial = `${path}.${process.pid}`;
  await make(partial);
  await rename(partial, path);
}

async function writeKey(
  path: string,
  system: ConstraintSystemSource,
  { threads }: BenchProveParams,
  { signal }: Call,
): Promise<void> {
  const multiplesOf = nativeMultiples(threads);
  const content = await setup(system, {
    format: 'zkey',
    waste: toxicWasteFromSeed(system.curve, SEED),
    signal,
    ...(multiplesOf && { multiplesOf }),
  });
  const { rows } = content;
  if (rows === undefined) throw formatError('bench key', 'rows', 'none');
  await writeFile(path, writeZkey({ ...content, rows }));
}

/** x_{i+1} = x_i^2 + (i + 7), the last one public: full-size values throughout. */
function chain(curve: CurveName, length: number): ConstraintSystemSource {
  const { r } = curveOf(curve);
  const wireOf = (i: number) => (i === length ? 1 : i + 2);
  return {
    curve,
    inputCount: 2,
    auxCount: length,
    constraintCount: length,
    async *constraints() {
      for (let i = 0; i < length; i++) {
        const from = [{ wire: wireOf(i), coefficient: 1n }];
        const constant = { wire: 0, coefficient: r - BigInt(i + 7) };
        yield { a: from, b: from, c: [constant, { wire: wireOf(i + 1), coefficient: 1n }] };
      }
    },
  };
}

function chainWitness(curve: CurveName, length: number): Uint8Array {
  const { r } = curveOf(curve);
  const bytes = new Uint8Array(32 * (length + 2));
  bytes[0] = 1;
  let value = 3n;
  for (let i = 0; i <= length; i++) {
    const wire = i === length ? 1 : i + 2;
    bytes.set(writeBigIntLE(value, 32), 32 * wire);
    value = (value * value + BigInt(i + 7)) % r;
  }
  return bytes;
}

class BenchProver implements AsyncDisposable {
  readonly curve: CurveName;
  readonly logN: number;
  /** Of the last proof. */
  stageMillis: Record<string, number> = {};
  readonly #key: Awaited<ReturnType<typeof openKey>>['key'];
  readonly #loaded: LoadedKey;
  readonly #input: PartitionInput;
  readonly #inputs: readonly FrCanonicalLE[];
  readonly #run: Run;

  private constructor(
    key: Awaited<ReturnType<typeof openKey>>['key'],
    loaded: LoadedKey,
    values: Uint8Array,
    signal: AbortSignal,
  ) {
    this.curve = key.curve;
    this.logN = key.logN;
    this.#key = key;
    this.#loaded = loaded;
    this.#input = { kind: 'witness', witness: { n: values.length / 32, bytes: values } };
    this.#inputs = Array.from(
      { length: key.inputCount - 1 },
      (_, i) => values.subarray(32 * (i + 1), 32 * (i + 2)) as FrCanonicalLE,
    );
    this.#run = {
      signal,
      stage: (name, start, end) => {
        this.stageMillis[name] = (end - start) / 1000;
      },
    };
  }

  static async open(device: Device, keyPath: string, witness: Uint8Array, signal: AbortSignal) {
    const { key } = await openKey(keyPath);
    const { offset, count } = await readWtns(fromBytes('witness', witness));
    const quiet: Run = { signal, stage() {} };
    const options = { residency: 'device', checkPoints: false } as const;
    const loaded = await device.load(key, options, quiet);
    const values = witness.subarray(offset, offset + 32 * count);
    return new BenchProver(key, loaded, values, signal);
  }

  async prove() {
    const blinding = drawBlinding(this.curve);
    const staged = await this.#loaded.stage(this.#input, this.#run);
    const computed = await this.#loaded.compute(staged, blinding, this.#run);
    return this.#loaded.finish(computed, this.#run);
  }

  /** @throws ERR_BACKEND_FAULT for a proof that does not verify */
  async proveVerified(): Promise<void> {
    const verdict = await verify(this.#key.verifyingKey, this.#inputs, await this.prove());
    if (verdict.valid) return;
    throw new ProverError('ERR_BACKEND_FAULT', { backend: 'bench', detail: verdict.reason });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#loaded[Symbol.asyncDispose]();
  }
}

/** snarkjs is a development dependency: it is there in a checkout, not in an installed package. */
async function openSnarkjs(keyPath: string, witness: Uint8Array): Promise<() => Promise<void>> {
  const name = 'snarkjs';
  const snarkjs = (await import(name).catch((cause) => {
    const reason = 'npm install snarkjs makes it available';
    throw new ProverError('ERR_BACKEND_UNAVAILABLE', { backend: name, reason }, cause);
  })) as {
    groth16: { prove(key: object, witness: object): Promise<unknown> };
  };
  const key = { type: 'mem', data: new Uint8Array(readFileSync(keyPath)) };
  return async () => {
    await snarkjs.groth16.prove(key, { type: 'mem', data: new Uint8Array(witness) });
  };
}

function nativeInstructionSet(): string | undefined {
  const loaded = loadAddon();
  return 'addon' in loaded ? loaded.addon.instructionSet() : undefined;
}

function limitInstructionSet(limit: 'portable' | 'adx' | 'ifma'): void {
  const loaded = loadAddon();
  if ('addon' in loaded) loaded.addon.limitInstructionSet(limit);
}

async function seconds(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work();
  return (performance.now() - start) / 1000;
}
