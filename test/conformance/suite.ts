import { writeFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { cpuReference } from '../../backends/cpu-reference/backend.ts';
import type {
  AssignedInput,
  BackendStage,
  Device,
  PartitionInput,
  ProverBackend,
  Run,
  ScalarVector,
} from '../../src/backend/backend.ts';
import { toHex, writeBigIntLE } from '../../src/core/bytes.ts';
import { toxicWasteFromSeed } from '../../src/groth16/toxic-waste.ts';
import type { Blinding, Proof, ProvingKeySource } from '../../src/groth16/types.ts';
import { verify } from '../../src/groth16/verify.ts';
import { type CurveName, curveOf, type FrCanonicalLE } from '../../src/math/curve.ts';
import { g1Of, g2Of, pointToForm } from '../../src/math/points.ts';
import { expectedProof } from '../support/dlog.ts';
import { evaluated } from '../support/evaluated.ts';
import { developmentKey, type QueryName, temporaryPath, withPoint } from '../support/key-files.ts';
import { pointOutside } from '../support/points.ts';
import { openFirst, prove, quietRun } from '../support/prove.ts';
import { scalars } from '../support/scalars.ts';
import { chain, type Example, publicInputsOf, scalarBytes } from '../support/system.ts';
import { programExample } from './program-case.ts';

/** The kinds of keys that exist: bellman parameters are of BLS12-381 only. */
const KINDS = [
  { curve: 'bn254', format: 'zkey', basis: 'odd-lagrange' },
  { curve: 'bls12-381', format: 'zkey', basis: 'odd-lagrange' },
  { curve: 'bls12-381', format: 'bellman', basis: 'monomial' },
] as const;
type Kind = (typeof KINDS)[number];

/** Rows up to which a proof is also computed by cpu-reference, which takes a second for them. */
const REFERENCE_ROWS_MAX = 256;
const ABORT_MILLIS_MAX = 1000;

export interface ConformanceCase {
  readonly name: string;
  run(backend: ProverBackend): Promise<void>;
}

export interface ConformanceOptions {
  make(): ProverBackend | Promise<ProverBackend>;
  /** Numbers of constraints to prove. */
  readonly sizes: readonly number[];
  /** A number of constraints that keeps the backend busy for more than a moment, to abort it. */
  readonly abortSize: number;
  /** Cases whose name contains `test` are skipped, and the reason is printed. */
  readonly skip?: readonly { readonly test: string; readonly reason: string }[];
}

/** What every backend must do: the one suite, registered as tests of the calling file. */
export function backendConformance(options: ConformanceOptions): void {
  const { make, skip = [] } = options;
  const cases = conformanceCases(options);
  for (const { name, run } of cases) {
    const reason = skip.find(({ test }) => name.includes(test))?.reason;
    it(name, async (context) => {
      if (reason !== undefined) context.skip(reason);
      await run(await make());
    });
  }
  it('skips nothing that does not exist', () => {
    const stale = skip.filter(({ test }) => !cases.some(({ name }) => name.includes(test)));
    expect(stale).toEqual([]);
  });
}

export function conformanceCases({
  sizes,
  abortSize,
}: Pick<ConformanceOptions, 'sizes' | 'abortSize'>): readonly ConformanceCase[] {
  return KINDS.flatMap((kind) => [
    ...proofCases(kind, sizes),
    ...contractCases(kind, abortSize),
  ]).map(({ name, kind, run }) => ({ name: `${kind.curve} ${kind.format}: ${name}`, run }));
}

type KindCase = ConformanceCase & { readonly kind: Kind };

/** Right proofs of systems at the borders of what there can be. */
function proofCases(kind: Kind, sizes: readonly number[]): KindCase[] {
  const { curve } = kind;
  const of = (name: string, example: () => Example, blinding?: () => Blinding): KindCase => ({
    ...{ name, kind },
    run: (backend) => checkProof(backend, kind, example(), blinding?.()),
  });
  const systems: Record<string, Parameters<typeof chain>[0]> = {
    'no public inputs': { curve, constraints: 5, publicInputs: 0, first: 3n },
    'no auxiliary variables': { curve, constraints: 1, publicInputs: 2, first: 3n },
    'every wire 0': { curve, constraints: 6, publicInputs: 1, first: 0n },
    'every wire 1': { curve, constraints: 6, publicInputs: 1, first: 1n },
    // Of l, a and b; bellman's generator refuses such circuits.
    ...(kind.format === 'zkey' && {
      'points at infinity': { curve, constraints: 6, publicInputs: 1, first: 3n, unused: 2 },
    }),
  };
  return [
    ...sizes.map((n) => of(`${n} constraints`, () => exampleOf(curve, n))),
    ...Object.entries(systems).map(([name, options]) => of(name, () => chain(options))),
    of(
      'blinding of 0 and r - 1',
      () => exampleOf(curve, 6),
      () => blindingOf(0n, curveOf(curve).r - 1n),
    ),
  ];
}

function contractCases(kind: Kind, abortSize: number): KindCase[] {
  const cases: Record<string, ConformanceCase['run']> = {
    'values from a file': (backend) => checkFiles(backend, kind),
    'two partitions at a time': (backend) => checkOverlap(backend, kind),
    'stages and progress': (backend) => checkReports(backend, kind),
    estimate: (backend) => checkEstimate(backend, kind),
    abort: (backend) => checkAbort(backend, kind, abortSize),
    'unsatisfied witness': (backend) => checkUnsatisfied(backend, kind),
    'malformed partitions': (backend) => checkMalformed(backend, kind),
    'points off the curve and outside the group': (backend) => checkBadPoints(backend, kind),
    // Programs are of BLS12-381 only.
    ...(kind.curve === 'bls12-381' && {
      'program and private inputs': (backend: ProverBackend) => checkProgram(backend, kind),
    }),
  };
  return Object.entries(cases).map(([name, run]) => ({ name, kind, run }));
}

const exampleOf = (curve: CurveName, constraints: number): Example =>
  chain({ curve, constraints, publicInputs: 2, first: 3n });

const wasteOf = (curve: CurveName) => toxicWasteFromSeed(curve, 'conformance');

function blindingOf(r: bigint, s: bigint): Blinding {
  return { r: writeBigIntLE(r, 32) as FrCanonicalLE, s: writeBigIntLE(s, 32) as FrCanonicalLE };
}

/** Full-size: with r = s = 0 and all wires 0, C would be infinity, which no verifier needs to accept. */
function anyBlinding(curve: CurveName): Blinding {
  const [r, s] = scalars(curve, 64).filter((value) => value > 2n ** 64n);
  return blindingOf(r as bigint, s as bigint);
}

const keyOf = ({ curve, format }: Kind, { system }: Example): Promise<ProvingKeySource> =>
  developmentKey(system, format, wasteOf(curve));

/** The partition as this kind of key wants it. */
async function inputOf({ format }: Kind, example: Example): Promise<AssignedInput> {
  if (format === 'bellman') return evaluated(example);
  const { values } = example;
  return { kind: 'witness', witness: { n: values.length, bytes: scalarBytes(values) } };
}

function hexOf({ a, b, c }: Proof): string {
  return [a, b, c].map(toHex).join(' ');
}

/** Valid, bound to its public inputs, and the one proof that key, assignment and blinding allow. */
async function checkProof(
  backend: ProverBackend,
  kind: Kind,
  example: Example,
  blinding = anyBlinding(kind.curve),
): Promise<void> {
  const key = await keyOf(kind, example);
  const input = await inputOf(kind, example);
  const proof = await prove(backend, key, input, blinding);
  const inputs = publicInputsOf(example);
  expect(await verify(key.verifyingKey, inputs, proof), 'verification').toEqual({ valid: true });
  const [first, ...rest] = inputs;
  if (first !== undefined) {
    const changed = first.with(0, (first[0] as number) ^ 1) as FrCanonicalLE;
    const verdict = await verify(key.verifyingKey, [changed, ...rest], proof);
    expect(verdict.valid, 'verification with another public input').toBe(false);
  }
  await checkBytes(kind, example, blinding, proof);
  if (backend.name !== 'cpu-reference' && example.system.constraintCount <= REFERENCE_ROWS_MAX) {
    const reference = await prove(cpuReference, key, input, blinding);
    expect(hexOf(proof), 'bytes of cpu-reference').toBe(hexOf(reference));
  }
}

async function checkBytes(
  { curve, basis }: Kind,
  example: Example,
  blinding: Blinding,
  proof: Proof,
): Promise<void> {
  const expected = await expectedProof(example, wasteOf(curve), basis, blinding);
  expect(hexOf(proof), 'bytes by field arithmetic').toBe(hexOf(expected));
}

async function checkFiles(backend: ProverBackend, kind: Kind): Promise<void> {
  const example = exampleOf(kind.curve, 6);
  const blinding = anyBlinding(kind.curve);
  const input = await inputOf(kind, example);
  const inFile = async (vector: ScalarVector): Promise<ScalarVector> => {
    if (!('bytes' in vector)) return vector;
    const path = await temporaryPath('values');
    const offset = 5;
    await writeFile(path, Buffer.concat([Buffer.alloc(offset, 0xff), vector.bytes]));
    return { n: vector.n, slice: { path, offset, length: vector.bytes.length } };
  };
  const moved: AssignedInput = { ...input, witness: await inFile(input.witness) };
  const rows =
    input.kind === 'evaluated' ? { a: await inFile(input.a), b: await inFile(input.b) } : {};
  const key = await keyOf(kind, example);
  const proof = await prove(backend, key, { ...moved, ...rows } as PartitionInput, blinding);
  await checkBytes(kind, example, blinding, proof);
}

async function checkOverlap(backend: ProverBackend, kind: Kind): Promise<void> {
  const { curve } = kind;
  const run = quietRun();
  const options = { constraints: 20, publicInputs: 1, curve };
  // One system, two assignments: all wires 1 satisfy every chain.
  const first = chain({ ...options, first: 7n });
  const second: Example = { ...first, values: first.values.map(() => 1n) };
  const [r1, r2] = [anyBlinding(curve), anyBlinding(curve)];
  await using device = await openFirst(backend);
  await using loaded = await device.load(await keyOf(kind, first), LOAD, run);
  const staged1 = await loaded.stage(await inputOf(kind, first), run);
  const computing = loaded.compute(staged1, r1, run);
  const staging = loaded.stage(await inputOf(kind, second), run);
  const computed1 = await computing;
  const computing2 = loaded.compute(await staging, r2, run);
  await checkBytes(kind, first, r1, await loaded.finish(computed1, run));
  await checkBytes(kind, second, r2, await loaded.finish(await computing2, run));
}

const LOAD = { residency: 'mapped', checkPoints: true } as const;

async function checkReports(backend: ProverBackend, kind: Kind): Promise<void> {
  const example = exampleOf(kind.curve, 40);
  const seen: BackendStage[] = [];
  let share = 0;
  const run: Run = quietRun({
    stage(name, start, end) {
      seen.push(name);
      expect(end, name).toBeGreaterThanOrEqual(start);
    },
    progress(next) {
      expect(next, 'progress').toBeGreaterThanOrEqual(share);
      expect(next, 'progress').toBeLessThanOrEqual(1);
      share = next;
    },
  });
  const reported = async <T>(work: Promise<T>, ...expected: BackendStage[]): Promise<T> => {
    seen.length = 0;
    share = 0;
    const result = await work;
    expect(seen).toEqual(expect.arrayContaining(expected));
    for (const name of expected)
      expect(
        seen.filter((s) => s === name),
        name,
      ).toHaveLength(1);
    return result;
  };
  await using device = await openFirst(backend);
  const key = await keyOf(kind, example);
  const loaded = await reported(device.load(key, LOAD, run));
  const staged = await reported(loaded.stage(await inputOf(kind, example), run), 'EVALUATE');
  const computed = await reported(
    loaded.compute(staged, anyBlinding(kind.curve), run),
    ...(['NTT', 'MSM_H', 'MSM_L', 'MSM_A', 'MSM_B_G1', 'MSM_B_G2'] as const),
  );
  await reported(loaded.finish(computed, run));
  await loaded[Symbol.asyncDispose]();
}

async function checkEstimate(backend: ProverBackend, kind: Kind): Promise<void> {
  await using device = await openFirst(backend);
  const [small, large] = [
    await keyOf(kind, exampleOf(kind.curve, 2)),
    await keyOf(kind, exampleOf(kind.curve, 40)),
  ];
  const bytesOf = (...parameters: Parameters<Device['estimate']>): number => {
    const estimate = device.estimate(...parameters);
    expect(device.estimate(...parameters)).toEqual(estimate);
    const parts = Object.values(estimate) as number[];
    expect(parts.every((bytes) => Number.isSafeInteger(bytes) && bytes >= 0)).toBe(true);
    return parts.reduce((sum, bytes) => sum + bytes, 0);
  };
  const pointBytes = [large.h, large.l, large.a, large.bG1, large.bG2].reduce(
    (sum, query) => sum + query.slice.length,
    0,
  );
  expect(bytesOf(large, 1)).toBeGreaterThan(pointBytes);
  expect(bytesOf(large, 1)).toBeGreaterThan(bytesOf(small, 1));
  expect(bytesOf(large, 3)).toBeGreaterThan(bytesOf(large, 1));
}

async function checkAbort(backend: ProverBackend, kind: Kind, constraints: number): Promise<void> {
  const example = exampleOf(kind.curve, constraints);
  const blinding = anyBlinding(kind.curve);
  const key = await keyOf(kind, example);
  const input = await inputOf(kind, example);
  await using device = await openFirst(backend);
  await refusesAfterAbort((run) => device.load(key, LOAD, run), 'at once');
  await using loaded = await device.load(key, LOAD, quietRun());
  await refusesAfterAbort((run) => loaded.stage(input, run), 'at once');
  for (const when of ['at once', 'after a stage'] as const) {
    const staged = await loaded.stage(input, quietRun());
    await refusesAfterAbort((run) => loaded.compute(staged, blinding, run), when);
  }
  const staged = await loaded.stage(input, quietRun());
  const computed = await loaded.compute(staged, blinding, quietRun());
  await checkBytes(kind, example, blinding, await loaded.finish(computed, quietRun()));
}

async function refusesAfterAbort(
  call: (run: Run) => Promise<unknown>,
  when: 'at once' | 'after a stage',
): Promise<void> {
  const controller = new AbortController();
  let abortedAt = Number.NaN;
  const abort = (): void => {
    if (controller.signal.aborted) return;
    abortedAt = performance.now();
    controller.abort();
  };
  const run = quietRun({
    signal: controller.signal,
    stage: () => when === 'after a stage' && abort(),
  });
  const done = call(run);
  if (when === 'at once') abort();
  await expect(done).rejects.toMatchObject({ code: 'ERR_CANCELLED' });
  expect(performance.now() - abortedAt).toBeLessThan(ABORT_MILLIS_MAX);
}

/** A zkey holds no C, so a wrong witness shows in the verification only. */
async function checkUnsatisfied(backend: ProverBackend, kind: Kind): Promise<void> {
  const example = exampleOf(kind.curve, 6);
  const last = example.values.length - 1;
  const values = example.values.with(last, (example.values[last] as bigint) ^ 1n);
  const wrong: Example = { ...example, values };
  const key = await keyOf(kind, example);
  const proof = await prove(backend, key, await inputOf(kind, wrong), anyBlinding(kind.curve));
  const verdict = await verify(key.verifyingKey, publicInputsOf(wrong), proof);
  expect(verdict).toEqual({ valid: false, reason: 'the pairing equation does not hold' });
}

async function checkMalformed(backend: ProverBackend, kind: Kind): Promise<void> {
  const example = exampleOf(kind.curve, 6);
  const { values } = example;
  const input = await inputOf(kind, example);
  await using device = await openFirst(backend);
  await using loaded = await device.load(await keyOf(kind, example), LOAD, quietRun());
  const refuses = async (change: Partial<AssignedInput>): Promise<void> => {
    const staged = loaded.stage({ ...input, ...change } as PartitionInput, quietRun());
    await expect(staged).rejects.toMatchObject({ code: 'ERR_FORMAT' });
  };
  const witness = (changed: readonly bigint[]) => ({
    witness: { n: changed.length, bytes: scalarBytes(changed) },
  });
  await refuses(witness(values.slice(1)));
  await refuses(witness([...values, 0n]));
  await refuses(witness(values.with(2, curveOf(kind.curve).r)));
  if (input.kind === 'evaluated') {
    await refuses({ kind: 'witness' });
    await refuses({ a: { ...input.a, n: input.a.n - 1 } });
    await refuses({ aAuxDensity: new Uint8Array(input.aAuxDensity.length) });
    await refuses({ bAuxDensity: new Uint8Array(0) });
  }
}

async function checkProgram(backend: ProverBackend, kind: Kind): Promise<void> {
  const { example, input, wrong } = await programExample();
  const blinding = anyBlinding(kind.curve);
  const key = await keyOf(kind, example);
  const proof = await prove(backend, key, input, blinding);
  const verdict = await verify(key.verifyingKey, publicInputsOf(example), proof);
  expect(verdict, 'verification').toEqual({ valid: true });
  await checkBytes(kind, example, blinding, proof);
  await expect(prove(backend, key, wrong, blinding)).rejects.toMatchObject({
    code: 'ERR_WITNESS_UNSATISFIED',
    data: { detail: expect.stringMatching(/^constraint \d+ \(part 1\) does not hold$/) },
  });
  const otherKey = await keyOf(kind, exampleOf(kind.curve, 6));
  await expect(prove(backend, otherKey, input, blinding)).rejects.toMatchObject({
    code: 'ERR_FORMAT',
    data: { subject: 'program', expected: 'the circuit of the key' },
  });
}

async function checkBadPoints(backend: ProverBackend, kind: Kind): Promise<void> {
  const key = await keyOf(kind, exampleOf(kind.curve, 6));
  await using device = await openFirst(backend);
  const [g1, g2] = [g1Of(kind.curve), g2Of(kind.curve)];
  const refuses = async (query: QueryName, point: Uint8Array): Promise<void> => {
    const loading = device.load(await withPoint(key, query, point), LOAD, quietRun());
    await expect(loading, query).rejects.toMatchObject({ code: 'ERR_FORMAT' });
  };
  for (const query of ['h', 'l', 'a', 'bG1', 'bG2'] as const) {
    const length = query === 'bG2' ? g2.byteLength : g1.byteLength;
    const offCurve = new Uint8Array(length);
    offCurve[key.points === 'montgomery-le' ? 0 : length - 1] = 1;
    await refuses(query, offCurve);
    await refuses(query, new Uint8Array(length).fill(0xff));
  }
  await refuses('bG2', pointToForm(g2, key.points, pointOutside(g2)));
  // BN254's G1 is its whole curve.
  if (kind.curve === 'bls12-381') {
    await refuses('a', pointToForm(g1, key.points, pointOutside(g1)));
  }
  await (await device.load(key, LOAD, quietRun()))[Symbol.asyncDispose]();
}
