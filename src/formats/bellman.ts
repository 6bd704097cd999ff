import { viewOf } from '../core/bytes.ts';
import { formatError } from '../core/errors.ts';
import type { ByteSource } from '../core/source.ts';
import type { PointQuery, Proof, ProvingKeySource, VerifyingKey } from '../groth16/types.ts';
import { declareChecked } from '../groth16/verify.ts';
import type { G1Bytes } from '../math/curve.ts';
import { ByteReader } from './byte-reader.ts';
import { inLargePieces, type RecordStream, recordBytes } from './byte-stream.ts';
import { INPUTS_MAX } from './limits.ts';
import {
  BLS_G1,
  BLS_G2,
  checkedFinitePoint,
  compress,
  decompress,
  readCheckedPoints,
  toForm,
} from './points.ts';

/**
 * The formats of bellman and bellperson (`groth16/{params,verifying_key,proof}.rs`), BLS12-381
 * only: points in Zcash's uncompressed form, counts as u32 big-endian, nothing else. A `.vk` file
 * is the head of the `.params` file: alpha G1, beta G1, beta G2, gamma G2, delta G1, delta G2, then
 * ic. After it come h, l, a, b in G1, b in G2. The point at infinity has no place in either.
 */
export interface BellmanVerifyingKey {
  readonly verifyingKey: VerifyingKey;
  readonly betaG1: G1Bytes;
  readonly deltaG1: G1Bytes;
}

export interface ReadOptions {
  /**
   * The file is known by its digest, or was checked when it was imported: the inputs' points, up to
   * 25,840 of them, are not checked again.
   */
  readonly trusted?: boolean;
}

const G1_BYTES = 96;
const G2_BYTES = 192;
const COUNT_BYTES = 4;
/** Everything before the count of ic. */
const HEAD_BYTES = 3 * G1_BYTES + 3 * G2_BYTES;
/** 2^32 divides r - 1; no published circuit has more than 2^27 rows. */
const LOG_N_MAX = 31;
export const PROOF_BYTES = 192;

/**
 * Bellman parameters. Walks the counts, checks them against each other and the file's size, and
 * checks every point of the verifying key; the points of the queries are not checked (a backend
 * does that when it loads the key, and refuses infinity there).
 * @param path where `source` lies, for the slices of the key
 * @throws ERR_FORMAT
 */
export async function readParameters(
  source: ByteSource,
  path: string,
  options: ReadOptions = {},
): Promise<ProvingKeySource> {
  const { head, end: headEnd } = await readHead(source, options);
  let at = headEnd;
  const query = async (name: string, pointBytes: number): Promise<PointQuery> => {
    const count = await readCount(source, name, at, pointBytes);
    const slice = { path, offset: at + COUNT_BYTES, length: count * pointBytes };
    at = slice.offset + slice.length;
    return { slice, count };
  };
  const h = await query('h', G1_BYTES);
  const l = await query('l', G1_BYTES);
  const a = await query('a', G1_BYTES);
  const bG1 = await query('b in G1', G1_BYTES);
  const bG2 = await query('b in G2', G2_BYTES);
  if (at !== source.size) {
    throw formatError(`${source.name}: size`, `${at} bytes`, source.size);
  }
  const inputCount = head.verifyingKey.ic.length;
  const key: ProvingKeySource = {
    ...head,
    curve: 'bls12-381',
    format: 'bellman',
    points: 'canonical-be',
    hBasis: 'monomial',
    inputCount,
    auxCount: l.count,
    logN: checkedLogN(source, h.count, inputCount),
    ...{ h, l, a, bG1, bG2 },
  };
  checkCounts(source, key);
  return key;
}

/** h has one point less than the domain has rows, and the input rows are among those. */
function checkedLogN(source: ByteSource, hCount: number, inputCount: number): number {
  const logN = Math.log2(hCount + 1);
  if (!Number.isInteger(logN) || logN > LOG_N_MAX) {
    throw formatError(`${source.name}: h`, `2^k - 1 points, k up to ${LOG_N_MAX}`, hCount);
  }
  if (hCount + 1 < inputCount) {
    throw formatError(`${source.name}: h`, `at least ${inputCount - 1} points`, hCount);
  }
  return logN;
}

function checkCounts(source: ByteSource, key: ProvingKeySource): void {
  const wires = key.inputCount + key.auxCount;
  const { a, bG1, bG2, inputCount } = key;
  if (a.count < inputCount || a.count > wires) {
    throw formatError(`${source.name}: a`, `${inputCount} to ${wires} points`, a.count);
  }
  if (bG1.count > wires) {
    throw formatError(`${source.name}: b in G1`, `at most ${wires} points`, bG1.count);
  }
  if (bG2.count !== bG1.count) {
    throw formatError(`${source.name}: b in G2`, `${bG1.count} points`, bG2.count);
  }
}

/** Where the `.vk` file of parameters lies, as in Filecoin's cache: beside them. */
export function verifyingKeyPath(parametersPath: string): string {
  return `${parametersPath.replace(/\.params$/, '')}.vk`;
}

/** Whether a file has the size of a `.vk` file with as many inputs as it says. */
export async function isVerifyingKey(source: ByteSource): Promise<boolean> {
  if (source.size < HEAD_BYTES + COUNT_BYTES) return false;
  const inputs = viewOf(await source.read(HEAD_BYTES, COUNT_BYTES)).getUint32(0);
  return source.size === HEAD_BYTES + COUNT_BYTES + inputs * G1_BYTES;
}

/** A `.vk` file, every point of it checked; it ends with its last point. @throws ERR_FORMAT */
export async function readVerifyingKey(
  source: ByteSource,
  options: ReadOptions = {},
): Promise<BellmanVerifyingKey> {
  const { head, end } = await readHead(source, options);
  if (end === source.size) return head;
  throw formatError(`${source.name}: size`, `${end} bytes`, source.size);
}

async function readHead(
  source: ByteSource,
  { trusted = false }: ReadOptions,
): Promise<{ readonly head: BellmanVerifyingKey; readonly end: number }> {
  if (source.size < HEAD_BYTES + COUNT_BYTES) {
    const expected = `at least ${HEAD_BYTES + COUNT_BYTES} bytes`;
    throw formatError(`${source.name}: size`, expected, source.size);
  }
  const reader = new ByteReader(source.name, await source.read(0, HEAD_BYTES));
  const subject = (name: string) => `${source.name}: ${name}`;
  const g1 = (name: string) =>
    checkedFinitePoint(BLS_G1, 'canonical-be', subject(name), reader.take(G1_BYTES));
  const g2 = (name: string) =>
    checkedFinitePoint(BLS_G2, 'canonical-be', subject(name), reader.take(G2_BYTES));
  const alphaG1 = g1('alpha');
  const betaG1 = g1('beta in G1');
  const betaG2 = g2('beta in G2');
  const gammaG2 = g2('gamma');
  const deltaG1 = g1('delta in G1');
  const deltaG2 = g2('delta in G2');
  const ic = await readIc(source, trusted);
  const verifyingKey = { curve: 'bls12-381', alphaG1, betaG2, gammaG2, deltaG2, ic } as const;
  return {
    head: { verifyingKey: declareChecked(verifyingKey), betaG1, deltaG1 },
    end: HEAD_BYTES + COUNT_BYTES + ic.length * G1_BYTES,
  };
}

async function readIc(source: ByteSource, trusted: boolean): Promise<G1Bytes[]> {
  const count = await readCount(source, 'ic', HEAD_BYTES, G1_BYTES);
  if (count === 0 || count > INPUTS_MAX) {
    throw formatError(`${source.name}: ic`, `1 to ${INPUTS_MAX} points`, count);
  }
  const offset = HEAD_BYTES + COUNT_BYTES;
  return readCheckedPoints(source, BLS_G1, 'canonical-be', 'ic', offset, count, trusted);
}

/** A count of points that fit between it and the end of the file. */
async function readCount(
  source: ByteSource,
  name: string,
  at: number,
  pointBytes: number,
): Promise<number> {
  const left = source.size - at - COUNT_BYTES;
  if (left < 0) throw formatError(`${source.name}: ${name}`, 'a count', 'the end of the file');
  const count = viewOf(await source.read(at, COUNT_BYTES)).getUint32(0);
  const limit = Math.floor(left / pointBytes);
  if (count <= limit) return count;
  throw formatError(`${source.name}: ${name}`, `at most ${limit} points (the file's end)`, count);
}

/** What a parameter file holds, as `setup` makes it: finite query points in `canonical-be`. */
export interface ParametersContent extends BellmanVerifyingKey {
  readonly h: RecordStream;
  readonly l: RecordStream;
  readonly a: RecordStream;
  readonly bG1: RecordStream;
  readonly bG2: RecordStream;
}

export function writeParameters(content: ParametersContent): AsyncGenerator<Uint8Array> {
  return inLargePieces(parametersParts(content));
}

async function* parametersParts(content: ParametersContent): AsyncGenerator<Uint8Array> {
  yield* headParts(content);
  yield* countedPoints(content.h, G1_BYTES);
  yield* countedPoints(content.l, G1_BYTES);
  yield* countedPoints(content.a, G1_BYTES);
  yield* countedPoints(content.bG1, G1_BYTES);
  yield* countedPoints(content.bG2, G2_BYTES);
}

export function writeVerifyingKey(key: BellmanVerifyingKey): AsyncGenerator<Uint8Array> {
  return inLargePieces(headParts(key));
}

async function* headParts(key: BellmanVerifyingKey): AsyncGenerator<Uint8Array> {
  const { verifyingKey: vk, betaG1, deltaG1 } = key;
  yield toForm(BLS_G1, 'canonical-be', vk.alphaG1);
  yield toForm(BLS_G1, 'canonical-be', betaG1);
  yield toForm(BLS_G2, 'canonical-be', vk.betaG2);
  yield toForm(BLS_G2, 'canonical-be', vk.gammaG2);
  yield toForm(BLS_G1, 'canonical-be', deltaG1);
  yield toForm(BLS_G2, 'canonical-be', vk.deltaG2);
  const ic = vk.ic.map((point) => toForm(BLS_G1, 'canonical-be', point));
  yield* countedPoints({ count: ic.length, bytes: ic }, G1_BYTES);
}

async function* countedPoints(
  points: RecordStream,
  pointBytes: number,
): AsyncGenerator<Uint8Array> {
  const count = new Uint8Array(COUNT_BYTES);
  viewOf(count).setUint32(0, points.count);
  yield count;
  yield* recordBytes(points, pointBytes);
}

/** A (48) ‖ B (96) ‖ C (48), compressed; each finite and in its group. @throws ERR_FORMAT */
export function readProof(subject: string, bytes: Uint8Array): Proof {
  if (bytes.length !== PROOF_BYTES) {
    throw formatError(subject, `${PROOF_BYTES} bytes`, bytes.length);
  }
  return {
    curve: 'bls12-381',
    a: decompress(BLS_G1, `${subject}: A`, bytes.subarray(0, 48)),
    b: decompress(BLS_G2, `${subject}: B`, bytes.subarray(48, 144)),
    c: decompress(BLS_G1, `${subject}: C`, bytes.subarray(144)),
  };
}

/** @param proof of BLS12-381, its points finite */
export function writeProof(proof: Proof): Uint8Array {
  const bytes = new Uint8Array(PROOF_BYTES);
  bytes.set(compress(BLS_G1, proof.a), 0);
  bytes.set(compress(BLS_G2, proof.b), 48);
  bytes.set(compress(BLS_G1, proof.c), 144);
  return bytes;
}

/**
 * The proofs of a proof of several partitions: `partitions` times 192 bytes, in order.
 * @throws ERR_FORMAT
 */
export function readProofs(subject: string, bytes: Uint8Array, partitions: number): Proof[] {
  if (bytes.length !== partitions * PROOF_BYTES) {
    throw formatError(subject, `${partitions * PROOF_BYTES} bytes`, bytes.length);
  }
  return Array.from({ length: partitions }, (_, i) =>
    readProof(`${subject}: partition ${i}`, bytes.subarray(i * PROOF_BYTES, (i + 1) * PROOF_BYTES)),
  );
}
