import { ProverError } from '../core/errors.ts';
import type {
  PartitionResult,
  ProofOrigin,
  StatementFacts,
  StatementSource,
  StoredFile,
} from '../host/protocol.ts';
import type { TaskOptions } from './pipeline.ts';

export type FilecoinKind = StatementFacts['kind'];

/** Proofs for a statement of Filecoin: one a partition. */
export interface StatementTask extends TaskOptions {
  readonly statement: StatementSource;
  readonly vanilla: readonly StoredFile[];
  readonly facts: StatementFacts;
  /** Only this one; absent: all. */
  readonly partition?: number;
}

/** How the proof of one partition came about. */
export interface PartitionOutcome
  extends Pick<ProofOrigin, 'backend' | 'device' | 'attempts' | 'fallbackReason'> {
  readonly partition: number;
}

export interface FilecoinOutcome extends ProofOrigin {
  readonly kind: FilecoinKind;
  readonly registeredProof: string;
  /** 192 bytes for each partition, in their order, as Lotus and Curio have them; hex. */
  readonly proof: string;
  readonly partitions: readonly PartitionOutcome[];
  /** The chain takes the proof only once it is aggregated. */
  readonly aggregated?: false;
}

export function outcomeOf(
  { kind, registeredProof, aggregates }: StatementFacts,
  numbers: readonly number[],
  results: readonly PartitionResult[],
): FilecoinOutcome {
  const [{ proof: _, ...first }] = results as [PartitionResult];
  const fallback = results.find(({ fallbackReason }) => fallbackReason !== undefined);
  return {
    ...first,
    ...(fallback !== undefined && {
      backend: fallback.backend,
      fallbackReason: fallback.fallbackReason as string,
    }),
    attempts: Math.max(...results.map(({ attempts }) => attempts)),
    kind,
    registeredProof,
    proof: results.map(({ proof }) => proof).join(''),
    partitions: results.map(({ backend, device, attempts, fallbackReason }, i) => ({
      partition: numbers[i] as number,
      backend,
      device,
      attempts,
      ...(fallbackReason !== undefined && { fallbackReason }),
    })),
    ...(aggregates && { aggregated: false }),
  };
}

/** @throws ERR_PARAMS where there is no such partition */
export function partitionsOf({ facts, partition }: StatementTask): number[] {
  if (partition === undefined) return Array.from({ length: facts.partitions }, (_, i) => i);
  if (partition < facts.partitions) return [partition];
  const expected = `below ${facts.partitions}`;
  throw new ProverError('ERR_PARAMS', { subject: 'partition', expected, actual: partition });
}
