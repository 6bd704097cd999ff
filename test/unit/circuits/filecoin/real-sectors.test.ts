import { readFileSync } from 'node:fs';
import { blake2b } from '@noble/hashes/blake2.js';
import { expect, it } from 'vitest';
import { checkPostPartition } from '../../../../src/circuits/filecoin/check-post.ts';
import { StackedGraph } from '../../../../src/circuits/filecoin/graph.ts';
import { replicaIdOf } from '../../../../src/circuits/filecoin/porep-challenges.ts';
import { windowPostProgram } from '../../../../src/circuits/filecoin/post.ts';
import { windowPostPrivateInputs } from '../../../../src/circuits/filecoin/private-inputs.ts';
import { publicInputsOf } from '../../../../src/circuits/filecoin/public-inputs.ts';
import { sectorConfig } from '../../../../src/circuits/filecoin/sector-size.ts';
import type { PorepStatement, PostStatement } from '../../../../src/circuits/filecoin/statement.ts';
import { fromHex, toHex, viewOf } from '../../../../src/core/bytes.ts';
import { openFile } from '../../../../src/core/source.ts';
import { readProof } from '../../../../src/formats/bellman.ts';
import { BLS_G1, BLS_G2, decompress } from '../../../../src/formats/points.ts';
import { parseStatement } from '../../../../src/formats/statement.ts';
import { readSectorProof } from '../../../../src/formats/vanilla.ts';
import type { VerifyingKey } from '../../../../src/groth16/types.ts';
import { verify } from '../../../../src/groth16/verify.ts';
import { curveOf, type FrCanonicalLE } from '../../../../src/math/curve.ts';
import { readProgram } from '../../../../src/r1cs/program.ts';
import { assign, firstFailed } from '../../../../src/r1cs/program-witness.ts';
import { dataRoot, labelLayers, nodesOf, seal } from '../../../support/seal.ts';
import { vector } from '../../../support/shared.ts';
import { scalarBytes } from '../../../support/system.ts';
import { quietPacer } from '../harness.ts';

const { r } = curveOf('bls12-381');
const ANY_SEED = '01'.repeat(32);
const G1_BYTES = 48;

it.for([0, 1])('seals genesis sector %i of venus as venus did', (number, context) => {
  const folder = vector(context, 'filecoin/venus-genesis-2KiB');
  const { Sectors } = JSON.parse(readFileSync(`${folder}/pre-seal-t0106.json`, 'utf8')).t0106;
  const { SectorID, ProofType, CommR, CommD } = Sectors[number];
  const statement = parseStatement({
    ...{ kind: 'porep', registered_proof: ProofType, prover_id: 't0106', sector_number: SectorID },
    ...{ comm_r: CommR, comm_d: CommD, seed: ANY_SEED },
    ticket: toHex(blake2b(Buffer.from('lotus is fire'), { dkLen: 32 })),
  }) as PorepStatement;
  const { porepId, proof } = statement;
  const { layers, nodes, treeArities: arities } = sectorConfig('2KiB');
  const replicaId = replicaIdOf(statement);
  const graph = new StackedGraph(nodes, porepId, proof.graph);
  const labels = labelLayers(graph, nodes, layers, replicaId).at(-1) as bigint[];

  const replica = nodesOf(readFileSync(`${folder}/sealed/s-t0106-${number}`));
  const data = replica.map((value, i) => (value - (labels[i] as bigint) + r) % r);
  expect(dataRoot(data)).toBe(statement.commD);
  const sealed = seal(data, { replicaId, porepId, rules: proof.graph, layers, arities });
  const cache = `${folder}/cache/s-t0106-${number}`;
  const [root] = nodesOf(readFileSync(`${cache}/sc-02-data-tree-r-last.dat`));
  expect(sealed.commRLast).toBe(root);
  expect([sealed.commC, sealed.commRLast]).toEqual(nodesOf(readFileSync(`${cache}/p_aux`)));
  expect(sealed.commR).toBe(statement.commR);
});

it('derives the public inputs of a proof that polka-storage made, which verifies', async (context) => {
  const file = vector(context, 'filecoin/polka-2kib/porep-2KiB.json');
  const polka = JSON.parse(readFileSync(file, 'utf8'));
  const statement = parseStatement({
    ...{ kind: 'porep', registered_proof: 'StackedDrg2KiBV1_1', porep_id: '00'.repeat(32) },
    ...{ prover_id: polka.prover_id_hex, sector_number: polka.sector_id },
    ...{ ticket: polka.ticket_hex, seed: polka.seed_hex },
    ...{ comm_r: polka.comm_r_hex, comm_d: polka.comm_d_hex },
  });
  const publics = publicInputsOf(statement, 0);
  expect(publics.map(String)).toEqual(polka.public_inputs_decimal);
  const proof = readProof('proof', fromHex('proof', polka.proof_hex));
  const key = compressedKey(fromHex('key', polka.vk_compressed_hex));
  const verdict = await verify(key, publics.map(scalar), proof);
  expect(verdict).toEqual({ valid: true });
  const other = await verify(key, [...publics.slice(1), 1n].map(scalar), proof);
  expect(other.valid).toBe(false);
});

/** The layout of a `.vk` file, all points compressed. */
function compressedKey(bytes: Uint8Array): VerifyingKey {
  const g1 = (at: number) => decompress(BLS_G1, 'key', bytes.subarray(at, at + G1_BYTES));
  const g2 = (at: number) => decompress(BLS_G2, 'key', bytes.subarray(at, at + 2 * G1_BYTES));
  const head = 9 * G1_BYTES;
  const points = viewOf(bytes).getUint32(head);
  return {
    ...{ curve: 'bls12-381', alphaG1: g1(0), betaG2: g2(2 * G1_BYTES) },
    ...{ gammaG2: g2(4 * G1_BYTES), deltaG2: g2(7 * G1_BYTES) },
    ic: Array.from({ length: points }, (_, i) => g1(head + 4 + i * G1_BYTES)),
  };
}

function scalar(value: bigint): FrCanonicalLE {
  return scalarBytes([value]) as FrCanonicalLE;
}

it('accepts a vanilla proof of a 32 GiB sector that Curio made, and satisfies its circuit', async (context) => {
  const folder = vector(context, 'filecoin/curio-post-vanilla-32GiB');
  const [posted] = JSON.parse(readFileSync(`${folder}/postpub.json`, 'utf8')).ChallengedSectors;
  const config = sectorConfig('32GiB');
  const { challenges } = config.windowPost;
  await using source = await openFile(`${folder}/post.vproof`);
  const proof = await readSectorProof(source, config, challenges);
  const statement = parseStatement({
    ...{ kind: 'window-post', registered_proof: 'StackedDrgWindow32GiBV1' },
    ...{ randomness: '00'.repeat(32), sectors: [posted.SectorNumber], comm_r: [posted.SealedCID] },
  }) as PostStatement;
  await checkPostPartition(statement, 0, [proof], quietPacer());

  // The circuit of one sector, which a partition's repeats; partitions of 2 KiB have two.
  const windowPost = { sectorsPerPartition: 1, challenges };
  const program = readProgram(windowPostProgram({ ...config, windowPost }));
  const small = { ...statement, proof: { ...statement.proof, sectorSize: '2KiB' as const } };
  const twice = windowPostPrivateInputs(small, [proof]);
  const inputs = twice.subarray(0, twice.length / 2);
  const assignment = await assign(program, inputs, quietPacer());
  expect(await firstFailed(program, assignment, quietPacer())).toBeUndefined();
  const expected = publicInputsOf(statement, 0).slice(0, 1 + challenges);
  expect(expected.map((_, i) => BigInt(assignment.inputs.get(1 + i)))).toEqual(expected);
});
