import type { RegisteredProof } from '../circuits/filecoin/registered-proof.ts';
import { registeredProof } from '../circuits/filecoin/registered-proof.ts';
import { type SectorConfig, sectorConfig } from '../circuits/filecoin/sector-size.ts';
import type { PorepChallengeProof, PorepVanilla } from '../circuits/filecoin/vanilla.ts';
import { assert } from '../core/assert.ts';
import { formatError, ProverError } from '../core/errors.ts';
import type { ByteSource } from '../core/source.ts';
import { GIB } from '../core/units.ts';
import { porepChallenge } from './vanilla.ts';
import { chunksOf, JsonReader } from './vanilla-json.ts';
import { bytes32, list, scalar, u64 } from './vanilla-schema.ts';

/** A non-interactive proof of 32 GiB has 126 partitions of 4 MB, wrapped a third more. */
export const C1_BYTES_MAX = GIB;
/** Names of the wrapper of Lotus and Curio. */
const WRAPPER = /^\s*\{\s*"(SectorNum|Phase1Out|SectorSize)"/;
const FIELDS = [
  ...['registered_proof', 'vanilla_proofs', 'comm_r', 'comm_d'],
  ...['replica_id', 'seed', 'ticket'],
] as const;

export interface C1 extends PorepVanilla {
  readonly proof: RegisteredProof;
  /** Of the wrapper. */
  readonly sector?: bigint;
}

export interface C1Options {
  /** Which partitions to keep; the others are left empty. Default: all. */
  readonly keep?: (partition: number) => boolean;
  /** The others' values were checked before: only their brackets are looked at. */
  readonly othersChecked?: boolean;
}

/**
 * The output of PoRep's first phase, as JSON: rust-filecoin-proofs-api's `SealCommitPhase1Output`,
 * bare, or in base64 inside Lotus's `{SectorNum, Phase1Out, SectorSize}`. Read from front to back
 * in bounded memory beside the partitions that are kept.
 * @throws ERR_FORMAT that names the file and the place in it, ERR_TOO_LARGE
 */
export async function readC1(source: ByteSource, options: C1Options = {}): Promise<C1> {
  if (source.size > C1_BYTES_MAX) {
    throw new ProverError('ERR_TOO_LARGE', { subject: source.name, limit: C1_BYTES_MAX });
  }
  const reader = new JsonReader(source.name, chunksOf(source));
  const head = await source.read(0, Math.min(source.size, 1024));
  const c1 = WRAPPER.test(Buffer.from(head).toString('latin1'))
    ? await readWrapped(reader, source.name, options)
    : await readBare(reader, source.name, options);
  await reader.end();
  return c1;
}

async function readWrapped(reader: JsonReader, file: string, options: C1Options): Promise<C1> {
  const read: { c1?: C1; sector?: bigint; size?: bigint } = {};
  await reader.object(async (name) => {
    if (name === 'SectorNum') read.sector = await reader.decode(u64);
    else if (name === 'SectorSize') read.size = await reader.decode(u64);
    else if (name === 'Phase1Out') {
      const inner = new JsonReader(`${file}: Phase1Out`, fromBase64(reader));
      read.c1 = await readBare(inner, file, options);
      await inner.end();
    } else throw reader.error('SectorNum, Phase1Out or SectorSize', 'another name');
  });
  const { c1, sector, size } = read;
  if (c1 === undefined || sector === undefined || size === undefined) {
    throw reader.error('SectorNum, Phase1Out and SectorSize', 'fewer');
  }
  const { bytes } = sectorConfig(c1.proof.sectorSize);
  if (size !== BigInt(bytes)) {
    throw formatError(`${file}: SectorSize`, `${bytes} (${c1.proof.name})`, String(size));
  }
  return { ...c1, sector };
}

/** What a text in padded base64 stands for. */
async function* fromBase64(reader: JsonReader): AsyncGenerator<Uint8Array> {
  let [rest, isPadded] = ['', false];
  for await (const piece of reader.longText()) {
    const text = rest + Buffer.from(piece).toString('latin1');
    const whole = text.slice(0, text.length - (text.length % 4));
    rest = text.slice(whole.length);
    if ((isPadded && text !== '') || !/^[A-Za-z0-9+/]*={0,2}$/.test(whole)) {
      throw reader.error('base64', 'other characters');
    }
    isPadded = whole.endsWith('=');
    yield Buffer.from(whole, 'base64');
  }
  if (rest !== '') throw reader.error('padded base64', 'a part of it');
}

async function readBare(reader: JsonReader, file: string, options: C1Options): Promise<C1> {
  let proofName: string | undefined;
  let vanilla: { readonly config: SectorConfig; readonly partitions: Partitions } | undefined;
  const scalars = new Map<string, bigint>();
  const texts = new Map<string, Uint8Array>();
  const names = await reader.object(async (name) => {
    if (name === 'registered_proof') proofName = await reader.text();
    else if (name === 'vanilla_proofs') vanilla = await readVanilla(reader, options);
    else if (name === 'seed' || name === 'ticket') texts.set(name, await reader.decode(bytes32));
    else if (name === 'comm_r' || name === 'comm_d' || name === 'replica_id') {
      scalars.set(name, await reader.decode(scalar));
    } else throw reader.error(FIELDS.join(', '), 'another name');
  });
  const missing = FIELDS.find((name) => !names.has(name));
  if (missing !== undefined) throw reader.error(`a field ${missing}`, 'none');
  assert(vanilla !== undefined, 'C1: expected proofs after their field');
  const proof = registeredProof(`${file}: registered_proof`, 'porep', proofName);
  if (proof.sectorSize !== vanilla.config.size) {
    const expected = `proofs of ${proof.sectorSize} sectors`;
    throw formatError(`${file}: vanilla_proofs`, expected, vanilla.config.size);
  }
  return {
    ...{ proof, partitions: vanilla.partitions },
    commR: scalars.get('comm_r') as bigint,
    commD: scalars.get('comm_d') as bigint,
    replicaId: scalars.get('replica_id') as bigint,
    seed: texts.get('seed') as Uint8Array,
    ticket: texts.get('ticket') as Uint8Array,
  };
}

type Partitions = readonly (readonly PorepChallengeProof[])[];

/** One name, which says the sector size whatever else the proof is, and its partitions. */
async function readVanilla(
  reader: JsonReader,
  { keep = () => true, othersChecked = false }: C1Options,
): Promise<{ readonly config: SectorConfig; readonly partitions: Partitions }> {
  let config: SectorConfig | undefined;
  const partitions: (readonly PorepChallengeProof[])[] = [];
  await reader.object(async (name) => {
    if (config !== undefined) throw reader.error('one sector size', 'another');
    const { sectorSize } = registeredProof('vanilla_proofs', 'porep', name);
    config = sectorConfig(sectorSize);
    const { challengesPerPartition, nonInteractivePartitions } = config.porep;
    const challenges = list(porepChallenge(config), challengesPerPartition, 'challenge');
    await reader.array('partition', async (partition) => {
      if (partition >= nonInteractivePartitions) {
        throw reader.error(`at most ${nonInteractivePartitions} partitions`, 'more');
      }
      const isKept = keep(partition);
      if (!isKept && othersChecked) await reader.skip();
      const read = isKept || !othersChecked ? await reader.decode(challenges) : [];
      partitions.push(isKept ? read : []);
    });
  });
  if (config === undefined) throw reader.error('proofs of a sector size', 'none');
  return { config, partitions };
}
