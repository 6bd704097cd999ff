import type { IncomingMessage, Server } from 'node:http';
import { Server as HttpsServer } from 'node:https';
import type { Duplex } from 'node:stream';

/** What speaks WebSocket on some paths. */
export interface WebSocketFace {
  owns(url: string | undefined): boolean;
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void>;
}

/** Headers that only ask for another protocol. */
const OF_UPGRADE = ['upgrade', 'connection', 'http2-settings'];

/**
 * Lets `face` take the connections that ask for a WebSocket on its paths. A wish for any other
 * protocol (Java's client asks for HTTP/2 with each request) is ignored, as RFC 9110, section 7.8
 * allows: with a listener Node leaves HTTP, so the request goes back without that wish.
 */
export function acceptWebSockets(server: Server, face: WebSocketFace): void {
  server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    const isWebSocket = request.headers.upgrade?.toLowerCase() === 'websocket';
    if (isWebSocket && face.owns(request.url)) void face.upgrade(request, socket, head);
    else {
      socket.unshift(Buffer.concat([headOf(request), head]));
      server.emit(server instanceof HttpsServer ? 'secureConnection' : 'connection', socket);
    }
  });
}

function headOf({ method, url, rawHeaders }: IncomingMessage): Buffer {
  let text = `${method} ${url} HTTP/1.1\r\n`;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const [name, value] = rawHeaders.slice(i, i + 2) as [string, string];
    if (!OF_UPGRADE.includes(name.toLowerCase())) text += `${name}: ${value}\r\n`;
  }
  return Buffer.from(`${text}\r\n`, 'latin1');
}
