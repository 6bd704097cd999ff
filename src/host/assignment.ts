import type { PartitionInput } from '../backend/backend.ts';
import type { FrCanonicalLE } from '../math/curve.ts';

/** What is to be proved, checked: as many values as the key has wires, each below r. */
export interface Assignment extends AsyncDisposable {
  readonly input: PartitionInput;
  /** As a verifier knows them, without the leading 1. */
  readonly publicInputs: readonly FrCanonicalLE[];
}
