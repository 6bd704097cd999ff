/** Go's message for it. `at`: the first byte of the text that cannot be. */
export class Base64Error extends Error {
  override readonly name = 'Base64Error';

  constructor(at: number) {
    super(`illegal base64 data at input byte ${at}`);
  }
}

/**
 * Standard padded base64 (RFC 4648) that arrives in pieces of the inside of a JSON string. As in
 * Go's encoding/base64, ends of lines are skipped.
 */
export class Base64Decoder {
  /** Characters that do not make three bytes yet; an escape that is not complete. */
  #rest = '';
  #escape = '';
  #padded = false;
  /** Characters that were decoded. */
  #seen = 0;

  /** @throws Base64Error */
  push(piece: Uint8Array): Buffer {
    const text = this.#rest + this.#unescaped(Buffer.from(piece).toString('latin1'));
    const whole = text.slice(0, text.length - (text.length % 4));
    this.#rest = text.slice(whole.length);
    if (this.#padded && text !== '') throw new Base64Error(this.#seen);
    const valid = /^[A-Za-z0-9+/]*={0,2}/.exec(whole)?.[0].length as number;
    if (valid < whole.length) throw new Base64Error(this.#seen + valid);
    this.#padded = whole.endsWith('=');
    this.#seen += whole.length;
    return Buffer.from(whole, 'base64');
  }

  /** @throws Base64Error where the text ends in the middle */
  end(): void {
    const left = this.#rest + this.#escape;
    if (left === '') return;
    const valid = /^[A-Za-z0-9+/]*/.exec(left)?.[0].length as number;
    // Go names the first character that is none, or where the group begins that is not complete.
    throw new Base64Error(this.#seen + (valid === left.length ? 0 : valid));
  }

  #unescaped(piece: string): string {
    let text = this.#escape + piece;
    this.#escape = '';
    if (text.includes('\\')) {
      const last = text.lastIndexOf('\\');
      if (!/^\\(?:[^u]|u.{4})/s.test(text.slice(last))) {
        this.#escape = text.slice(last);
        text = text.slice(0, last);
      }
      text = text.replaceAll(/\\(?:u([0-9a-fA-F]{4})|(.))/gs, (_, hex?: string, one?: string) =>
        hex === undefined
          ? (ESCAPES[one as string] ?? '\\')
          : String.fromCharCode(parseInt(hex, 16)),
      );
    }
    return /[\r\n]/.test(text) ? text.replaceAll(/[\r\n]/g, '') : text;
  }
}

const ESCAPES: Readonly<Record<string, string>> = { '/': '/', n: '\n', r: '\r' };
