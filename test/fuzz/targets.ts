import { rmSync } from 'node:fs';
import { mkdir, mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadConfig } from '../../src/config.ts';
import type { ByteSource } from '../../src/core/source.ts';
import { MIB } from '../../src/core/units.ts';
import { readParameters, readProofs, readVerifyingKey } from '../../src/formats/bellman.ts';
import { openKey } from '../../src/formats/key-file.ts';
import { readR1cs } from '../../src/formats/r1cs.ts';
import {
  JSON_BYTES_MAX,
  parsePublicInputs,
  parseSnarkjsProof,
  parseVerificationKey,
  readJson,
} from '../../src/formats/snarkjs-json.ts';
import { checkCanonical, readWtns } from '../../src/formats/wtns.ts';
import { readZkey } from '../../src/formats/zkey.ts';
import { readCoefficients } from '../../src/groth16/coefficient-rows.ts';
import type { ProvingKeySource } from '../../src/groth16/types.ts';
import { openWitness } from '../../src/host/witness.ts';
import type { KeyInspector } from '../../src/keys/import.ts';
import { KeyStore } from '../../src/keys/store.ts';
import { TokenStore } from '../../src/rpc/tokens.ts';
import { FILECOIN_TARGETS } from './filecoin-targets.ts';
import { HTTP_TARGETS } from './http-targets.ts';
import { LOTUS_TARGETS } from './lotus-targets.ts';

export interface Target {
  readonly name: string;
  readonly kind: 'binary' | 'text';
  /** @returns in a few words what became of it; throws what the parser throws */
  run(source: ByteSource): Promise<string>;
  /** Its input is a file of any size, of which little is read. */
  readonly large?: true;
  /** Its input is JSON of so many bytes at most. */
  readonly jsonBytesMax?: number;
}

async function drain(items: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of items);
}

async function ok(work: Promise<unknown>): Promise<string> {
  await work;
  return 'read';
}

const whole = (source: ByteSource) => source.read(0, source.size);

const FORMATS: readonly Target[] = [
  {
    name: 'zkey',
    kind: 'binary',
    large: true,
    run: (source) =>
      ok(readZkey(source, '/k.zkey').then(({ key }) => drain(readCoefficients(source, key)))),
  },
  {
    name: 'wtns',
    kind: 'binary',
    large: true,
    run: (source) => ok(readWtns(source).then((wtns) => checkCanonical(source, wtns))),
  },
  {
    name: 'r1cs',
    kind: 'binary',
    large: true,
    run: (source) => ok(readR1cs(source).then((r1cs) => drain(r1cs.constraints()))),
  },
  {
    name: 'parameters',
    kind: 'binary',
    large: true,
    run: (source) => ok(readParameters(source, '/k.params')),
  },
  { name: 'verifying-key', kind: 'binary', large: true, run: (s) => ok(readVerifyingKey(s)) },
  {
    name: 'proofs',
    kind: 'binary',
    run: async (source) => {
      const bytes = await whole(source);
      readProofs('proof', bytes, Math.max(1, Math.round(bytes.length / 192)));
      return 'read';
    },
  },
  {
    name: 'snarkjs-json',
    kind: 'text',
    jsonBytesMax: JSON_BYTES_MAX,
    run: async (source) => {
      const value = await readJson(source);
      const is = (name: string) => Object.hasOwn(Object(value), name);
      if (Array.isArray(value)) parsePublicInputs(value, 'bn254');
      else if (is('IC') || is('vk_alpha_1')) parseVerificationKey(value);
      else parseSnarkjsProof(value, 'bn254');
      return 'read';
    },
  },
];

let folder: Promise<string> | undefined;

/** A folder for the inputs that parsers read from files, removed when the process ends. */
async function place(name: string, source: ByteSource): Promise<string> {
  folder ??= mkdtemp(join(tmpdir(), 'proofline-fuzz-')).then((path) => {
    process.once('exit', () => rmSync(path, { recursive: true }));
    return path;
  });
  const path = join(await folder, name);
  await mkdir(join(path, '..'), { recursive: true });
  await writeFile(path, await whole(source));
  return path;
}

const DIGEST = 'ab'.repeat(32);
const nobody = new Proxy({} as KeyInspector, {});
/** As many wires as the example's circuit has. */
const PREIMAGE = { curve: 'bn254', inputCount: 3, auxCount: 455 } as ProvingKeySource;

const FILES: readonly Target[] = [
  {
    name: 'key-file',
    kind: 'binary',
    run: async (source) => ok(openKey(await place('key', source))),
  },
  {
    name: 'key-record',
    kind: 'text',
    run: async (source) => {
      const keys = join(await place(`keys/${DIGEST}/meta.json`, source), '../..');
      const key = await new KeyStore(keys, nobody, () => 0).find(DIGEST);
      return `a key of ${key.format}`;
    },
  },
  {
    name: 'tokens',
    kind: 'text',
    run: async (source) => {
      const store = new TokenStore(await place('tokens.json', source));
      return store.find('plt_none') === undefined ? 'nobody' : 'let in';
    },
  },
  {
    name: 'config',
    kind: 'text',
    run: async (source) => {
      loadConfig({}, { PROOFLINE_CONFIG: await place('config.json', source) });
      return 'read';
    },
  },
  {
    name: 'circuit-input',
    kind: 'text',
    jsonBytesMax: 64 * MIB,
    run: async (source) => {
      const inputPath = await place('input.json', source);
      const wasmPath = 'examples/preimage/preimage.wasm';
      const { signal } = new AbortController();
      const witness = await openWitness({ wasmPath, inputPath }, PREIMAGE, signal);
      await witness[Symbol.asyncDispose]();
      return 'calculated';
    },
  },
];

export const TARGETS: readonly Target[] = [
  ...FORMATS,
  ...FILECOIN_TARGETS,
  ...FILES,
  ...HTTP_TARGETS,
  ...LOTUS_TARGETS,
];
