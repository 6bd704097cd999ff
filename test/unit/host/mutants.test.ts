import { writeFile } from 'node:fs/promises';
import { beforeAll, describe, expect, it } from 'vitest';
import { cpuReference } from '../../../backends/cpu-reference/backend.ts';
import type { AssignedInput, LoadedKey, ProverBackend } from '../../../src/backend/backend.ts';
import { BackendRegistry } from '../../../src/backend/registry.ts';
import { fromErrorRecord } from '../../../src/core/errors.ts';
import { writeWtns } from '../../../src/formats/wtns.ts';
import { drawToxicWaste } from '../../../src/groth16/toxic-waste.ts';
import type { Proof } from '../../../src/groth16/types.ts';
import type { FromHost, ProveResult } from '../../../src/host/protocol.ts';
import { HostServer } from '../../../src/host/server.ts';
import { developmentKey, temporaryPath } from '../../support/key-files.ts';
import { chain, scalarBytes } from '../../support/system.ts';

const { system, values } = chain({ curve: 'bn254', constraints: 5, publicInputs: 1, first: 3n });
let keyPath: string;
let witnessPath: string;
beforeAll(async () => {
  const key = await developmentKey(system, 'zkey', drawToxicWaste('bn254'));
  keyPath = key.h.slice.path;
  witnessPath = await writeWitness(values);
});

async function writeWitness(wires: readonly bigint[]): Promise<string> {
  const path = await temporaryPath('witness.wtns');
  const records = { count: wires.length, bytes: [scalarBytes(wires)] };
  await writeFile(path, writeWtns('bn254', records));
  return path;
}

/** Proves in a host of these backends, on the first. @returns the result and the events before it */
async function prove(backends: readonly ProverBackend[], witness = witnessPath) {
  const [first] = backends as [ProverBackend];
  const events: string[] = [];
  const entries = backends.map((backend) => ({ name: backend.name, load: async () => backend }));
  const params = { jobId: 'job', backend: first.name, device: '0', threads: 1, keyPath };
  const result = await new Promise((resolve, reject) => {
    const host = new HostServer(new BackendRegistry(entries), (message: FromHost) => {
      if ('event' in message) events.push(message.event.event);
      if ('result' in message) resolve(message.result);
      if ('error' in message) reject(fromErrorRecord(message.error));
    });
    host.receive({ id: 1, operation: 'prove', params: { ...params, witness: { path: witness } } });
  });
  return { result: result as ProveResult, events };
}

/** A `cpu` backend that is the reference, except for what it does to a finished proof or a loaded key. */
function mutant(change: {
  proof?: (proof: Proof) => Proof;
  key?: (key: LoadedKey) => Partial<LoadedKey>;
}): ProverBackend {
  const { proof = (same) => same, key = () => ({}) } = change;
  return {
    ...cpuReference,
    name: 'cpu',
    async open(device, options) {
      const opened = await cpuReference.open(device, options);
      return {
        info: opened.info,
        estimate: (source, batch) => opened.estimate(source, batch),
        async load(source, loadOptions, run) {
          const loaded = await opened.load(source, loadOptions, run);
          return {
            stage: (input, stageRun) => loaded.stage(input, stageRun),
            compute: (staged, blinding, computeRun) => loaded.compute(staged, blinding, computeRun),
            finish: async (computed, finishRun) => proof(await loaded.finish(computed, finishRun)),
            [Symbol.asyncDispose]: () => loaded[Symbol.asyncDispose](),
            ...key(loaded),
          };
        },
        [Symbol.asyncDispose]: () => opened[Symbol.asyncDispose](),
      };
    },
  };
}

const other = (bytes: Uint8Array) => bytes.slice().map((byte, i) => (i === 40 ? byte ^ 1 : byte));
const swapHalves = (bytes: Uint8Array) => {
  const half = bytes.length / 2;
  return new Uint8Array([...bytes.subarray(half), ...bytes.subarray(0, half)]);
};
const MUTANTS: Record<string, Parameters<typeof mutant>[0]> = {
  'a wrong h': { proof: (proof) => ({ ...proof, c: proof.a }) },
  'a swapped B': { proof: (proof) => ({ ...proof, b: swapHalves(proof.b) as Proof['b'] }) },
  'a flipped bit in A': { proof: (proof) => ({ ...proof, a: other(proof.a) as Proof['a'] }) },
  'a wrong public input': {
    key: (loaded) => ({
      async stage(input, run) {
        const bytes = scalarBytes(values.with(1, 4n));
        const witness = { n: values.length, bytes };
        return loaded.stage({ ...(input as AssignedInput), witness }, run);
      },
    }),
  },
};

describe('a faulty backend', () => {
  it.each(Object.entries(MUTANTS))(
    'with %s is caught and replaced, with its reason',
    async (_, m) => {
      const { result, events } = await prove([mutant(m), cpuReference]);
      expect(result).toMatchObject({ backend: 'cpu-reference', attempts: 2, verified: true });
      expect(result.fallbackReason).toMatch(/^cpu: /);
      expect(events).toContain('RECHECK_END');
      expect(events.filter((event) => event === 'VERIFY_END')).toHaveLength(2);
    },
  );

  it('with nothing to replace it returns nothing', async () => {
    const broken = mutant(MUTANTS['a wrong h'] as object);
    await expect(prove([broken])).rejects.toMatchObject({ code: 'ERR_WITNESS_UNSATISFIED' });
  });

  it('is not believed when the other one fails too, in another way', async () => {
    const wrong = { ...mutant(MUTANTS['a swapped B'] as object), name: 'cuda' } as const;
    await expect(prove([mutant(MUTANTS['a wrong h'] as object), wrong])).rejects.toMatchObject({
      code: 'ERR_BACKEND_FAULT',
    });
  });

  it('is the same proof twice when the witness is wrong: that is named', async () => {
    const wrong = await writeWitness(values.with(-1, 1n));
    await expect(prove([mutant({}), cpuReference], wrong)).rejects.toMatchObject({
      code: 'ERR_WITNESS_UNSATISFIED',
      message: expect.stringContaining('checked on cpu-reference'),
    });
  });
});
