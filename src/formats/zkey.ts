import { toHex, viewOf, writeBigIntLE } from '../core/bytes.ts';
import { formatError } from '../core/errors.ts';
import type { ByteSource } from '../core/source.ts';
import { COEFFICIENT_BYTES } from '../groth16/coefficient-rows.ts';
import type { CoefficientRows, PointQuery, ProvingKeySource } from '../groth16/types.ts';
import { declareChecked } from '../groth16/verify.ts';
import { type Curve, curveByModuli, curveOf, type G1Bytes } from '../math/curve.ts';
import { g1Of, g2Of } from '../math/points.ts';
import { ByteReader } from './byte-reader.ts';
import { type RecordStream, recordBytes } from './byte-stream.ts';
import {
  type Container,
  readContainer,
  readSmallSection,
  requireSection,
  type SectionContent,
  writeContainer,
} from './container.ts';
import { INPUTS_MAX } from './limits.ts';
import { checkedFinitePoint, readCheckedPoints, toForm } from './points.ts';

export interface Zkey {
  readonly key: ProvingKeySource;
  /** Contributions to the key's ceremony; 0 is a key of which one person knows the secrets. */
  readonly contributions?: number;
  /** Hex. All zero where whoever made the key did not compute it. */
  readonly circuitHash?: string;
}

const VERSION = 1;
const GROTH16 = 1;
const OTHER_PROTOCOLS: Readonly<Record<number, string>> = { 2: 'PLONK', 10: 'FFLONK' };
const SECTION = { ic: 3, rows: 4, a: 5, bG1: 6, bG2: 7, l: 8, h: 9, contributions: 10 } as const;
const SCALAR_BYTES = 32;
const CIRCUIT_HASH_BYTES = 64;
/** The header of BLS12-381 has 964 bytes. */
const HEADER_BYTES_MAX = 1024;
/** A domain of 2n points needs a root of unity of that order: r - 1 has so many factors 2. */
const TWO_ADICITY = { bn254: 28, 'bls12-381': 32 } as const;

type Header = Pick<ProvingKeySource, 'betaG1' | 'deltaG1' | 'logN'> &
  Omit<ProvingKeySource['verifyingKey'], 'ic' | 'curve'> & {
    readonly curve: Curve;
    readonly wireCount: number;
    readonly publicCount: number;
  };

/**
 * A Groth16 `.zkey`. Every section's length is checked against the header and every point of the
 * verifying key is checked; the points of the queries are not (a backend checks them when it loads
 * the key).
 * @param path where `source` lies, for the slices of the key
 * @throws ERR_FORMAT
 */
export async function readZkey(source: ByteSource, path: string): Promise<Zkey> {
  const container = await readContainer(source, 'zkey', VERSION);
  await requireGroth16(container);
  const header = await readHeader(container);
  const { curve, wireCount, publicCount } = header;
  const inputCount = publicCount + 1;
  const auxCount = wireCount - inputCount;
  const g1Bytes = g1Of(curve.name).byteLength;
  const query = (id: number, count: number, pointBytes = g1Bytes): PointQuery => {
    const { offset, length } = requireSection(container, id, count * pointBytes);
    return { slice: { path, offset, length }, count };
  };
  const key: ProvingKeySource = {
    curve: curve.name,
    format: 'zkey',
    points: 'montgomery-le',
    hBasis: 'odd-lagrange',
    inputCount,
    auxCount,
    logN: header.logN,
    betaG1: header.betaG1,
    deltaG1: header.deltaG1,
    a: query(SECTION.a, wireCount),
    bG1: query(SECTION.bG1, wireCount),
    bG2: query(SECTION.bG2, wireCount, 2 * g1Bytes),
    l: query(SECTION.l, auxCount),
    h: query(SECTION.h, 2 ** header.logN),
    rows: await locateRows(container, path),
    verifyingKey: declareChecked({
      curve: curve.name,
      alphaG1: header.alphaG1,
      betaG2: header.betaG2,
      gammaG2: header.gammaG2,
      deltaG2: header.deltaG2,
      ic: await readIc(container, curve, inputCount),
    }),
  };
  return { key, ...(await readCeremony(container, curve)) };
}

async function requireGroth16(container: Container): Promise<void> {
  const { source } = container;
  const { offset } = requireSection(container, 1, 4);
  const id = viewOf(await source.read(offset, 4)).getUint32(0, true);
  if (id === GROTH16) return;
  throw formatError(`${source.name}: protocol`, 'Groth16', OTHER_PROTOCOLS[id] ?? `number ${id}`);
}

async function readHeader(container: Container): Promise<Header> {
  const subject = `${container.source.name}: header`;
  const reader = new ByteReader(subject, await readSmallSection(container, 2, HEADER_BYTES_MAX));
  const curve = curveByModuli(reader.modulus(), reader.modulus());
  if (curve === undefined) {
    throw formatError(`${subject}: fields`, 'those of BN254 or BLS12-381', 'other fields');
  }
  const [wireCount, publicCount, domainSize] = [reader.u32(), reader.u32(), reader.u32()];
  const [g1, g2] = [g1Of(curve.name), g2Of(curve.name)];
  const readG1 = (name: string) =>
    checkedFinitePoint(g1, 'montgomery-le', `${subject}: ${name}`, reader.take(g1.byteLength));
  const readG2 = (name: string) =>
    checkedFinitePoint(g2, 'montgomery-le', `${subject}: ${name}`, reader.take(g2.byteLength));
  const header = {
    curve,
    wireCount,
    publicCount,
    logN: checkedLogN(`${subject}: domain`, curve, domainSize),
    alphaG1: readG1('alpha'),
    betaG1: readG1('beta in G1'),
    betaG2: readG2('beta in G2'),
    gammaG2: readG2('gamma'),
    deltaG1: readG1('delta in G1'),
    deltaG2: readG2('delta in G2'),
  };
  reader.end();
  if (publicCount >= wireCount) {
    throw formatError(`${subject}: public inputs`, `fewer than ${wireCount} wires`, publicCount);
  }
  if (publicCount >= INPUTS_MAX) {
    throw formatError(`${subject}: public inputs`, `fewer than ${INPUTS_MAX}`, publicCount);
  }
  return header;
}

function checkedLogN(subject: string, curve: Curve, domainSize: number): number {
  const logN = Math.log2(domainSize);
  const limit = TWO_ADICITY[curve.name] - 1;
  if (Number.isInteger(logN) && logN <= limit) return logN;
  throw formatError(subject, `a power of two up to 2^${limit}`, domainSize);
}

async function locateRows(container: Container, path: string): Promise<CoefficientRows> {
  const { source } = container;
  const { offset, length } = requireSection(container, SECTION.rows);
  if (length < 4) throw formatError(`${source.name}: section 4`, 'at least 4 bytes', length);
  const count = viewOf(await source.read(offset, 4)).getUint32(0, true);
  requireSection(container, SECTION.rows, 4 + count * COEFFICIENT_BYTES);
  return { slice: { path, offset: offset + 4, length: length - 4 }, count };
}

/** May hold infinity, for a public input that no row uses. */
async function readIc(container: Container, curve: Curve, count: number): Promise<G1Bytes[]> {
  const g1 = g1Of(curve.name);
  const { offset } = requireSection(container, SECTION.ic, count * g1.byteLength);
  return readCheckedPoints(container.source, g1, 'montgomery-le', 'ic', offset, count);
}

async function readCeremony(
  container: Container,
  curve: Curve,
): Promise<Pick<Zkey, 'contributions' | 'circuitHash'>> {
  const { source, sections } = container;
  const section = sections.get(SECTION.contributions);
  if (section === undefined) return {};
  const subject = `${source.name}: section ${SECTION.contributions}`;
  const headBytes = CIRCUIT_HASH_BYTES + 4;
  if (section.length < headBytes) {
    throw formatError(subject, `at least ${headBytes} bytes`, section.length);
  }
  const head = new ByteReader(subject, await source.read(section.offset, headBytes));
  const circuitHash = toHex(head.take(CIRCUIT_HASH_BYTES));
  const contributions = head.u32();
  // Each holds three points of G1, one of G2, a hash, a type and the length of what follows.
  const bytesMin = headBytes + contributions * (10 * curve.fpBytes + CIRCUIT_HASH_BYTES + 8);
  if (section.length < bytesMin) {
    throw formatError(subject, `at least ${bytesMin} bytes`, section.length);
  }
  return { circuitHash, contributions };
}

/** What a zkey holds: query points in `montgomery-le`, rows as records of `writeCoefficient`. */
export interface ZkeyContent
  extends Pick<ProvingKeySource, 'verifyingKey' | 'betaG1' | 'deltaG1' | 'logN'> {
  readonly rows: RecordStream;
  /** One point for each wire. */
  readonly a: RecordStream;
  readonly bG1: RecordStream;
  readonly bG2: RecordStream;
  /** One point for each auxiliary variable. */
  readonly l: RecordStream;
  /** 2^logN points. */
  readonly h: RecordStream;
}

/** The bytes of a zkey with no contributions and a circuit hash of zeros; snarkjs reads it. */
export function writeZkey(content: ZkeyContent): AsyncGenerator<Uint8Array> {
  const { verifyingKey } = content;
  const g1 = g1Of(verifyingKey.curve);
  const ic = verifyingKey.ic.map((point) => toForm(g1, 'montgomery-le', point));
  const header = headerBytes(content);
  const points = (id: number, records: RecordStream, size = g1.byteLength): SectionContent => ({
    id,
    length: records.count * size,
    bytes: recordBytes(records, size),
  });
  return writeContainer('zkey', VERSION, [
    { id: 1, length: 4, bytes: [u32(GROTH16)] },
    { id: 2, length: header.reduce((sum, part) => sum + part.length, 0), bytes: header },
    points(SECTION.ic, { count: ic.length, bytes: ic }),
    {
      id: SECTION.rows,
      length: 4 + content.rows.count * COEFFICIENT_BYTES,
      bytes: countedRows(content.rows),
    },
    points(SECTION.a, content.a),
    points(SECTION.bG1, content.bG1),
    points(SECTION.bG2, content.bG2, 2 * g1.byteLength),
    points(SECTION.l, content.l),
    points(SECTION.h, content.h),
    {
      id: SECTION.contributions,
      length: CIRCUIT_HASH_BYTES + 4,
      bytes: [new Uint8Array(CIRCUIT_HASH_BYTES), u32(0)],
    },
  ]);
}

function headerBytes({ verifyingKey: vk, a, logN, betaG1, deltaG1 }: ZkeyContent): Uint8Array[] {
  const curve = curveOf(vk.curve);
  const [g1, g2] = [g1Of(vk.curve), g2Of(vk.curve)];
  return [
    u32(curve.fpBytes),
    writeBigIntLE(curve.q, curve.fpBytes),
    u32(SCALAR_BYTES),
    writeBigIntLE(curve.r, SCALAR_BYTES),
    u32(a.count),
    u32(vk.ic.length - 1),
    u32(2 ** logN),
    toForm(g1, 'montgomery-le', vk.alphaG1),
    toForm(g1, 'montgomery-le', betaG1),
    toForm(g2, 'montgomery-le', vk.betaG2),
    toForm(g2, 'montgomery-le', vk.gammaG2),
    toForm(g1, 'montgomery-le', deltaG1),
    toForm(g2, 'montgomery-le', vk.deltaG2),
  ];
}

async function* countedRows(rows: RecordStream): AsyncGenerator<Uint8Array> {
  yield u32(rows.count);
  yield* recordBytes(rows, COEFFICIENT_BYTES);
}

function u32(value: number): Uint8Array {
  const bytes = new Uint8Array(4);
  viewOf(bytes).setUint32(0, value, true);
  return bytes;
}
