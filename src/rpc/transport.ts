import { once } from 'node:events';
import type { Server } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { createAdaptorServer } from '@hono/node-server';
import { ProverError } from '../core/errors.ts';
import { readSmallFile } from '../core/small-file.ts';
import { MIB } from '../core/units.ts';
import type { TokenStore } from './tokens.ts';

/** A client has this long to send its headers, and an hour for its body. */
const HEADERS_MS_MAX = 10_000;
const REQUEST_MS_MAX = 3_600_000;
/** Node looks for late clients so often; its default would let them be half a minute late. */
const CHECK_EVERY_MS = 5_000;
/**
 * Longer than the idle time of common proxies and of Go's clients (90 s), which must close first.
 */
const KEEP_ALIVE_MS = 95_000;
const CONNECTIONS_MAX = 4096;

export interface TransportOptions {
  readonly listen: string;
  /** Empty: plain HTTP. */
  readonly tlsCertFile: string;
  readonly tlsKeyFile: string;
}

export interface Transport {
  readonly scheme: 'http' | 'https';
  createServer(fetch: (request: Request) => Response | Promise<Response>): Server;
}

/**
 * HTTP, or HTTPS with a certificate. Beyond this machine it makes tokens required.
 * @throws ERR_PARAMS for an address beyond this machine without tokens, or half a certificate;
 *   ERR_FORMAT, ERR_FILE for tokens or certificates that cannot be read
 */
export async function openTransport(
  { listen: address, tlsCertFile, tlsKeyFile }: TransportOptions,
  tokens: TokenStore,
): Promise<Transport> {
  const isOpen = tokens.isOpen();
  if (!isLoopback(address)) tokens.require();
  if (!isLoopback(address) && isOpen) {
    throw new ProverError('ERR_PARAMS', {
      subject: 'listen',
      expected: 'an address of this machine while there are no tokens (`proofline token create`)',
      actual: address,
    });
  }
  if ((tlsCertFile === '') !== (tlsKeyFile === '')) {
    const expected = 'both a certificate and its key, or neither';
    throw new ProverError('ERR_PARAMS', { subject: 'TLS', expected, actual: 'one of them' });
  }
  const limits = {
    headersTimeout: HEADERS_MS_MAX,
    requestTimeout: REQUEST_MS_MAX,
    connectionsCheckingInterval: CHECK_EVERY_MS,
    keepAliveTimeout: KEEP_ALIVE_MS,
  };
  const tls =
    tlsCertFile === '' ? undefined : { cert: readPem(tlsCertFile), key: readPem(tlsKeyFile) };
  return {
    scheme: tls === undefined ? 'http' : 'https',
    createServer(fetch) {
      const server = createAdaptorServer(
        tls === undefined
          ? { fetch, serverOptions: limits }
          : { fetch, createServer: createHttpsServer, serverOptions: { ...limits, ...tls } },
      ) as Server;
      server.maxConnections = CONNECTIONS_MAX;
      return server;
    },
  };
}

/** @returns the URL that the server answers at. @throws ERR_LISTEN */
export async function listen(server: Server, address: string, scheme: string): Promise<string> {
  const [, host, port] = /^(.*):(\d+)$/.exec(address) as unknown as [string, string, string];
  // With Node's shorter queue, a burst of clients makes others wait for a second attempt.
  server.listen(Number(port), host.replace(/[[\]]/g, ''), CONNECTIONS_MAX);
  try {
    await once(server, 'listening');
  } catch (cause) {
    const reason = (cause as NodeJS.ErrnoException).code ?? 'cannot be listened at';
    throw new ProverError('ERR_LISTEN', { address, reason }, cause);
  }
  return `${scheme}://${host}:${(server.address() as AddressInfo).port}`;
}

export function isLoopback(address: string): boolean {
  return /^(127(\.\d{1,3}){3}|localhost|\[::1\]):/.test(address);
}

function readPem(path: string): Buffer {
  return readSmallFile(path, MIB);
}
