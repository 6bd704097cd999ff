// Exit status 0 if the service in this container is ready; its certificate may be for another name.
import { get as getHttp } from 'node:http';
import { get as getHttps } from 'node:https';

const { PROOFLINE_LISTEN = '127.0.0.1:9830', PROOFLINE_TLS_CERT_FILE = '' } = process.env;
const [scheme, get] = PROOFLINE_TLS_CERT_FILE === '' ? ['http', getHttp] : ['https', getHttps];
const url = `${scheme}://127.0.0.1:${PROOFLINE_LISTEN.split(':').at(-1)}/health/ready`;
const signal = AbortSignal.timeout(5000);
get(url, { signal, rejectUnauthorized: false }, ({ statusCode }) => {
  process.exit(statusCode === 200 ? 0 : 1);
}).on('error', ({ message }) => {
  console.error(`${url}: ${message}`);
  process.exit(1);
});
