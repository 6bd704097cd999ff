import type { Commitment } from '../filecoin-statement.ts';
import { Base64Decoder } from './base64.ts';
import type { Spilled } from './json-spill.ts';
import type { StoredBytes } from './stored-bytes.ts';

/** A parameter is not what its method takes; the message is the one of Go's encoding/json. */
export class GoTypeError extends Error {
  override readonly name = 'GoTypeError';
}

/** Bytes of a request: those of a long string are on disk already. */
export type GoBytes = { readonly bytes: Uint8Array } | { readonly stored: StoredBytes };

/** How a parameter is read. Absent fields are zero and names match in any case, as in Go. */
export interface GoType<T> {
  /** As Go calls it. */
  readonly name: string;
  /** @throws GoTypeError, Base64Error, and what storing a long string has thrown */
  decode(value: unknown, spilled: Spills): T;
}

/** Long strings of the request by the names that stand for them. */
export type Spills = ReadonlyMap<string, Spilled<StoredBytes>>;

function typeError(value: unknown, name: string): GoTypeError {
  const kind =
    typeof value === 'number'
      ? `number ${value}`
      : typeof value === 'boolean'
        ? 'bool'
        : Array.isArray(value)
          ? 'array'
          : typeof value;
  return new GoTypeError(`json: cannot unmarshal ${kind} into Go value of type ${name}`);
}

export function uint64(name: string): GoType<number> {
  return {
    name,
    decode(value) {
      if (value === null || value === undefined) return 0;
      if (Number.isSafeInteger(value) && (value as number) >= 0) return value as number;
      throw typeError(value, name);
    },
  };
}

export function boolean(): GoType<boolean> {
  return {
    name: 'bool',
    decode(value) {
      if (value === null || value === undefined) return false;
      if (typeof value === 'boolean') return value;
      throw typeError(value, 'bool');
    },
  };
}

export function text(name: string): GoType<string> {
  return {
    name,
    decode(value) {
      if (value === null || value === undefined) return '';
      if (typeof value === 'string') return value;
      throw typeError(value, name);
    },
  };
}

export function bytes(name: string): GoType<GoBytes> {
  return {
    name,
    decode(value, spilled) {
      if (value === null || value === undefined) return { bytes: new Uint8Array(0) };
      if (typeof value !== 'string') throw typeError(value, name);
      const aside = spilled.get(value);
      if (aside === undefined) return { bytes: fromBase64(value) };
      if ('error' in aside) throw aside.error;
      return { stored: aside.value };
    },
  };
}

/** Longer than any list that a miner sends: a partition of WindowPoSt has 2,349 sectors. */
const SLICE_MAX = 4096;

export function slice<T>(item: GoType<T>, name = `[]${item.name}`): GoType<readonly T[]> {
  return {
    name,
    decode(value, spilled) {
      if (value === null || value === undefined) return [];
      if (!Array.isArray(value)) throw typeError(value, name);
      if (value.length > SLICE_MAX) {
        throw new GoTypeError(`${name}: expected at most ${SLICE_MAX} items, got ${value.length}`);
      }
      return value.map((each) => item.decode(each, spilled));
    },
  };
}

type Fields = Readonly<Record<string, GoType<unknown>>>;
type Struct<F extends Fields> = {
  readonly [K in keyof F]: F[K] extends GoType<infer T> ? T : never;
};

export function struct<F extends Fields>(name: string, fields: F): GoType<Struct<F>> {
  return {
    name,
    decode(value, spilled) {
      if (
        value !== null &&
        value !== undefined &&
        (typeof value !== 'object' || Array.isArray(value))
      ) {
        throw typeError(value, name);
      }
      const given = new Map(
        Object.entries(value ?? {}).map(([field, each]) => [field.toLowerCase(), each]),
      );
      const decoded = Object.entries(fields).map(([field, type]) => [
        field,
        type.decode(given.get(field.toLowerCase()), spilled),
      ]);
      return Object.fromEntries(decoded) as Struct<F>;
    },
  };
}

/** Of a type that no method of ours looks at. */
export const anything: GoType<unknown> = { name: 'interface {}', decode: (value) => value };

const CID_CHARS_MAX = 256;

/** `{"/": "baga…"}`; what it is the CID of, the statement's reader checks. */
export const cid: GoType<Commitment> = {
  name: 'cid.Cid',
  decode(value) {
    const inner = typeof value === 'object' && value !== null ? Object.entries(value) : [];
    const [name, link] = inner[0] ?? [];
    if (
      inner.length === 1 &&
      name === '/' &&
      typeof link === 'string' &&
      link.length <= CID_CHARS_MAX
    ) {
      return { '/': link };
    }
    throw new GoTypeError('invalid cid: expected an object of one link');
  },
};

function fromBase64(value: string): Uint8Array {
  const decoder = new Base64Decoder();
  const decoded = decoder.push(Buffer.from(value));
  decoder.end();
  return decoded;
}

export const sectorId = struct('abi.SectorID', {
  Miner: uint64('abi.ActorID'),
  Number: uint64('abi.SectorNumber'),
});
export type SectorId = ReturnType<typeof sectorId.decode>;

export const sectorRef = struct('storiface.SectorRef', {
  ID: sectorId,
  ProofType: uint64('abi.RegisteredSealProof'),
});

export const postSector = struct('storiface.PostSectorChallenge', {
  SealProof: uint64('abi.RegisteredSealProof'),
  SectorNumber: uint64('abi.SectorNumber'),
  SealedCID: cid,
  Challenge: slice(uint64('uint64')),
  Update: boolean(),
});
export type PostSector = ReturnType<typeof postSector.decode>;
