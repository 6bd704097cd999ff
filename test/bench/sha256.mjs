// Makes the SHA-256 circuit of a message of BITS bits, and a witness, for `proofline bench prove --r1cs --witness`:
//   node test/bench/sha256.mjs FOLDER CURVE BITS      (952 bits: 2^16 rows, 3520 bits: 2^18)
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { WitnessCalculatorBuilder } from 'circom_runtime';

const [folder, curve, bits] = process.argv.slice(2);
const prime = { bn254: 'bn128', 'bls12-381': 'bls12381' }[curve];
if (folder === undefined || prime === undefined || !/^\d{1,5}$/.test(bits)) {
  console.error('usage: node test/bench/sha256.mjs FOLDER bn254|bls12-381 BITS');
  process.exit(2);
}
const name = `sha256-${curve}-${bits}`;
const libraries = resolve('node_modules');
mkdirSync(folder, { recursive: true });
writeFileSync(
  join(folder, `${name}.circom`),
  `pragma circom 2.0.0;
include "circomlib/circuits/sha256/sha256.circom";
// A message known to the prover; public is its digest in two halves.
template Preimage(BITS) {
    signal input in[BITS];
    signal output high;
    signal output low;
    component hash = Sha256(BITS);
    for (var i = 0; i < BITS; i++) {
        in[i] * (in[i] - 1) === 0;
        hash.in[i] <== in[i];
    }
    var a = 0;
    var b = 0;
    for (var i = 0; i < 128; i++) {
        a = 2 * a + hash.out[i];
        b = 2 * b + hash.out[128 + i];
    }
    high <== a;
    low <== b;
}
component main = Preimage(${bits});
`,
);
execFileSync(
  process.execPath,
  [
    join(libraries, 'circom2/cli.js'),
    ...[join(folder, `${name}.circom`), '--r1cs', '--wasm', '--O1', '--prime', prime],
    ...['-l', libraries, '-o', folder],
  ],
  { stdio: ['ignore', 'ignore', 'inherit'] },
);
const wasm = readFileSync(join(folder, `${name}_js`, `${name}.wasm`));
const calculator = await WitnessCalculatorBuilder(wasm);
const message = Array.from({ length: Number(bits) }, (_, i) => String(((i * i + 3 * i) % 7) & 1));
writeFileSync(join(folder, `${name}.wtns`), await calculator.calculateWTNSBin({ in: message }));
console.log(`--r1cs ${join(folder, `${name}.r1cs`)} --witness ${join(folder, `${name}.wtns`)}`);
process.exit(0);
