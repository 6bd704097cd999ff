import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

export interface MinerCall {
  readonly method: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests say what they expect
  readonly params: any[];
}

/** What a worker told the miner that it is. */
export interface Joined {
  readonly url: string;
  readonly version: number;
  readonly session: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests say what they expect
  readonly info: any;
  readonly tasks: readonly string[];
}

/**
 * A lotus-miner as its workers see it (rpc.md 2.3 to 2.5): it takes workers in as the real one does,
 * keeps results by their call, and stores sectors.
 */
export class FakeMiner {
  /** What it lets itself in with at its workers; AuthVerify vouches for it. */
  readonly token = `e30.${'a'.repeat(20)}.miner`;
  /** What workers call it with. */
  readonly ownToken = 'e30.worker.key';
  session = crypto.randomUUID();
  apiVersion = 66_816;
  readonly calls: MinerCall[] = [];
  readonly joined: Joined[] = [];
  /** By call id: what was returned, first. */
  readonly results = new Map<string, readonly unknown[]>();
  /** Bytes of a sector's vanilla proof; a sector that is missing cannot be read. */
  readonly sectors = new Map<number, Uint8Array>();
  /** Bodies of requests to its sector store. */
  readonly reads: unknown[] = [];
  /** Answers a call with an error instead. */
  refuses: (call: MinerCall) => string | undefined = () => undefined;
  readonly #server = createServer((request, response) => void this.#answer(request, response));

  async listen(port = 0): Promise<void> {
    this.#server.listen(port, '127.0.0.1');
    await once(this.#server, 'listening');
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  get apiInfo(): string {
    return `${this.ownToken}:/ip4/127.0.0.1/tcp/${this.port}/http`;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }

  called(method: string): MinerCall[] {
    return this.calls.filter((call) => call.method === method);
  }

  /** Calls a worker as the miner does. */
  // biome-ignore lint/suspicious/noExplicitAny: tests say what they expect
  async ask(url: string, method: string, params: readonly unknown[] = []): Promise<any> {
    const response = await fetch(url, {
      method: 'POST',
      headers: { authorization: `Bearer ${this.token}` },
      body: JSON.stringify({
        ...{ jsonrpc: '2.0', id: 1, method: `Filecoin.${method}`, params },
        meta: { SpanContext: 'AAAA' },
      }),
    });
    return await response.json();
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await buffer(request);
    if (request.headers.authorization !== `Bearer ${this.ownToken}`) {
      response.writeHead(401).end();
    } else if (request.url === '/remote/vanilla/single') {
      const asked = JSON.parse(body.toString());
      this.reads.push(asked);
      const proof = this.sectors.get(asked.Sector.SectorNumber);
      if (proof === undefined) response.writeHead(404).end();
      else response.end(proof);
    } else {
      const { id, method, params } = JSON.parse(body.toString());
      const call = { method: method.replace('Filecoin.', ''), params };
      this.calls.push(call);
      const error = this.refuses(call);
      const answer =
        error === undefined
          ? { result: await this.#result(call) }
          : { error: { code: 1, message: error } };
      response.end(JSON.stringify({ id, jsonrpc: '2.0', ...answer }));
    }
  }

  async #result({ method, params }: MinerCall): Promise<unknown> {
    switch (method) {
      case 'Version':
        return { Version: '1.36.2', APIVersion: this.apiVersion, BlockDelay: 30 };
      case 'Session':
        return this.session;
      case 'AuthVerify':
        return params[0] === this.token ? ['read', 'write', 'sign', 'admin'] : null;
      case 'WorkerConnect':
        await this.#takeIn(params[0]);
        return null;
      case 'StorageFindSector':
        return [
          ...[null, { BaseURLs: null }, { BaseURLs: [7] }],
          { ID: 'away', BaseURLs: ['http://127.0.0.1:1/remote'] },
          { ID: 'here', BaseURLs: [`http://127.0.0.1:${this.port}/remote`] },
        ];
      default:
        if (!this.results.has(params[0].ID)) this.results.set(params[0].ID, params);
        return null;
    }
  }

  /** node/impl/remoteworker.go and manager.go AddWorker: in this order. */
  async #takeIn(url: string): Promise<void> {
    const version = (await this.ask(url, 'Version')).result;
    const session = (await this.ask(url, 'Session')).result;
    const info = (await this.ask(url, 'Info')).result;
    const tasks = Object.keys((await this.ask(url, 'TaskTypes')).result);
    this.joined.push({ url, version, session, info, tasks });
  }
}

const bytes32 = (mark: number): number[] => Array.from({ length: 32 }, (_, i) => (mark + i) % 256);

/** The output of a first phase, as the Rust side writes it, of the wished length. */
export function firstPhase(bytes = 2000): Buffer {
  const head = { comm_r: bytes32(1), comm_d: bytes32(2), replica_id: bytes32(3), seed: bytes32(4) };
  const around = (filling: string): string => {
    const proofs = { StackedDrg2KiBV1: [[{ data: `}"\\${filling}`, comm_r: [9] }]] };
    return JSON.stringify({
      ...{ registered_proof: 'StackedDrg2KiBV1_1', vanilla_proofs: proofs },
      ...{ ...head, ticket: bytes32(5) },
    });
  };
  const filling = Math.max(0, bytes - around('').length);
  return Buffer.from(around('x'.repeat(filling)));
}

export function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

/** CIDs of commitments, as Lotus's JSON has them (multiformats: base32, RFC 4648). */
export const sealedCid = (hex: string) => cidOf([1, 0x82, 0xe2, 0x03, 0x81, 0xe8, 0x02, 0x20], hex);
export const unsealedCid = (hex: string) => cidOf([1, 0x81, 0xe2, 0x03, 0x92, 0x20, 0x20], hex);

function cidOf(prefix: readonly number[], hex: string): { readonly '/': string } {
  const bytes = [...prefix, ...Buffer.from(hex, 'hex')];
  const bits = bytes.map((byte) => byte.toString(2).padStart(8, '0')).join('');
  const letters = bits
    .match(/.{1,5}/g)
    ?.map((five) => BASE32[Number.parseInt(five.padEnd(5, '0'), 2)]);
  return { '/': `b${letters?.join('')}` };
}

const BASE32 = 'abcdefghijklmnopqrstuvwxyz234567';
