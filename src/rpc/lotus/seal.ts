import { ProverError } from '../../core/errors.ts';
import type { FilecoinRequest } from '../../jobs/job.ts';
import type { PayloadStore } from '../../jobs/payloads.ts';
import { statementOf } from '../filecoin-statement.ts';
import type { GoBytes, SectorId } from './go-values.ts';
import { stored } from './stored-bytes.ts';

/** go-state-types, abi/sector.go: five sizes each of V1, V1_1, synthetic and non-interactive. */
export const SIZES = 5;
export const SEAL_TYPES = 20;
export const NON_INTERACTIVE_FIRST = 15;

/**
 * The job of a sector's second phase, named as Curio names it.
 * @throws ERR_PARAMS, ERR_FORMAT, ERR_STORAGE
 */
export async function sealRequest(
  payloads: PayloadStore,
  sector: { readonly id: SectorId; readonly proofType: number },
  c1: GoBytes,
): Promise<FilecoinRequest> {
  const { id, proofType } = sector;
  if (proofType >= NON_INTERACTIVE_FIRST) {
    const known = proofType < SEAL_TYPES;
    throw new ProverError('ERR_PARAMS', {
      subject: 'ProofType',
      expected: `a seal proof that is not aggregated (0 to ${NON_INTERACTIVE_FIRST - 1})`,
      actual: `${proofType}${known ? ', a non-interactive one' : ''}`,
    });
  }
  const vanilla = await stored(payloads, c1);
  const statement = statementOf.porep(
    { registeredProof: proofType, minerId: id.Miner, sector: id.Number },
    vanilla.c1(),
  );
  const { sha256 } = await stored(payloads, { bytes: statement });
  const label = `porep-${id.Miner}-${id.Number}`;
  return { kind: 'porep', statement: sha256, vanilla: [vanilla.sha256], label };
}
