import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { MIB } from '../../core/units.ts';

/** RFC 6455, section 1.3. */
const GUID = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11';
const OPCODE = { continuation: 0, text: 1, binary: 2, close: 8, ping: 9, pong: 10 } as const;
const CONTROL_FIRST = 8;
const CONTROL_BYTES_MAX = 125;
const [FIN, RESERVED, OPCODE_BITS, MASKED, LENGTH_BITS] = [0x80, 0x70, 0x0f, 0x80, 0x7f] as const;
const MASK_BYTES = 4;
/** Section 7.4.1. */
export const CLOSE = { normal: 1000, protocolError: 1002, tooLarge: 1009 } as const;
const LINGER_MS = 1_000;
/** Frames that are at hand are taken for so long before others have their turn. */
const TURN_MS = 5;
/** Answers that a client does not read pile up to here. */
const UNREAD_BYTES_MAX = 16 * MIB;

/** The response that turns a request into a WebSocket; undefined for one that asks for none. */
export function handshake({ method, headers }: IncomingMessage): string | undefined {
  const key = headers['sec-websocket-key'] ?? '';
  const isWebSocket = headers.upgrade?.toLowerCase() === 'websocket';
  const isRight = headers['sec-websocket-version'] === '13' && /^[A-Za-z0-9+/]{22}==$/.test(key);
  if (method !== 'GET' || !isWebSocket || !isRight) return undefined;
  const accept = createHash('sha1')
    .update(key + GUID)
    .digest('base64');
  const lines = ['Upgrade: websocket', 'Connection: Upgrade', `Sec-WebSocket-Accept: ${accept}`];
  return `HTTP/1.1 101 Switching Protocols\r\n${lines.join('\r\n')}\r\n\r\n`;
}

interface Frame {
  readonly final: boolean;
  readonly opcode: number;
  readonly length: number;
  readonly mask: Buffer;
}

/** The client breaks the protocol, or is gone in the middle of a message. */
export class WebSocketError extends Error {
  override readonly name = 'WebSocketError';
}

/**
 * The server's side of a WebSocket (RFC 6455), which hands on a message while it arrives. Libraries
 * join a message first: one of 256 MiB, in 65,000 fragments of Go's, would take half a gigabyte and
 * keep the event loop for a tenth of a second.
 */
export class WebSocketConnection {
  readonly #socket: Duplex;
  readonly #chunks: AsyncIterator<Buffer>;
  #buffer: Buffer;
  #turnBegan = performance.now();
  /** When something last came: milliseconds of `performance.now`. */
  heardAt = performance.now();

  /** @param head what came after the request's headers */
  constructor(socket: Duplex, head: Buffer) {
    this.#socket = socket;
    this.#chunks = socket[Symbol.asyncIterator]();
    this.#buffer = head;
  }

  /**
   * Each message as its pieces come; it has to be read to its end before the next. Ends when the
   * client closes. @throws WebSocketError
   */
  async *messages(): AsyncGenerator<AsyncIterable<Uint8Array>> {
    for (;;) {
      const frame = await this.#dataFrame();
      if (frame === undefined) return;
      if (frame.opcode === OPCODE.continuation) throw new WebSocketError('no message goes on');
      yield this.#message(frame);
    }
  }

  send(text: string): void {
    this.#write(OPCODE.text, Buffer.from(text));
  }

  ping(): void {
    this.#write(OPCODE.ping, Buffer.alloc(0));
  }

  /** Says why. The client has a moment to hear it, whatever else it sends. */
  close(code: number): void {
    const reason = Buffer.alloc(2);
    reason.writeUInt16BE(code);
    this.#write(OPCODE.close, reason);
    this.#socket.end();
    setTimeout(() => this.#socket.destroy(), LINGER_MS).unref();
  }

  destroy(): void {
    this.#socket.destroy();
  }

  async *#message(first: Frame): AsyncGenerator<Uint8Array> {
    let frame = first;
    for (;;) {
      for (let left = frame.length; left > 0; ) {
        if (!(await this.#fill(1))) throw new WebSocketError('the end of the connection');
        const piece = this.#take(Math.min(left, this.#buffer.length));
        unmask(piece, frame.mask, frame.length - left);
        left -= piece.length;
        yield piece;
      }
      if (frame.final) return;
      const next = await this.#dataFrame();
      if (next === undefined) throw new WebSocketError('the end of the connection');
      if (next.opcode !== OPCODE.continuation) throw new WebSocketError('a message goes on');
      frame = next;
    }
  }

  /** The next frame that is part of a message; undefined: the connection is closed. */
  async #dataFrame(): Promise<Frame | undefined> {
    for (;;) {
      const frame = await this.#frame();
      if (frame === undefined || frame.opcode < CONTROL_FIRST) return frame;
      if (!(await this.#fill(frame.length))) return undefined;
      const payload = this.#take(frame.length);
      unmask(payload, frame.mask, 0);
      if (frame.opcode === OPCODE.close) {
        this.close(CLOSE.normal);
        return undefined;
      }
      if (frame.opcode === OPCODE.ping) this.#write(OPCODE.pong, payload);
    }
  }

  /** Section 5.2: the head of a frame. */
  async #frame(): Promise<Frame | undefined> {
    await this.#turn();
    if (!(await this.#fill(2))) return undefined;
    const [first, second] = this.#take(2) as unknown as [number, number];
    const [opcode, final] = [first & OPCODE_BITS, (first & FIN) !== 0];
    const known = (Object.values(OPCODE) as number[]).includes(opcode);
    if ((first & RESERVED) !== 0 || !known || (second & MASKED) === 0) {
      throw new WebSocketError('a frame that no client may send');
    }
    const short = second & LENGTH_BITS;
    const more = short === 126 ? 2 : short === 127 ? 8 : 0;
    if (!(await this.#fill(more + MASK_BYTES))) return undefined;
    const long = this.#take(more);
    const length =
      more === 0 ? short : more === 2 ? long.readUInt16BE() : Number(long.readBigUInt64BE());
    if (opcode >= CONTROL_FIRST && (length > CONTROL_BYTES_MAX || !final)) {
      throw new WebSocketError('a control frame that is too long');
    }
    if (!Number.isSafeInteger(length)) throw new WebSocketError('a frame that is too long');
    return { final, opcode, length, mask: Buffer.from(this.#take(MASK_BYTES)) };
  }

  /** Frames of a byte come by the hundred thousand, and reading them goes on in microtasks. */
  async #turn(): Promise<void> {
    if (performance.now() - this.#turnBegan < TURN_MS) return;
    await setImmediate();
    this.#turnBegan = performance.now();
  }

  /** Whether so many bytes are at hand; false: the connection is over. */
  async #fill(bytes: number): Promise<boolean> {
    while (this.#buffer.length < bytes) {
      const { done, value } = await this.#chunks.next();
      if (done === true) return false;
      this.heardAt = performance.now();
      this.#buffer = this.#buffer.length === 0 ? value : Buffer.concat([this.#buffer, value]);
    }
    return true;
  }

  #take(bytes: number): Buffer {
    const taken = this.#buffer.subarray(0, bytes);
    this.#buffer = this.#buffer.subarray(bytes);
    return taken;
  }

  #write(opcode: number, payload: Buffer): void {
    if (!this.#socket.writable) return;
    if (this.#socket.writableLength > UNREAD_BYTES_MAX) {
      this.#socket.destroy();
      return;
    }
    this.#socket.write(Buffer.concat([headOf(opcode, payload.length), payload]));
  }
}

/** Of a whole frame, unmasked as a server's are. */
function headOf(opcode: number, length: number): Buffer {
  if (length < 126) return Buffer.of(FIN | opcode, length);
  if (length < 65_536) return Buffer.of(FIN | opcode, 126, length >> 8, length & 0xff);
  const head = Buffer.alloc(10);
  head[0] = FIN | opcode;
  head[1] = 127;
  head.writeBigUInt64BE(BigInt(length), 2);
  return head;
}

/** In place. @param offset of the piece in its frame */
function unmask(piece: Buffer, mask: Buffer, offset: number): void {
  for (let i = 0; i < piece.length; i++) {
    piece[i] = (piece[i] as number) ^ (mask[(offset + i) & 3] as number);
  }
}
