import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { MIB } from '../../src/core/units.ts';
import { Api } from '../support/api.ts';

/** What clients do to a service, well or badly; each tells in a few words what came of it. */
export type Load = (url: string) => Promise<string>;

const CHUNK = Buffer.alloc(64 * 1024, 0x5a);

async function open(url: string): Promise<Socket> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.setNoDelay(true);
  socket.on('error', () => {});
  await once(socket, 'connect');
  return socket;
}

/** Each connection stays open and asks for something small now and then. */
export function connections(count: number, seconds: number): Load {
  return async (url) => {
    const sockets = await openMany(url, count);
    let answers = 0;
    for (const socket of sockets) {
      socket.on('data', (chunk) => {
        if (chunk.includes('HTTP/1.1 200')) answers++;
      });
    }
    let asked = 0;
    const end = performance.now() + 1000 * seconds;
    // Two hundred a second, round and round.
    for (; performance.now() < end; asked++) {
      const socket = sockets[asked % count] as Socket;
      socket.write('GET /health/live HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n');
      if (asked % 10 === 9) await sleep(50);
    }
    await sleep(500);
    const alive = sockets.filter((socket) => !socket.destroyed).length;
    for (const socket of sockets) socket.destroy();
    return `${alive} of ${count} connections alive, ${answers} of ${asked} answered`;
  };
}

async function openMany(url: string, count: number): Promise<Socket[]> {
  const sockets: Socket[] = [];
  while (sockets.length < count) {
    const some = Math.min(100, count - sockets.length);
    sockets.push(...(await Promise.all(Array.from({ length: some }, () => open(url)))));
  }
  return sockets;
}

/** Uploads of the same size at once, each of other bytes. */
export function uploads(count: number, bytes: number): Load {
  return async (url) => {
    const statuses = await Promise.all(
      Array.from({ length: count }, (_, i) => upload(url, bytes, i)),
    );
    const stored = statuses.filter((status) => status === '201').length;
    return `${stored} of ${count} uploads of ${bytes / 1e6} MB stored`;
  };
}

async function upload(url: string, bytes: number, mark: number): Promise<string> {
  const socket = await open(url);
  const answer = firstLine(socket);
  let go = () => {};
  for (const event of ['drain', 'close']) socket.on(event, () => go());
  socket.write(uploadHead(bytes));
  const first = Buffer.from(CHUNK);
  first.writeUInt32LE(mark);
  for (let sent = 0; sent < bytes && !socket.destroyed; ) {
    const chunk = (sent === 0 ? first : CHUNK).subarray(0, Math.min(CHUNK.length, bytes - sent));
    sent += chunk.length;
    if (socket.write(chunk)) continue;
    await new Promise<void>((resolve) => {
      go = resolve;
    });
  }
  const status = await answer;
  socket.destroy();
  return status;
}

function uploadHead(bytes: number): string {
  const type = 'Content-Type: application/octet-stream';
  return `POST /v1/payloads HTTP/1.1\r\nHost: 127.0.0.1\r\n${type}\r\nContent-Length: ${bytes}\r\n\r\n`;
}

/** The status of the first answer; empty where the connection ends without one. */
function firstLine(socket: Socket): Promise<string> {
  return new Promise((resolve) => {
    socket.once('data', (chunk) => resolve(/^HTTP\/1\.1 (\d+)/.exec(String(chunk))?.[1] ?? ''));
    socket.once('close', () => resolve(''));
  });
}

/** Clients that send a byte of their headers, or of a body, a second. */
export function slowLoris(count: number, seconds: number): Load {
  return async (url) => {
    const heads = await openMany(url, count);
    const bodies = await openMany(url, count);
    const cut = { heads: 0, bodies: 0 };
    for (const socket of heads) {
      socket.write('GET /health/live HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: ');
      socket.once('close', () => cut.heads++);
    }
    for (const socket of bodies) {
      socket.write(uploadHead(51 * MIB));
      socket.once('close', () => cut.bodies++);
    }
    for (let second = 0; second < seconds; second++) {
      for (const socket of [...heads, ...bodies]) if (socket.writable) socket.write('a');
      await sleep(1000);
    }
    const told = `${cut.heads} of ${count} slow headers and ${cut.bodies} of ${count} slow bodies cut off`;
    for (const socket of [...heads, ...bodies]) socket.destroy();
    return told;
  };
}

/** Clients that stop in the middle of a body. */
export function stalled(count: number, seconds: number): Load {
  return async (url) => {
    const sockets = await openMany(url, count);
    let cut = 0;
    for (const socket of sockets) {
      socket.write(uploadHead(51 * MIB));
      socket.write(CHUNK);
      socket.once('close', () => cut++);
    }
    await sleep(1000 * seconds);
    for (const socket of sockets) socket.destroy();
    return `${cut} of ${count} stalled bodies cut off`;
  };
}

/** Jobs of the key `chain`, each with a payload that is no witness, eight clients at a time. */
export function jobs(count: number): Load {
  return async (url) => {
    const api = new Api(url);
    let [next, accepted] = [0, 0];
    const client = async () => {
      while (next < count) {
        const payload = { base64: Buffer.from(`no witness ${next++}`).toString('base64') };
        const { status } = await api.post('/v1/prove', { kind: 'circom', key: 'chain', payload });
        if (status === 202) accepted++;
      }
    };
    await Promise.all(Array.from({ length: 8 }, client));
    return `${accepted} of ${count} jobs accepted`;
  };
}

/** JSON of the largest size, in the shapes that cost most, one after another. */
export function largeBodies(rounds: number): Load {
  return async (url) => {
    const api = new Api(url);
    const shapes: [string, string][] = [
      ['/v1/verify', `{"key":"k","proof":{},"public":[${'1,'.repeat(1_000_000)}1]}`],
      ['/v1/verify', `{"key":"k","proof":{},"public":[${'"1",'.repeat(49_000)}"1"]}`],
      ['/v1/verify', `{"key":"k","public":[],"proof":{"a":[${'[],'.repeat(600_000)}1]}}`],
      ['/v1/verify', `{"key":"k","public":[],"proof":{"a":"${'9'.repeat(2_000_000)}"}}`],
      ['/rpc', `[${'{"jsonrpc":"2.0","id":1,"method":"status"},'.repeat(99)}{}]`],
      ['/rpc', '['.repeat(2_000_000)],
      ['/v1/prove', `{"kind":"circom","key":"k","payload":{"base64":"${'A'.repeat(1_398_100)}"}}`],
    ];
    const statuses = new Map<number, number>();
    for (let round = 0; round < rounds; round++) {
      for (const [path, body] of shapes) {
        const { status } = await api.post(path, body);
        statuses.set(status, (statuses.get(status) ?? 0) + 1);
        await sleep(50);
      }
    }
    return [...statuses].map(([status, n]) => `${n} × ${status}`).join(', ');
  };
}

/** Loads at the same time. */
export function together(...loads: readonly Load[]): Load {
  return async (url) => (await Promise.all(loads.map((load) => load(url)))).join('; ');
}
