import { readBigIntBE, readBigIntLE, writeBigIntBE, writeBigIntLE } from '../core/bytes.ts';
import { formatError, ProverError } from '../core/errors.ts';
import { JsonError, type JsonLimits, parseJson } from '../core/json.ts';
import type { ByteSource } from '../core/source.ts';
import { MIB } from '../core/units.ts';
import type { Proof, VerifyingKey } from '../groth16/types.ts';
import type { G1Bytes, G2Bytes } from '../math/curve.ts';
import { type CurveName, curveOf, type FrCanonicalLE } from '../math/curve.ts';
import { g1Of, g2Of, pointFromBytes } from '../math/points.ts';
import { INPUTS_MAX } from './limits.ts';

/**
 * snarkjs's JSON. Numbers are decimal strings; points are [x, y, z], a coordinate of G2 is
 * [c0, c1]. z is 1, or 0 at infinity, which is written [0, 1, 0].
 */
export type SnarkjsG1 = readonly [string, string, string];
export type SnarkjsPair = readonly [string, string];
export type SnarkjsG2 = readonly [SnarkjsPair, SnarkjsPair, SnarkjsPair];
export type SnarkjsCurve = 'bn128' | 'bls12381';

/** The order of the keys is that of snarkjs's files. */
export interface SnarkjsProof {
  readonly pi_a: SnarkjsG1;
  readonly pi_b: SnarkjsG2;
  readonly pi_c: SnarkjsG1;
  readonly protocol: 'groth16';
  readonly curve: SnarkjsCurve;
}

export interface SnarkjsVerificationKey {
  readonly protocol: 'groth16';
  readonly curve: SnarkjsCurve;
  readonly nPublic: number;
  readonly vk_alpha_1: SnarkjsG1;
  readonly vk_beta_2: SnarkjsG2;
  readonly vk_gamma_2: SnarkjsG2;
  readonly vk_delta_2: SnarkjsG2;
  /** e(alpha, beta) in F_q^12 = F_q^6[w] = F_q^2[v][w]. Ours is written, never read. */
  readonly vk_alphabeta_12: readonly (readonly SnarkjsPair[])[];
  readonly IC: readonly SnarkjsG1[];
}

export const JSON_BYTES_MAX = 16 * MIB;
/** snarkjs's own files have five levels, four values for each public input and a few names. */
const JSON_LIMITS: JsonLimits = { levels: 16, values: 6 * INPUTS_MAX, names: 1000 };
/** Of any number below 2^384. */
const DIGITS_MAX = 116;
const CURVE_NAMES: Readonly<Record<CurveName, SnarkjsCurve>> = {
  bn254: 'bn128',
  'bls12-381': 'bls12381',
};
const SPELLINGS: ReadonlyMap<string, CurveName> = new Map([
  ['bn128', 'bn254'],
  ['bn254', 'bn254'],
  ['bls12381', 'bls12-381'],
]);

/** The value of a JSON file. @throws ERR_FORMAT, ERR_TOO_LARGE */
export async function readJson(source: ByteSource): Promise<unknown> {
  if (source.size > JSON_BYTES_MAX) {
    throw new ProverError('ERR_TOO_LARGE', { subject: source.name, limit: JSON_BYTES_MAX });
  }
  try {
    return parseJson(await source.read(0, source.size), JSON_LIMITS);
  } catch (thrown) {
    if (!(thrown instanceof JsonError)) throw thrown;
    throw formatError(source.name, thrown.expected, 'something else');
  }
}

/** The text of snarkjs's files: one space a level, `[\n]` for no items, no newline at the end. */
export function snarkjsText(
  value: SnarkjsProof | SnarkjsVerificationKey | readonly string[],
): string {
  if (Array.isArray(value) && value.length === 0) return '[\n]';
  return JSON.stringify(value, null, 1);
}

/**
 * @param curve of the verifying key; a proof that names none is taken to be of it
 * @returns points below q that may lie off the curve: `verify` checks them
 * @throws ERR_FORMAT
 */
export function parseSnarkjsProof(value: unknown, curve: CurveName): Proof {
  const object = asObject('proof', value);
  checkProtocol('proof', object);
  const named = parseCurve('proof', object);
  if (named !== undefined && named !== curve) {
    throw formatError('proof: curve', `${curve}, the verification key's`, named);
  }
  return {
    curve,
    a: parseG1('proof: pi_a', object.pi_a, curve),
    b: parseG2('proof: pi_b', object.pi_b, curve),
    c: parseG1('proof: pi_c', object.pi_c, curve),
  };
}

/**
 * A key that names no curve is of BN254, the only curve of the tools that leave it out.
 * @returns points below q that may lie off the curve: `verify` checks them
 * @throws ERR_FORMAT
 */
export function parseVerificationKey(value: unknown): VerifyingKey {
  const subject = 'verification key';
  const object = asObject(subject, value);
  checkProtocol(subject, object);
  const curve = parseCurve(subject, object) ?? 'bn254';
  const ic = asArray(`${subject}: IC`, object.IC, INPUTS_MAX);
  if (ic.length === 0) throw formatError(`${subject}: IC`, 'at least 1 point', 0);
  if (object.nPublic !== undefined && object.nPublic !== ic.length - 1) {
    throw formatError(`${subject}: nPublic`, `${ic.length - 1} (IC less one)`, 'another value');
  }
  return {
    curve,
    alphaG1: parseG1(`${subject}: vk_alpha_1`, object.vk_alpha_1, curve),
    betaG2: parseG2(`${subject}: vk_beta_2`, object.vk_beta_2, curve),
    gammaG2: parseG2(`${subject}: vk_gamma_2`, object.vk_gamma_2, curve),
    deltaG2: parseG2(`${subject}: vk_delta_2`, object.vk_delta_2, curve),
    ic: ic.map((point, i) => parseG1(`${subject}: IC[${i}]`, point, curve)),
  };
}

/**
 * Public inputs without the constant 1.
 * @throws ERR_FORMAT, also for a number that is not below r
 */
export function parsePublicInputs(value: unknown, curve: CurveName): FrCanonicalLE[] {
  const { r } = curveOf(curve);
  return asArray('public inputs', value, INPUTS_MAX - 1).map((input, i) => {
    const number = parseNumber(`public input ${i}`, input, r, 'the group order');
    return writeBigIntLE(number, 32) as FrCanonicalLE;
  });
}

export function writePublicInputs(inputs: readonly FrCanonicalLE[]): string[] {
  return inputs.map((input) => readBigIntLE(input).toString());
}

export function writeSnarkjsProof(proof: Proof): SnarkjsProof {
  return {
    pi_a: writeG1(proof.a),
    pi_b: writeG2(proof.b),
    pi_c: writeG1(proof.c),
    protocol: 'groth16',
    curve: CURVE_NAMES[proof.curve],
  };
}

/** Computes one pairing. @param vk of points on the curve and in their groups */
export function writeVerificationKey(vk: VerifyingKey): SnarkjsVerificationKey {
  return {
    protocol: 'groth16',
    curve: CURVE_NAMES[vk.curve],
    nPublic: vk.ic.length - 1,
    vk_alpha_1: writeG1(vk.alphaG1),
    vk_beta_2: writeG2(vk.betaG2),
    vk_gamma_2: writeG2(vk.gammaG2),
    vk_delta_2: writeG2(vk.deltaG2),
    vk_alphabeta_12: alphaBeta(vk),
    IC: vk.ic.map(writeG1),
  };
}

function alphaBeta(vk: VerifyingKey): SnarkjsPair[][] {
  const { c0, c1 } = curveOf(vk.curve).noble.pairing(
    pointFromBytes(g1Of(vk.curve), 'verifying key: alpha', vk.alphaG1),
    pointFromBytes(g2Of(vk.curve), 'verifying key: beta', vk.betaG2),
  );
  return [c0, c1].map((half) =>
    [half.c0, half.c1, half.c2].map((x) => [x.c0.toString(), x.c1.toString()] as const),
  );
}

function writeG1(bytes: G1Bytes): SnarkjsG1 {
  const [x, y] = numbersOf(bytes, 2) as [string, string];
  return x === '0' && y === '0' ? ['0', '1', '0'] : [x, y, '1'];
}

function writeG2(bytes: G2Bytes): SnarkjsG2 {
  const numbers = numbersOf(bytes, 4);
  const [x1, x0, y1, y0] = numbers as [string, string, string, string];
  if (numbers.every((n) => n === '0')) {
    return [
      ['0', '0'],
      ['1', '0'],
      ['0', '0'],
    ];
  }
  return [
    [x0, x1],
    [y0, y1],
    ['1', '0'],
  ];
}

function numbersOf(bytes: Uint8Array, count: number): string[] {
  const size = bytes.length / count;
  return Array.from({ length: count }, (_, i) =>
    readBigIntBE(bytes.subarray(i * size, (i + 1) * size)).toString(),
  );
}

function parseG1(subject: string, value: unknown, curve: CurveName): G1Bytes {
  const point = asTuple(subject, value, 3);
  const coordinates = point.map((number, i) => [
    parseCoordinate(`${subject}[${i}]`, number, curve),
  ]);
  return pointBytes(subject, coordinates, curve) as G1Bytes;
}

function parseG2(subject: string, value: unknown, curve: CurveName): G2Bytes {
  const point = asTuple(subject, value, 3);
  const coordinates = point.map((pair, i) =>
    asTuple(`${subject}[${i}]`, pair, 2).map((number, j) =>
      parseCoordinate(`${subject}[${i}][${j}]`, number, curve),
    ),
  );
  return pointBytes(subject, coordinates, curve) as G2Bytes;
}

/** @param coordinates x, y, z as they stand, each c0 first */
function pointBytes(subject: string, coordinates: bigint[][], curve: CurveName): Uint8Array {
  const [x, y, z] = coordinates as [bigint[], bigint[], bigint[]];
  const { fpBytes } = curveOf(curve);
  const bytes = new Uint8Array(2 * x.length * fpBytes);
  if (isNumber(z, 0n) && isNumber(x, 0n) && isNumber(y, 1n)) return bytes;
  if (!isNumber(z, 1n)) {
    throw formatError(subject, 'an affine point (z = 1) or infinity (0, 1, 0)', 'another z');
  }
  if (isNumber(x, 0n) && isNumber(y, 0n)) {
    throw formatError(subject, 'a point of the curve', 'the origin');
  }
  [...x.toReversed(), ...y.toReversed()].forEach((number, i) => {
    bytes.set(writeBigIntBE(number, fpBytes), i * fpBytes);
  });
  return bytes;
}

function isNumber([c0, c1 = 0n]: bigint[], number: bigint): boolean {
  return c0 === number && c1 === 0n;
}

function parseCoordinate(subject: string, value: unknown, curve: CurveName): bigint {
  return parseNumber(subject, value, curveOf(curve).q, 'the field modulus');
}

/** Messages never hold the value: a number where none should be may be a secret. */
function parseNumber(subject: string, value: unknown, limit: bigint, limitName: string): bigint {
  if (typeof value !== 'string') throw formatError(subject, 'a decimal string', kindOf(value));
  if (value.length > DIGITS_MAX || !/^(0|[1-9]\d*)$/.test(value)) {
    throw formatError(subject, `a decimal string below ${limitName}`, 'another string');
  }
  const number = BigInt(value);
  if (number < limit) return number;
  throw formatError(subject, `a number below ${limitName}`, 'a larger one');
}

function checkProtocol(subject: string, object: Readonly<Record<string, unknown>>): void {
  const { protocol } = object;
  if (protocol === undefined || protocol === 'groth16') return;
  throw formatError(`${subject}: protocol`, 'groth16', describeName(protocol));
}

/** @returns undefined where the object names none, as rapidsnark's do not */
function parseCurve(
  subject: string,
  object: Readonly<Record<string, unknown>>,
): CurveName | undefined {
  if (object.curve === undefined) return undefined;
  const name = describeName(object.curve);
  const curve = SPELLINGS.get(name.toLowerCase().replaceAll('-', ''));
  if (curve !== undefined) return curve;
  throw formatError(`${subject}: curve`, 'bn128 or bls12381', name);
}

function describeName(value: unknown): string {
  if (typeof value !== 'string') return kindOf(value);
  return /^[\w-]{1,20}$/.test(value) ? value : 'another name';
}

function asObject(subject: string, value: unknown): Readonly<Record<string, unknown>> {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
    return value as Record<string, unknown>;
  }
  throw formatError(subject, 'a JSON object', kindOf(value));
}

function asArray(subject: string, value: unknown, limit: number): readonly unknown[] {
  if (!Array.isArray(value)) throw formatError(subject, 'an array', kindOf(value));
  if (value.length > limit) throw formatError(subject, `at most ${limit} items`, value.length);
  return value;
}

function asTuple(subject: string, value: unknown, length: number): readonly unknown[] {
  const items = asArray(subject, value, length);
  if (items.length === length) return items;
  throw formatError(subject, `${length} items`, items.length);
}

function kindOf(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (value === null) return 'null';
  return Array.isArray(value) ? 'an array' : `a ${typeof value}`;
}
