// node examples/client/prove.mjs URL KEY WITNESS.wtns: proves by a running service and follows what it does.
import { readFile } from 'node:fs/promises';
import { connect } from 'proofline';

const [url = 'http://127.0.0.1:9830', key = 'preimage', path = 'examples/preimage/witness.wtns'] =
  process.argv.slice(2);
const { PROOFLINE_TOKEN: token } = process.env;
const proofline = connect(url, token === undefined ? {} : { token });

const witness = new Uint8Array(await readFile(path));
const { job_id: jobId } = await proofline.submit({ key, witness });
for await (const { event } of proofline.events({ jobId })) console.log(event);
const { proof, public: inputs } = await proofline.settled(jobId);
console.log(inputs, await proofline.verify({ key, proof, public: inputs }));
