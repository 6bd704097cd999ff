import type { z } from '@hono/zod-openapi';
import { ProverError } from '../core/errors.ts';
import type { CircomRequest, FilecoinRequest } from '../jobs/job.ts';
import { readC1Head } from './c1-head.ts';
import type { Call } from './context.ts';
import { statementOf } from './filecoin-statement.ts';
import type { ProveParams } from './methods/prove.ts';
import { INLINE_PAYLOAD_BYTES_MAX, type Payload } from './schemas.ts';

type Params = z.output<typeof ProveParams>;
/** What is proved, and by what. */
type Source =
  | Pick<CircomRequest, 'kind' | 'key' | 'payload'>
  | Pick<FilecoinRequest, 'kind' | 'key' | 'statement' | 'vanilla' | 'partition'>;

const OF_FILECOIN = ['statement', 'miner', 'sector_number', 'vanilla', 'partition'] as const;

/**
 * Which parameters go together depends on the kind. What the request holds itself is stored.
 * @throws ERR_PARAMS; ERR_PAYLOAD_UNKNOWN, ERR_FORMAT of a C1 that lacks what the statement needs
 */
export async function sourceOf(params: Params, call: Call): Promise<Source> {
  const { kind, key, payload, vanilla, partition } = params;
  if (kind === 'circom') {
    for (const name of OF_FILECOIN) refuse(params, name, kind);
    if (key === undefined) throw wrong('key', 'a name or SHA-256 for circom', 'nothing');
    if (payload === undefined) throw wrong('payload', 'a witness for circom', 'nothing');
    return { kind, key, payload: await stored(payload, call) };
  }
  refuse(params, 'payload', kind);
  if (vanilla === undefined) throw wrong('vanilla', `vanilla proofs for ${kind}`, 'nothing');
  checkStatement(params);
  const files: string[] = [];
  for (const file of vanilla) files.push(await stored(file, call));
  return {
    kind,
    ...(key !== undefined && { key }),
    statement: await statementFor(params, files, call),
    vanilla: files,
    ...(partition !== undefined && { partition }),
  };
}

function checkStatement(params: Params): void {
  const { kind, statement, miner } = params;
  if (kind !== 'porep' || statement !== undefined) {
    for (const name of ['miner', 'sector_number'] as const) {
      refuse(params, name, kind === 'porep' ? 'porep with a statement' : kind);
    }
  }
  if (statement !== undefined || miner !== undefined) return;
  const expected = kind === 'porep' ? 'a statement, or miner and sector_number' : 'a statement';
  throw wrong('statement', `${expected} for ${kind}`, 'nothing');
}

/** @returns SHA-256 of the stored statement */
async function statementFor(params: Params, files: readonly string[], call: Call): Promise<string> {
  const { kind, statement } = params;
  if (statement === undefined) return store(await ofC1(params, files, call), call);
  if ('sha256' in statement) return statement.sha256 as string;
  return store(new TextEncoder().encode(JSON.stringify({ kind, ...statement })), call);
}

/** What a PoRep's statement says beside its miner and sector stands in its vanilla proof. */
async function ofC1(
  { miner = '', sector_number }: Params,
  [file = '']: readonly string[],
  { services }: Call,
): Promise<Uint8Array> {
  const head = await readC1Head(services.payloads.read(file));
  const sector = sector_number ?? head.sector;
  if (sector === undefined) {
    const expected = 'the number of the sector, which the vanilla proof does not say';
    throw wrong('sector_number', expected, 'nothing');
  }
  const minerId = BigInt(miner.slice('f0'.length));
  const { registeredProof } = head;
  return statementOf.porep({ registeredProof, minerId, sector: BigInt(sector) }, head);
}

async function stored(payload: z.output<typeof Payload>, call: Call): Promise<string> {
  if ('sha256' in payload) return payload.sha256;
  return store(Buffer.from(payload.base64, 'base64'), call);
}

async function store(bytes: Uint8Array, { services }: Call): Promise<string> {
  async function* body() {
    yield bytes;
  }
  return (await services.payloads.put(body(), INLINE_PAYLOAD_BYTES_MAX)).sha256;
}

function refuse(params: Params, name: keyof Params, kind: string): void {
  if (params[name] !== undefined) throw wrong(name, `no such parameter for ${kind}`, 'one');
}

function wrong(name: keyof Params, expected: string, actual: string): ProverError {
  return new ProverError('ERR_PARAMS', { subject: `params.${name}`, expected, actual });
}
