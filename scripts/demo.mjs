// The main job on a real circuit: a development key, a service on a free port, a proof over HTTP, its verification
// and its waterfall. Leaves nothing behind.
import { execFileSync, spawn } from 'node:child_process';
import { openAsBlob } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const proofline = join(root, 'dist/main.js');
const example = join(root, 'examples/preimage');
const data = await mkdtemp(join(tmpdir(), 'proofline-demo-'));
let service;
try {
  console.log(
    '== a development key for examples/preimage (insecure by nature: whoever made it can forge)',
  );
  const out = join(data, 'preimage.zkey');
  const kept = ['--name', 'preimage', '--data-dir', data];
  run('setup', '--r1cs', join(example, 'preimage.r1cs'), '--out', out, ...kept);

  console.log('\n== the service, on a free port');
  const url = await serve();
  console.log(url);

  console.log('\n== a proof over HTTP');
  const form = new FormData();
  form.set('key', 'preimage');
  form.set('wait', 'true');
  form.set('witness', await openAsBlob(join(example, 'witness.wtns')), 'witness.wtns');
  const job = await call(`${url}/v1/prove`, { method: 'POST', body: form });
  console.log(
    `job ${job.job_id}: ${job.state}, ${job.backend}, public inputs ${job.public.join(', ')}`,
  );

  console.log('\n== its verification, and that of a false statement');
  for (const inputs of [job.public, [...job.public].reverse()]) {
    const body = JSON.stringify({ key: 'preimage', proof: job.proof, public: inputs });
    const headers = { 'content-type': 'application/json' };
    const { valid } = await call(`${url}/v1/verify`, { method: 'POST', headers, body });
    console.log(valid ? 'valid' : 'invalid');
    if (valid !== (inputs === job.public)) throw new Error('verification gave the wrong answer');
  }

  console.log('\n== where the time went');
  const accept = { headers: { accept: 'text/plain' } };
  console.log(await (await fetch(`${url}/v1/jobs/${job.job_id}/timeline`, accept)).text());

  console.log(
    'The same by hand, while `node dist/main.js serve` runs: the curl tour in README.md. It begins',
  );
  console.log(`  curl -F key=preimage -F wait=true -F witness=@examples/preimage/witness.wtns \\
    http://127.0.0.1:9830/v1/prove
  curl http://127.0.0.1:9830/status
  curl -H 'accept: text/plain' http://127.0.0.1:9830/v1/jobs/JOB_ID/timeline`);
} finally {
  if (service?.exitCode === null) {
    const ended = new Promise((resolve) => service.once('exit', resolve));
    service.kill('SIGTERM');
    await ended;
  }
  await rm(data, { recursive: true });
}

function run(...command) {
  execFileSync(process.execPath, [proofline, ...command], { stdio: 'inherit' });
}

/** Starts the service and resolves with its URL. */
function serve() {
  const options = ['serve', '--listen', '127.0.0.1:0', '--data-dir', data, '--json'];
  service = spawn(process.execPath, [proofline, ...options], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
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

async function call(url, options) {
  const response = await fetch(url, options);
  const answer = await response.json();
  if (!response.ok) throw new Error(`${url}: ${answer.error?.message ?? response.status}`);
  return answer;
}
