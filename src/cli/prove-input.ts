import type { BackendName } from '../backend/backend.ts';
import { openFile } from '../core/source.ts';
import { readJson } from '../formats/snarkjs-json.ts';
import { parseStatement } from '../formats/statement.ts';
import { chunksOf } from '../host/digest.ts';
import type { WitnessSource } from '../host/protocol.ts';
import { readC1Head } from '../rpc/c1-head.ts';
import { statementOf } from '../rpc/filecoin-statement.ts';
import type { Io } from './io.ts';
import { keyFor, usage } from './options.ts';
import type { CircomInput, ProveInput, StatementInput } from './wiring.ts';

/** The options that say what is proved. */
export interface ProofOptions {
  readonly key?: string;
  readonly witness?: string;
  readonly input?: string;
  readonly wasm?: string;
  readonly r1cs?: string;
  readonly public?: string;
  readonly statement?: string;
  readonly vanilla?: readonly string[];
  readonly miner?: string;
  readonly sectorNumber?: string;
  readonly partition?: string;
  readonly backend?: BackendName;
  readonly server?: string;
}

const OF_CIRCOM = ['witness', 'input', 'wasm', 'r1cs', 'public'] as const;
const OF_FILECOIN = ['statement', 'vanilla', 'miner', 'sectorNumber', 'partition'] as const;

/** @throws ERR_PARAMS, ERR_FILE, ERR_FORMAT */
export async function proveInput(options: ProofOptions, io: Io): Promise<ProveInput> {
  const given = (names: readonly (keyof ProofOptions)[]) =>
    names.find((name) => options[name] !== undefined);
  const [circom, filecoin] = [given(OF_CIRCOM), given(OF_FILECOIN)];
  if (circom !== undefined && filecoin !== undefined) {
    throw usage('options', 'those of circom or those of Filecoin', `${circom} and ${filecoin}`);
  }
  return filecoin === undefined ? await circomInput(options, io) : statementInput(options, io);
}

async function circomInput(options: ProofOptions, io: Io): Promise<CircomInput> {
  const { key, r1cs, backend, server } = options;
  if (key === undefined) throw usage('--key', 'the key of a circom circuit', 'none');
  const witness = witnessOf(options);
  if (server !== undefined && (r1cs !== undefined || !('path' in witness))) {
    throw usage('--server', '--witness alone', r1cs === undefined ? '--input' : '--r1cs');
  }
  return {
    key: await keyFor(server, key, io),
    witness,
    ...(r1cs !== undefined && { r1csPath: r1cs }),
    ...(backend !== undefined && { backend }),
  };
}

function witnessOf({ witness, input, wasm }: ProofOptions): WitnessSource {
  const expected = 'either --witness, or --input and --wasm';
  if (witness !== undefined && input === undefined && wasm === undefined) return { path: witness };
  if (witness !== undefined) throw usage('witness', expected, 'both');
  if (input !== undefined && wasm !== undefined) return { inputPath: input, wasmPath: wasm };
  if (input !== undefined) throw usage('witness', expected, '--input alone');
  throw usage('witness', expected, wasm === undefined ? 'neither' : '--wasm alone');
}

async function statementInput(options: ProofOptions, io: Io): Promise<StatementInput> {
  const { vanilla, key, partition, backend, server } = options;
  if (vanilla === undefined) throw usage('--vanilla', 'files of vanilla proofs', 'none');
  if (partition !== undefined && !/^\d{1,4}$/.test(partition)) {
    throw usage('--partition', 'a number', partition);
  }
  const statement = await statementFor(options, vanilla, io);
  return {
    kind: parseStatement(statement).kind,
    statement,
    vanilla,
    ...(partition !== undefined && { partition: Number(partition) }),
    ...(key !== undefined && { key: await keyFor(server, key, io) }),
    ...(backend !== undefined && { backend }),
  };
}

async function statementFor(
  { statement, miner, sectorNumber }: ProofOptions,
  vanilla: readonly string[],
  io: Io,
): Promise<object> {
  if (statement !== undefined && (miner !== undefined || sectorNumber !== undefined)) {
    const actual = miner === undefined ? '--sector-number' : '--miner';
    throw usage('--statement', 'nothing that it says itself', actual);
  }
  if (statement !== undefined) {
    await using source = await openFile(statement);
    return (await readJson(source)) as object;
  }
  const minerId = /^[ft]0(\d{1,20})$/.exec(miner ?? '')?.[1];
  if (minerId === undefined) {
    const expected = 'an address such as f01000, or a --statement';
    throw usage('--miner', expected, miner ?? 'none');
  }
  return await ofC1(BigInt(minerId), sectorNumber, vanilla[0] as string, io);
}

async function ofC1(minerId: bigint, number: string | undefined, path: string, io: Io) {
  const head = await readC1Head(chunksOf(path, io.interrupt));
  const sector = number ?? head.sector;
  if (sector === undefined || !/^\d{1,20}$/.test(sector)) {
    throw usage('--sector-number', 'a number, which a bare C1 does not say', sector ?? 'none');
  }
  const { registeredProof } = head;
  const encoded = statementOf.porep({ registeredProof, minerId, sector: BigInt(sector) }, head);
  return JSON.parse(new TextDecoder().decode(encoded)) as object;
}
