import { fstatSync, writeSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { addAbortSignal } from 'node:stream';
import type { Command } from 'commander';
import { registeredProof } from '../circuits/filecoin/registered-proof.ts';
import { sectorConfig } from '../circuits/filecoin/sector-size.ts';
import { toHex, writeBigIntLE } from '../core/bytes.ts';
import { openFile } from '../core/source.ts';
import { GIB } from '../core/units.ts';
import { readSectorProof } from '../formats/vanilla.ts';
import { PayloadFolder } from '../jobs/payloads.ts';
import { errorDescriber } from '../rpc/errors.ts';
import { statementOf } from '../rpc/filecoin-statement.ts';
import { WorkerEndpoint } from '../rpc/lotus/endpoint.ts';
import { faultReply, GoJsonRpc, type Reply, RpcFault } from '../rpc/lotus/envelope.ts';
import { bytes, cid, type GoBytes, slice, uint64 } from '../rpc/lotus/go-values.ts';
import {
  BODY_BYTES_MAX,
  BodyTooLargeError,
  readSpilling,
  type SpilledText,
} from '../rpc/lotus/json-spill.ts';
import { type StoredBytes, storeBytes, stored } from '../rpc/lotus/stored-bytes.ts';
import { method, type WorkerMethod } from '../rpc/lotus/worker-methods.ts';
import type { Io } from './io.ts';
import { document } from './manual.ts';
import { flagsOf, settingOption, usage } from './options.ts';
import type { Act } from './program.ts';
import { EXIT } from './report.ts';
import type { Engine, StatementInput, Wiring } from './wiring.ts';

type Options = Readonly<Record<string, unknown>> & { readonly fd?: string };

export function defineFfi(program: Command, act: Act): void {
  document(program.command('ffi'), {
    summary: 'answer one call of the proofs API',
    about: `
      Reads one JSON-RPC request from standard input, proves, and writes the response to standard
      output, or with --fd to another open descriptor: what Curio's ffiselect asks of a process.
      Methods, their parameters by position and bytes in base64:
      FFI.SealCommitPhase2 [c1, sector, miner];
      FFI.GenerateWinningPoStWithVanilla [proofType, miner, randomness, vanilla];
      FFI.GenerateSinglePartitionWindowPoStWithVanilla
      [proofType, miner, randomness, vanilla, partition];
      FFI.GenerateUpdateProofWithVanilla [proofType, oldCID, sealedCID, unsealedCID, vanilla].

      Its keys are those of "proofline keys". Each proof is verified before it is answered.`,
    examples: [
      ['proofline ffi < request.json > response.json', 'one proof'],
      ['proofline ffi --fd 3 < request.json 3> response.json', 'as ffiselect reads it'],
    ],
    exits: [
      ['0', 'answered, with a proof'],
      ['2', 'wrong usage'],
      ['3', 'answered with an error, which the response holds; or failed'],
      ['130', 'interrupted (143 by SIGTERM)'],
    ],
  })
    .option('--fd <number>', 'descriptor that takes the response (default: standard output)')
    .addOption(settingOption('dataDir'))
    .addOption(settingOption('threads'))
    .action((options: Options) => act((wiring, io) => answer(options, wiring, io)));
}

async function answer({ fd, ...options }: Options, wiring: Wiring, io: Io): Promise<number> {
  if (fd !== undefined && !isWritable(fd)) throw usage('--fd', 'an open descriptor', fd);
  const folder = await mkdtemp(join(tmpdir(), 'proofline-ffi-'));
  try {
    const payloads = new PayloadFolder({ folder, bytesMax: GIB, inUse: () => true });
    const { text } = await reply(payloads, () => wiring.openEngine(flagsOf(options)), io);
    if (fd === undefined) io.stdout.write(text);
    else writeSync(Number(fd), text);
    return 'error' in JSON.parse(text || '{}') ? EXIT.failed : EXIT.done;
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** Checked before the work: a proof that nobody takes was made in vain. */
function isWritable(fd: string): boolean {
  if (!/^[1-9]\d{0,3}$/.test(fd)) return false;
  try {
    const info = fstatSync(Number(fd));
    // Not of Node's own, which are events.
    return info.isFile() || info.isFIFO() || info.isSocket() || info.isCharacterDevice();
  } catch {
    return false;
  }
}

async function reply(
  payloads: PayloadFolder,
  openEngine: () => Promise<Engine>,
  io: Io,
): Promise<Reply> {
  let body: SpilledText<StoredBytes>;
  try {
    body = await readSpilling(addAbortSignal(io.interrupt, process.stdin), {
      bytesMax: BODY_BYTES_MAX,
      spill: (chunks) => storeBytes(payloads, chunks, BODY_BYTES_MAX),
    });
  } catch (thrown) {
    io.interrupt.throwIfAborted();
    if (!(thrown instanceof BodyTooLargeError)) throw thrown;
    return faultReply(null, new RpcFault(-32700, thrown.message, 500));
  }
  await using engine = await openEngine();
  const methods = new FfiMethods(engine, payloads, io.interrupt).byName();
  const rpc = new GoJsonRpc(methods, errorDescriber());
  return await rpc.answer(body, {
    endpoint: new WorkerEndpoint('seal'),
    permissions: ['admin'],
    signal: io.interrupt,
  });
}

const vanillaProofs = slice(bytes('[]uint8'), '[][]uint8');
const randomness = bytes('abi.PoStRandomness');
const [actorId, postType] = [uint64('abi.ActorID'), uint64('abi.RegisteredPoStProof')];

/** filecoin-ffi's proofs.go, as Curio's ffidirect hands them on. */
class FfiMethods {
  readonly #engine: Engine;
  readonly #payloads: PayloadFolder;
  readonly #signal: AbortSignal;

  constructor(engine: Engine, payloads: PayloadFolder, signal: AbortSignal) {
    this.#engine = engine;
    this.#payloads = payloads;
    this.#signal = signal;
  }

  byName(): ReadonlyMap<string, WorkerMethod> {
    return new Map([
      [
        'FFI.SealCommitPhase2',
        method(
          [bytes('[]uint8'), uint64('abi.SectorNumber'), actorId],
          (_, [c1, sector, minerId]) => this.#seal(c1, sector, minerId),
        ),
      ],
      [
        'FFI.GenerateWinningPoStWithVanilla',
        method(
          [postType, actorId, randomness, vanillaProofs],
          async (_, [type, , random, vanilla]) => [
            await this.#post('winning-post', type, random, vanilla),
          ],
        ),
      ],
      [
        'FFI.GenerateSinglePartitionWindowPoStWithVanilla',
        method(
          [postType, actorId, randomness, vanillaProofs, uint64('uint')],
          (_, [type, , random, vanilla]) => this.#post('window-post', type, random, vanilla),
        ),
      ],
      [
        'FFI.GenerateUpdateProofWithVanilla',
        method(
          [uint64('abi.RegisteredUpdateProof'), cid, cid, cid, vanillaProofs],
          async (_, [type, old, sealed, data, vanilla]) => {
            const statement = statementOf.snapDeals(type, { old, new: sealed, data });
            return await this.#prove('snap-deals', statement, await this.#paths(vanilla));
          },
        ),
      ],
    ]);
  }

  async #seal(c1: GoBytes, sector: number, minerId: number): Promise<string> {
    const vanilla = await stored(this.#payloads, c1);
    const head = vanilla.c1();
    const { registeredProof: name } = head;
    const statement = statementOf.porep({ registeredProof: name, minerId, sector }, head);
    return await this.#prove('porep', statement, [this.#payloads.path(vanilla.sha256)]);
  }

  /** proof.PoStProof; also of a partition, as proof.PartitionProof is the same. */
  async #post(
    kind: 'winning-post' | 'window-post',
    type: number,
    random: GoBytes,
    vanilla: readonly GoBytes[],
  ) {
    const paths = await this.#paths(vanilla);
    const config = sectorConfig(registeredProof('proofType', kind, type).sectorSize);
    const { challenges } = kind === 'winning-post' ? config.winningPost : config.windowPost;
    const sectors: { number: bigint; commR: string }[] = [];
    for (const path of paths) {
      await using file = await openFile(path);
      const { sector, commR } = await readSectorProof(file, config, challenges);
      sectors.push({ number: sector, commR: toHex(writeBigIntLE(commR, 32)) });
    }
    const drawn = toHex('bytes' in random ? random.bytes : new Uint8Array(0));
    const statement = statementOf.post(kind, type, drawn, sectors);
    return { PoStProof: type, ProofBytes: await this.#prove(kind, statement, paths) };
  }

  async #paths(vanilla: readonly GoBytes[]): Promise<string[]> {
    const paths: string[] = [];
    for (const proof of vanilla) {
      paths.push(this.#payloads.path((await stored(this.#payloads, proof)).sha256));
    }
    return paths;
  }

  /** @returns the proof in base64 */
  async #prove(
    kind: StatementInput['kind'],
    statement: Uint8Array,
    vanilla: readonly string[],
  ): Promise<string> {
    const value = JSON.parse(new TextDecoder().decode(statement)) as object;
    const hooks = { signal: this.#signal };
    const { proof } = await this.#engine.prove({ kind, statement: value, vanilla }, hooks);
    return Buffer.from(proof as string, 'hex').toString('base64');
  }
}
