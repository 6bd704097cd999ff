import { createHash } from 'node:crypto';
import { viewOf, writeBigIntLE } from '../core/bytes.ts';
import type { Pacer } from '../math/pacer.ts';
import type { Program } from './program.ts';
import { holds } from './program-evaluator.ts';
import { rowBytes, rowBytesLength } from './program-rows.ts';
import { countsOf } from './program-shape.ts';
import { type Assignment, canonical, type Scalar, type ScalarVector } from './program-values.ts';
import { evaluate, type Progress } from './program-witness.ts';

const SCALAR_BYTES = 32;
const SCALARS_A_CHUNK = 4096;
/** Vectors are hashed in pieces of this between two looks at the clock. */
const SCALARS_A_LOOK = 65_536;

/** SHA-256 of scalars, 32 bytes each, canonical little-endian; hex. */
class ScalarHash {
  readonly #hash = createHash('sha256');
  readonly #chunk = new Uint8Array(SCALARS_A_CHUNK * SCALAR_BYTES);
  readonly #view = viewOf(this.#chunk);
  readonly #negatives = new Map<number, Uint8Array>();
  #at = 0;

  add(value: Scalar): void {
    if (typeof value === 'number' && value >= 0) {
      this.#view.setUint32(this.#at, value % 2 ** 32, true);
      this.#view.setUint32(this.#at + 4, value / 2 ** 32, true);
    } else this.#chunk.set(this.#bytesOf(value), this.#at);
    this.#at += SCALAR_BYTES;
    if (this.#at === this.#chunk.length) this.#flush();
  }

  digest(): string {
    this.#flush();
    return this.#hash.digest('hex');
  }

  #bytesOf(value: Scalar): Uint8Array {
    if (typeof value === 'bigint') return writeBigIntLE(canonical(value), SCALAR_BYTES);
    const known = this.#negatives.get(value) ?? writeBigIntLE(canonical(value), SCALAR_BYTES);
    if (this.#negatives.size < SCALARS_A_CHUNK) this.#negatives.set(value, known);
    return known;
  }

  #flush(): void {
    this.#hash.update(this.#chunk.subarray(0, this.#at));
    this.#chunk.fill(0);
    this.#at = 0;
  }
}

/** SHA-256 of `rowBytes`, hex. */
export async function hashRows(
  program: Program,
  pacer: Pacer,
  progress: Progress = () => {},
): Promise<string> {
  const hash = createHash('sha256');
  const total = rowBytesLength(countsOf(program));
  let done = 0;
  for await (const piece of rowBytes(program, pacer)) {
    hash.update(piece);
    done += piece.length;
    progress(done / total);
  }
  return hash.digest('hex');
}

/** SHA-256 of some scalars, hex. */
export function hashScalars(values: Iterable<Scalar>): string {
  const hash = new ScalarHash();
  for (const value of values) hash.add(value);
  return hash.digest();
}

/** SHA-256 of all inputs, 1 first, then all aux variables; hex. */
export async function hashWitness({ inputs, aux }: Assignment, pacer: Pacer): Promise<string> {
  const hash = new ScalarHash();
  await addAll(hash, inputs, pacer);
  await addAll(hash, aux, pacer);
  return hash.digest();
}

export interface EvaluationHashes {
  readonly a: string;
  readonly b: string;
  readonly c: string;
  /** Whether every constraint holds. */
  readonly satisfied: boolean;
}

/** SHA-256 of <A_i, w>, <B_i, w> and <C_i, w> over all rows, the input rows last; hex. */
export async function hashEvaluations(
  program: Program,
  assignment: Assignment,
  pacer: Pacer,
  progress: Progress = () => {},
): Promise<EvaluationHashes> {
  let satisfied = true;
  const [hashA, hashB, hashC] = [new ScalarHash(), new ScalarHash(), new ScalarHash()];
  const visit = (a: Scalar, b: Scalar, c: Scalar) => {
    hashA.add(a);
    hashB.add(b);
    hashC.add(c);
  };
  const check = (a: Scalar, b: Scalar, c: Scalar) => {
    satisfied &&= holds(a, b, c);
    visit(a, b, c);
  };
  await evaluate(program, assignment, check, pacer, progress);
  for (let i = 0; i < assignment.inputs.length; i++) visit(assignment.inputs.get(i), 0, 0);
  return { a: hashA.digest(), b: hashB.digest(), c: hashC.digest(), satisfied };
}

async function addAll(hash: ScalarHash, values: ScalarVector, pacer: Pacer): Promise<void> {
  for (let i = 0; i < values.length; i++) {
    hash.add(values.get(i));
    if (i % SCALARS_A_LOOK === 0 && pacer.due) await pacer.pause();
  }
}
