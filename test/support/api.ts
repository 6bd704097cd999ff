export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The JSON of it; undefined where it is none. */
  // biome-ignore lint/suspicious/noExplicitAny: tests say what they expect
  readonly body: any;
}

/** A client of a running service that notes all that it was told. */
export class Api {
  readonly #url: string;
  readonly #headers: Readonly<Record<string, string>>;
  /** Each answer, headers and body. */
  readonly heard: string[] = [];

  constructor(url: string, headers: Readonly<Record<string, string>> = {}) {
    this.#url = url;
    this.#headers = headers;
  }

  async send(path: string, options: RequestInit = {}): Promise<Answer> {
    const headers = { ...this.#headers, ...(options.headers as Record<string, string>) };
    const response = await fetch(new URL(path, this.#url), { ...options, headers });
    const text = await response.text();
    this.heard.push(`${response.status} ${JSON.stringify([...response.headers])}\n${text}`);
    return { status: response.status, headers: response.headers, text, body: jsonOf(text) };
  }

  post(path: string, body: unknown, headers: Record<string, string> = {}): Promise<Answer> {
    const raw = typeof body === 'string' || body instanceof Uint8Array;
    return this.send(path, {
      method: 'POST',
      body: raw ? (body as string | Uint8Array<ArrayBuffer>) : JSON.stringify(body),
      headers: { 'content-type': 'application/json', ...headers },
    });
  }

  /** Submits a witness as a form. */
  prove(witness: Uint8Array, fields: Readonly<Record<string, string>>): Promise<Answer> {
    const body = new FormData();
    for (const [name, value] of Object.entries(fields)) body.set(name, value);
    body.set('witness', new Blob([Buffer.from(witness)]), 'w.wtns');
    return this.send('/v1/prove', { method: 'POST', body });
  }

  job(id: string): Promise<Answer> {
    return this.send(`/v1/jobs/${id}`);
  }

  cancel(id: string): Promise<Answer> {
    return this.post(`/v1/jobs/${id}/cancel`, '');
  }

  /** Waits until the job is in one of the states. */
  async reaches(id: string, ...states: readonly string[]): Promise<Answer> {
    for (let tries = 0; tries < 600; tries++) {
      const answer = await this.job(id);
      if (states.includes(answer.body?.state)) return answer;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    throw new Error(`job ${id}: expected ${states.join(' or ')} within 30 s`);
  }
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
