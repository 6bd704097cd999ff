import type {
  Computed,
  LoadedKey,
  PartitionInput,
  Run,
  Staged,
} from '../../../src/backend/backend.ts';
import { assert } from '../../../src/core/assert.ts';
import type { Blinding, Proof } from '../../../src/groth16/types.ts';
import type { CurveName, G1Bytes, G2Bytes } from '../../../src/math/curve.ts';
import type { ComputedHandle, Handle, KeyCalls, KeyHandle, StagedHandle } from './native.ts';
import { settled } from './native-call.ts';

/** A key that a native prover has loaded. */
export class NativeKey implements LoadedKey {
  readonly #calls: KeyCalls;
  readonly #curve: CurveName;
  readonly #handle: KeyHandle;

  constructor(calls: KeyCalls, curve: CurveName, handle: KeyHandle) {
    this.#calls = calls;
    this.#curve = curve;
    this.#handle = handle;
  }

  async stage(input: PartitionInput, run: Run): Promise<Staged> {
    const calls = this.#calls;
    const staged = await settled(run, (listener) => calls.stage(this.#handle, input, listener));
    return new Owned<StagedHandle>(calls, staged);
  }

  async compute(staged: Staged, blinding: Blinding, run: Run): Promise<Computed> {
    const calls = this.#calls;
    const handle = Owned.of<StagedHandle>(staged);
    const computed = await settled(run, (listener) =>
      calls.compute(this.#handle, handle, blinding, listener),
    );
    return new Owned<ComputedHandle>(calls, computed);
  }

  async finish(computed: Computed, run: Run): Promise<Proof> {
    const handle = Owned.of<ComputedHandle>(computed);
    const { a, b, c } = await settled(run, (listener) =>
      this.#calls.finish(this.#handle, handle, listener),
    );
    return { curve: this.#curve, a: a as G1Bytes, b: b as G2Bytes, c: c as G1Bytes };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#calls.release(this.#handle);
  }
}

/** What is opaque between two calls. The native side refuses one that was consumed. */
class Owned<H extends Handle<string>> implements Staged, Computed {
  readonly __staged = true;
  readonly __computed = true;
  readonly #calls: KeyCalls;
  readonly #handle: H;

  constructor(calls: KeyCalls, handle: H) {
    this.#calls = calls;
    this.#handle = handle;
  }

  static of<H extends Handle<string>>(owned: Staged | Computed): H {
    assert(owned instanceof Owned, 'native key: expected a partition of its own');
    return (owned as Owned<H>).#handle;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#calls.release(this.#handle);
  }
}
