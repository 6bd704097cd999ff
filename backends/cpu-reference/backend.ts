import { cpus, totalmem } from 'node:os';
import {
  BACKEND_API_VERSION,
  type BackendStage,
  type Computed,
  type Device,
  type DeviceInfo,
  type Estimate,
  type LoadedKey,
  type LoadOptions,
  type PartitionInput,
  type ProverBackend,
  type Run,
  type Staged,
} from '../../src/backend/backend.ts';
import { assert } from '../../src/core/assert.ts';
import { ProverError } from '../../src/core/errors.ts';
import { nowMicros } from '../../src/core/units.ts';
import type { Blinding, Proof, ProvingKeySource } from '../../src/groth16/types.ts';
import { curveOf } from '../../src/math/curve.ts';
import { Pacer } from '../../src/math/pacer.ts';
import {
  type Assignment,
  assign,
  type Evaluations,
  evaluateRows,
  readWitness,
} from './assignment.ts';
import { type ReferenceKey, readKey } from './key.ts';
import { assemble, multiply, type Sums } from './prove.ts';
import { quotient } from './quotient.ts';
import { synthesize } from './synthesis.ts';

const DEVICE_ID = '0';

/** Groth16 in pure TypeScript, the oracle of the fast backends. Its device is the process. */
export const cpuReference: ProverBackend = {
  apiVersion: BACKEND_API_VERSION,
  name: 'cpu-reference',
  async probe() {
    return { available: true, version: `node ${process.version}`, devices: [deviceInfo()] };
  },
  async open(device) {
    if (device !== DEVICE_ID) {
      throw new ProverError('ERR_PARAMS', { subject: 'device', expected: '0', actual: device });
    }
    return referenceDevice;
  },
};

function deviceInfo(): DeviceInfo {
  const name = cpus()[0]?.model ?? process.arch;
  return { id: DEVICE_ID, name, memoryBytes: totalmem() };
}

const referenceDevice: Device = {
  info: deviceInfo(),
  estimate,
  async load(source: ProvingKeySource, { checkPoints }: LoadOptions, run: Run) {
    const pacer = new Pacer(run.signal);
    await pacer.pause();
    const progress = (share: number): void => run.progress?.(share);
    return new ReferenceLoadedKey(await readKey(source, checkPoints, pacer, progress));
  },
  async [Symbol.asyncDispose]() {},
};

interface StagedContent {
  readonly assignment: Assignment;
  readonly evaluations: Evaluations;
}

interface ComputedContent {
  readonly sums: Sums;
  readonly blinding: Blinding;
}

class ReferenceLoadedKey implements LoadedKey {
  #key: ReferenceKey | undefined;

  constructor(key: ReferenceKey) {
    this.#key = key;
  }

  async stage(given: PartitionInput, run: Run): Promise<Staged> {
    const key = this.#loaded();
    const input =
      given.kind === 'program'
        ? await timed(run, 'SYNTH', (pacer) => synthesize(key.source, given, pacer))
        : given;
    const witness = await readWitness(key, input.witness, new Pacer(run.signal));
    const evaluations = await timed(run, 'EVALUATE', (pacer) =>
      evaluateRows(key, input, witness, pacer),
    );
    return new Handle<StagedContent>({ assignment: assign(key, input, witness), evaluations });
  }

  async compute(staged: Staged, blinding: Blinding, run: Run): Promise<Computed> {
    const key = this.#loaded();
    const { assignment, evaluations } = take<StagedContent>(staged);
    const { curve, hBasis } = key.source;
    const { a, b } = evaluations;
    const h = await timed(run, 'NTT', (pacer) => quotient(curveOf(curve), hBasis, a, b, pacer));
    const sums = await multiply(key, h, assignment, {
      timed: (stage, work) => timed(run, stage, work),
      progress: (share) => run.progress?.(share),
    });
    return new Handle<ComputedContent>({ sums, blinding });
  }

  async finish(computed: Computed, run: Run): Promise<Proof> {
    const { sums, blinding } = take<ComputedContent>(computed);
    await new Pacer(run.signal).pause();
    return assemble(this.#loaded(), sums, blinding);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#key = undefined;
  }

  #loaded(): ReferenceKey {
    assert(this.#key !== undefined, 'cpu-reference: expected a loaded key, got a disposed one');
    return this.#key;
  }
}

/** What is opaque between two calls. Taken once; gone when disposed. */
class Handle<T> implements Staged, Computed {
  readonly __staged = true;
  readonly __computed = true;
  #content: T | undefined;

  constructor(content: T) {
    this.#content = content;
  }

  take(): T {
    const content = this.#content;
    assert(content !== undefined, 'cpu-reference: expected a handle in use, got a consumed one');
    this.#content = undefined;
    return content;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#content = undefined;
  }
}

function take<T>(handle: Staged | Computed): T {
  assert(handle instanceof Handle, 'cpu-reference: expected a handle of its own');
  return (handle as Handle<T>).take();
}

/** Runs a stage and reports its time, also when it fails. An abort before it is seen at once. */
async function timed<T>(
  run: Run,
  stage: BackendStage,
  work: (pacer: Pacer) => Promise<T>,
): Promise<T> {
  const pacer = new Pacer(run.signal);
  const start = nowMicros();
  try {
    await pacer.pause();
    return await work(pacer);
  } finally {
    run.stage(stage, start, nowMicros());
  }
}

/** Heap bytes on Node 20, rounded up: an object and its big integers. */
const HEAP_BYTES = { g1: 320, g2: 640, coefficient: 128, scalar: 64 } as const;

function estimate(key: ProvingKeySource, batch: number): Estimate {
  const keyBytes =
    (key.h.count + key.l.count + key.a.count + key.bG1.count) * HEAP_BYTES.g1 +
    key.bG2.count * HEAP_BYTES.g2 +
    (key.rows?.count ?? 0) * HEAP_BYTES.coefficient;
  // By wire: all, and those with a point. By row: a, b, c, a·b, a·b - c and roots of unity.
  const scalars = 2 * (key.inputCount + key.auxCount) + 6 * 2 ** key.logN;
  return {
    deviceBytes: 0,
    pinnedBytes: 0,
    hostBytes: keyBytes + batch * scalars * HEAP_BYTES.scalar,
  };
}
