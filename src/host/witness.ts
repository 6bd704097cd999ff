import { basename } from 'node:path';
import { formatError, ProverError } from '../core/errors.ts';
import { JsonError, type JsonLimits, parseJson } from '../core/json.ts';
import { readSmallFile } from '../core/small-file.ts';
import { type ByteSource, fromBytes, openFile } from '../core/source.ts';
import { MIB } from '../core/units.ts';
import { checkCanonical, readWtns } from '../formats/wtns.ts';
import type { ProvingKeySource } from '../groth16/types.ts';
import type { CurveName, FrCanonicalLE } from '../math/curve.ts';
import type { Assignment } from './assignment.ts';
import { checkDigest } from './digest.ts';
import type { WitnessSource } from './protocol.ts';

const INPUT_BYTES_MAX = 64 * MIB;
/** The largest circuits in use have a few thousand input signals. */
const INPUT_LIMITS: JsonLimits = { levels: 16, values: 1_000_000, names: 100_000 };
const WASM_BYTES_MAX = 512 * MIB;

/** The values of a circom circuit's wires, the first of them 1. */
export interface Witness extends Assignment {
  readonly curve: CurveName;
  readonly source: ByteSource;
  /** Where the values begin in `source`. */
  readonly offset: number;
  readonly wires: number;
}

export async function openWitness(
  from: WitnessSource,
  key: ProvingKeySource,
  signal: AbortSignal,
): Promise<Witness> {
  const wires = key.inputCount + key.auxCount;
  if ('path' in from && from.sha256 !== undefined)
    await checkDigest(from.path, from.sha256, signal);
  const bytes = 'path' in from ? undefined : await calculate(from.wasmPath, from.inputPath);
  const source =
    'path' in from
      ? await openFile(from.path, from.sha256 === undefined ? undefined : 'witness')
      : fromBytes(`witness of ${basename(from.inputPath)}`, bytes as Uint8Array);
  try {
    const wtns = await readWtns(source);
    if (wtns.curve !== key.curve) {
      throw formatError(`${source.name}: field`, `that of ${key.curve}`, `that of ${wtns.curve}`);
    }
    if (wtns.count !== wires) {
      throw formatError(source.name, `${wires} values (the wires of the key)`, wtns.count);
    }
    await checkCanonical(source, wtns, signal);
    const inputs = await source.read(wtns.offset + 32, 32 * (key.inputCount - 1));
    return {
      curve: key.curve,
      source,
      offset: wtns.offset,
      wires,
      input: {
        kind: 'witness',
        witness:
          'path' in from
            ? {
                n: wires,
                slice: { path: from.path, offset: wtns.offset, length: 32 * wires },
              }
            : { n: wires, bytes: await source.read(wtns.offset, 32 * wires) },
      },
      publicInputs: Array.from(
        { length: key.inputCount - 1 },
        (_, i) => inputs.subarray(32 * i, 32 * (i + 1)) as FrCanonicalLE,
      ),
      [Symbol.asyncDispose]: () => source[Symbol.asyncDispose](),
    };
  } catch (thrown) {
    await source[Symbol.asyncDispose]();
    throw thrown;
  }
}

/** Runs the circuit's own witness generator. @returns the bytes of a `.wtns` file */
async function calculate(wasmPath: string, inputPath: string): Promise<Uint8Array> {
  const wasm = readSmallFile(wasmPath, WASM_BYTES_MAX, basename(wasmPath));
  const name = basename(inputPath);
  const input = parseInput(name, readSmallFile(inputPath, INPUT_BYTES_MAX, name));
  const { WitnessCalculatorBuilder } = await import('circom_runtime');
  const restore = silenceConsole();
  try {
    const calculator = await WitnessCalculatorBuilder(wasm);
    return await calculator.calculateWTNSBin(input, true);
  } catch (cause) {
    // The cause is left out: circuits may put values into their messages.
    throw new ProverError('ERR_WITNESS_CALCULATION', { reason: safeReason(cause) });
  } finally {
    restore();
  }
}

function parseInput(name: string, bytes: Buffer): object {
  let input: unknown;
  try {
    input = parseJson(bytes, INPUT_LIMITS);
  } catch (thrown) {
    if (!(thrown instanceof JsonError)) throw thrown;
    throw formatError(name, thrown.expected, 'something else');
  }
  if (typeof input !== 'object' || input === null || Array.isArray(input)) {
    throw formatError(name, 'a JSON object of input signals', 'another JSON value');
  }
  for (const [signal, value] of Object.entries(input)) checkSignal(`${name}: ${signal}`, value);
  return input;
}

/**
 * Signals are integers, or arrays of them; numbers that JSON cannot hold exactly must be strings.
 */
function checkSignal(subject: string, signal: unknown): void {
  const waiting = [signal];
  for (let value = waiting.pop(); value !== undefined; value = waiting.pop()) {
    if (Array.isArray(value)) {
      for (const item of value) waiting.push(item ?? null);
    } else if (typeof value === 'number' ? !Number.isSafeInteger(value) : !isInteger(value)) {
      throw formatError(subject, 'integers, as strings beyond 2^53', `a ${typeof value}`);
    }
  }
}

function isInteger(value: unknown): boolean {
  return typeof value === 'string' && /^-?(\d{1,1000}|0x[0-9a-f]{1,1000})$/i.test(value);
}

/** The parts of a message that name a place in the circuit; anything else may hold a value. */
function safeReason(cause: unknown): string {
  const text = cause instanceof Error ? cause.message : '';
  const parts = text.match(
    /Assert Failed|Error in template \w+ line: \d+|Not all inputs have been set. Only \d+ out of \d+|Signal \w+ not found|(?:Not enough|Too many) values for input signal \w+|Not enough memory|Input signal array access exceeds the size/g,
  );
  return parts?.join(', ') ?? 'expected a circuit that accepts this input, got a failure';
}

/** circom_runtime prints what the circuit logs, values included. */
function silenceConsole(): () => void {
  const { log, warn, error } = console;
  const silent = () => {};
  Object.assign(console, { log: silent, warn: silent, error: silent });
  return () => void Object.assign(console, { log, warn, error });
}
