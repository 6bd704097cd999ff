import { CIRCUIT_KINDS, type CircuitKind } from '../circuits/filecoin/circuits.ts';
import { partitionsOf } from '../circuits/filecoin/public-inputs.ts';
import {
  porepIdOf,
  type RegisteredProof,
  registeredProof,
} from '../circuits/filecoin/registered-proof.ts';
import { sectorConfig } from '../circuits/filecoin/sector-size.ts';
import type {
  PorepStatement,
  PostStatement,
  SnapDealsStatement,
  Statement,
} from '../circuits/filecoin/statement.ts';
import { formatError } from '../core/errors.ts';
import { parseBytes32, parseCommitment, parseNumber, parseProverId } from './statement-values.ts';

/** Of one proof: more than the chain has in a deadline. */
export const SECTORS_MAX = 65_536;

type Fields = Readonly<Record<string, unknown>>;

/**
 * A statement file: what is proved, in the chain's terms. `kind` and `registered_proof` (name or
 * number) always; for `porep` prover_id, sector_number, ticket, seed, comm_r, comm_d, and porep_id
 * unless it is the registered proof's; for the proofs of spacetime randomness, sectors and their
 * comm_r; for `snap-deals` comm_r_old, comm_r_new, comm_d_new. `sector_size` and `partitions`,
 * where they stand, must agree. Other names are comments.
 * @param value as parsed from JSON
 * @throws ERR_FORMAT that names the field
 */
export function parseStatement(value: unknown): Statement {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw formatError('statement', 'a JSON object', 'something else');
  }
  const fields = value as Fields;
  const kind = CIRCUIT_KINDS.find((each) => each === fields.kind);
  if (kind === undefined) {
    throw formatError('statement: kind', CIRCUIT_KINDS.join(', '), 'another');
  }
  const proof = registeredProof('statement: registered_proof', kind, fields.registered_proof);
  const statement = parseKind(kind, proof, fields);
  checkCount(fields, 'sector_size', sectorConfig(proof.sectorSize).bytes);
  checkCount(fields, 'partitions', partitionsOf(statement));
  return statement;
}

function parseKind(kind: CircuitKind, proof: RegisteredProof, fields: Fields): Statement {
  if (kind === 'porep') return parsePorep(proof, fields);
  if (kind === 'snap-deals') return parseSnapDeals(proof, fields);
  return parsePost(kind, proof, fields);
}

function parsePorep(proof: RegisteredProof, fields: Fields): PorepStatement {
  const bytes = (name: string) => parseBytes32(`statement: ${name}`, fields[name]);
  const seed = bytes('seed');
  if (seed.every((byte) => byte === 0)) {
    throw formatError('statement: seed', 'a seed that is not zero', 'zero');
  }
  return {
    ...{ kind: 'porep', proof, seed, ticket: bytes('ticket') },
    porepId: fields.porep_id === undefined ? porepIdOf(proof) : bytes('porep_id'),
    proverId: parseProverId('statement: prover_id', fields.prover_id),
    sector: parseNumber('statement: sector_number', fields.sector_number),
    commR: parseCommitment('statement: comm_r', fields.comm_r, 'replica'),
    commD: parseCommitment('statement: comm_d', fields.comm_d, 'data'),
  };
}

function parsePost(
  kind: 'window-post' | 'winning-post',
  proof: RegisteredProof,
  fields: Fields,
): PostStatement {
  const numbers = parseList('sectors', fields.sectors, parseNumber);
  const commitments = parseList('comm_r', fields.comm_r, (subject, value) =>
    parseCommitment(subject, value, 'replica'),
  );
  if (commitments.length !== numbers.length) {
    throw formatError('statement: comm_r', `${numbers.length}, one a sector`, commitments.length);
  }
  if (kind === 'winning-post' && numbers.length !== 1) {
    throw formatError('statement: sectors', '1 for winning-post', numbers.length);
  }
  const sectors = numbers
    .map((number, i) => ({ number, commR: commitments[i] as bigint }))
    .sort((a, b) => (a.number < b.number ? -1 : 1));
  const twice = sectors.find(({ number }, i) => number === sectors[i + 1]?.number);
  if (twice !== undefined) {
    throw formatError('statement: sectors', 'each once', `${twice.number} twice`);
  }
  // The randomness is a field element: as Lotus does, its two highest bits are dropped.
  const randomness = Uint8Array.from(parseBytes32('statement: randomness', fields.randomness));
  randomness[31] = (randomness[31] as number) & 0x3f;
  return { kind, proof, randomness, sectors };
}

function parseSnapDeals(proof: RegisteredProof, fields: Fields): SnapDealsStatement {
  return {
    ...{ kind: 'snap-deals', proof },
    commROld: parseCommitment('statement: comm_r_old', fields.comm_r_old, 'replica'),
    commRNew: parseCommitment('statement: comm_r_new', fields.comm_r_new, 'replica'),
    commDNew: parseCommitment('statement: comm_d_new', fields.comm_d_new, 'data'),
  };
}

function parseList<T>(
  name: string,
  value: unknown,
  parse: (subject: string, item: unknown) => T,
): T[] {
  const subject = `statement: ${name}`;
  if (!Array.isArray(value) || value.length === 0 || value.length > SECTORS_MAX) {
    throw formatError(subject, `an array of 1 to ${SECTORS_MAX}`, 'something else');
  }
  return value.map((item, i) => parse(`${subject}[${i}]`, item));
}

function checkCount(fields: Fields, name: string, expected: number): void {
  const value = fields[name];
  if (value === undefined || value === expected) return;
  throw formatError(`statement: ${name}`, String(expected), String(value).slice(0, 20));
}
