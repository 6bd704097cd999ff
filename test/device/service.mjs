// A real circom proof, proofs of Filecoin's 2 KiB sectors and one of a 32 GiB sector from JSON-RPC
// through the device host, on the GPU and no other backend (strict), verified: for run.sh. Ends
// with a plain line.
import { execFileSync, spawn } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';

const root = fileURLToPath(new URL('../..', import.meta.url));
const file = (path) => join(root, path);
const main = file('dist/main.js');
const data = await mkdtemp(join(tmpdir(), 'proofline-device-'));
const counts = { passed: 0, failed: 0 };
let service;

async function base64(path) {
  const bytes = await readFile(file(path));
  return { base64: (path.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString('base64') };
}
async function json(path) {
  return JSON.parse(await readFile(file(path), 'utf8'));
}

function setup(...options) {
  execFileSync(process.execPath, [main, 'setup', ...options, '--data-dir', data], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
}

function serve() {
  const options = ['serve', '--listen', '127.0.0.1:0', '--data-dir', data, '--json'];
  service = spawn(process.execPath, [main, ...options], { stdio: ['ignore', 'pipe', 'inherit'] });
  return new Promise((resolve, reject) => {
    let text = '';
    service.once('exit', (code) => reject(new Error(`the service ended with status ${code}`)));
    service.stdout.on('data', (chunk) => {
      text += chunk;
      const url = /"url":\s*"([^"]+)"/.exec(text)?.[1];
      if (url !== undefined) resolve(url);
    });
  });
}

async function call(url, method, params) {
  const response = await fetch(`${url}/rpc`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  });
  const { result, error } = await response.json();
  if (error !== undefined) throw new Error(`${method}: ${JSON.stringify(error)}`);
  return result;
}

async function proves(url, name, params) {
  try {
    const start = performance.now();
    const { job_id } = await call(url, 'prove', { ...params, backend: 'cuda', strict: true });
    for (;;) {
      const job = await (await fetch(`${url}/v1/jobs/${job_id}`)).json();
      if (job.state === 'completed') {
        const { backend, verified } = await call(url, 'result', { job_id });
        if (backend !== 'cuda' || verified === false) throw new Error(JSON.stringify(job));
        break;
      }
      if (job.state !== 'queued' && job.state !== 'running') throw new Error(JSON.stringify(job));
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    console.log(
      `${name}: verified, ${Math.round(performance.now() - start)} ms from request to result`,
    );
    const headers = { accept: 'text/plain' };
    console.log(await (await fetch(`${url}/v1/jobs/${job_id}/timeline`, { headers })).text());
    counts.passed++;
  } catch (thrown) {
    counts.failed++;
    console.log(`${name}: FAILED: ${thrown.message}`);
  }
}

try {
  setup(
    '--r1cs',
    file('examples/preimage/preimage.r1cs'),
    '--out',
    join(data, 'p.zkey'),
    '--name',
    'preimage',
  );
  const small = ['winning-post', 'window-post', 'porep', 'snap-deals'].map((kind) => [
    kind,
    '2KiB',
  ]);
  for (const [circuit, size] of [...small, ['winning-post', '32GiB']]) {
    const name = `${circuit}-${size}`;
    const which = ['--circuit', circuit, '--sector-size', size, '--insecure-seed', 'device'];
    setup(...which, '--out', join(data, `${name}.params`), '--name', name);
  }
  const url = await serve();
  const preimage = {
    kind: 'circom',
    key: 'preimage',
    payload: await base64('examples/preimage/witness.wtns'),
  };
  await proves(url, 'preimage', preimage);
  await proves(url, 'preimage, key resident', preimage);
  await proves(url, 'winning-post 2KiB', {
    kind: 'winning-post',
    statement: await json('test/golden/winning-2kib.statement.json'),
    vanilla: [await base64('test/golden/winning-2kib-vanilla.bin')],
  });
  await proves(url, 'window-post 2KiB', {
    kind: 'window-post',
    statement: await json('test/golden/window-2kib.statement.json'),
    vanilla: [
      await base64('test/golden/window-2kib-vanilla-sector1.bin'),
      await base64('test/golden/window-2kib-vanilla-sector2.bin'),
    ],
  });
  await proves(url, 'porep 2KiB', {
    kind: 'porep',
    statement: await json('test/golden/porep-2kib.statement.json'),
    vanilla: [await base64('test/golden/porep-2kib-c1.json.gz')],
  });
  await proves(url, 'snap-deals 2KiB', {
    kind: 'snap-deals',
    statement: await json('test/golden/snap-2kib.statement.json'),
    vanilla: [await base64('test/golden/snap-2kib-partition0.bin')],
  });
  const winning = {
    kind: 'winning-post',
    statement: await json('test/golden/winning-32gib.statement.json'),
    vanilla: [await base64('test/golden/winning-32gib-vanilla.bin')],
  };
  await proves(url, 'winning-post 32GiB', winning);
  await proves(url, 'winning-post 32GiB, key resident', winning);
} finally {
  service?.kill('SIGTERM');
  await rm(data, { recursive: true });
}
console.log(`${counts.passed} passed, ${counts.failed} failed`);
process.exitCode = counts.failed === 0 && counts.passed > 0 ? 0 : 1;
