import { describe, expect, it } from 'vitest';
import { ProverError, toProverError } from '../../../src/core/errors.ts';
import type { Call } from '../../../src/rpc/context.ts';
import { publicError } from '../../../src/rpc/errors.ts';
import { BATCH_MAX, JsonRpc } from '../../../src/rpc/json-rpc.ts';
import type { Method } from '../../../src/rpc/method.ts';

/** A method of the specification's examples: no schema, whatever parameters. */
function example(invoke: (params: never) => unknown): Method {
  return { invoke: async (params: never) => invoke(params) } as unknown as Method;
}

const calls: string[] = [];
const rpc = new JsonRpc(
  {
    subtract: example((p: number[] | { minuend: number; subtrahend: number }) =>
      Array.isArray(p) ? (p[0] ?? 0) - (p[1] ?? 0) : p.minuend - p.subtrahend,
    ),
    sum: example((p: number[]) => p.reduce((sum, n) => sum + n, 0)),
    get_data: example(() => ['hello', 5]),
    update: example(() => calls.push('update')),
    notify_hello: example(() => calls.push('notify_hello')),
    notify_sum: example(() => calls.push('notify_sum')),
    echo: example((p) => p),
    nothing: example(() => undefined),
    refuse: example(() => {
      throw new ProverError('ERR_QUEUE_FULL', { limit: 4, retryAfterSeconds: 7 });
    }),
    crash: example(() => {
      throw new Error('password is hunter2');
    }),
    crashOddly: example(() => {
      throw null;
    }),
  },
  (thrown) => publicError(toProverError(thrown), 'reference 5'),
);

async function answer(sent: string | Buffer): Promise<unknown> {
  const answered = await rpc.answer(Buffer.from(sent as string), {} as Call);
  return JSON.parse(JSON.stringify(answered ?? null));
}
const request = (rest: object) => JSON.stringify({ jsonrpc: '2.0', ...rest });
const INVALID = { jsonrpc: '2.0', error: { code: -32600, message: 'Invalid Request' }, id: null };

describe('examples of the JSON-RPC 2.0 specification, section 7', () => {
  const cases: [name: string, sent: string, received: unknown][] = [
    [
      'positional parameters',
      '{"jsonrpc": "2.0", "method": "subtract", "params": [42, 23], "id": 1}',
      { jsonrpc: '2.0', result: 19, id: 1 },
    ],
    [
      'positional parameters, swapped',
      '{"jsonrpc": "2.0", "method": "subtract", "params": [23, 42], "id": 2}',
      { jsonrpc: '2.0', result: -19, id: 2 },
    ],
    [
      'named parameters',
      '{"jsonrpc": "2.0", "method": "subtract", "params": {"subtrahend": 23, "minuend": 42}, "id": 3}',
      { jsonrpc: '2.0', result: 19, id: 3 },
    ],
    [
      'named parameters, swapped',
      '{"jsonrpc": "2.0", "method": "subtract", "params": {"minuend": 42, "subtrahend": 23}, "id": 4}',
      { jsonrpc: '2.0', result: 19, id: 4 },
    ],
    ['a notification', '{"jsonrpc": "2.0", "method": "update", "params": [1,2,3,4,5]}', null],
    ['a notification of an unknown method', '{"jsonrpc": "2.0", "method": "foobar"}', null],
    [
      'an unknown method',
      '{"jsonrpc": "2.0", "method": "foobar", "id": "1"}',
      { jsonrpc: '2.0', error: { code: -32601, message: 'Method not found' }, id: '1' },
    ],
    [
      'invalid JSON',
      '{"jsonrpc": "2.0", "method": "foobar, "params": "bar", "baz]',
      { jsonrpc: '2.0', error: { code: -32700, message: 'Parse error' }, id: null },
    ],
    ['an invalid request object', '{"jsonrpc": "2.0", "method": 1, "params": "bar"}', INVALID],
    [
      'a batch of invalid JSON',
      '[{"jsonrpc": "2.0", "method": "sum", "params": [1,2,4], "id": "1"},{"jsonrpc": "2.0", "method"',
      { jsonrpc: '2.0', error: { code: -32700, message: 'Parse error' }, id: null },
    ],
    ['an empty batch', '[]', INVALID],
    ['an invalid batch of one', '[1]', [INVALID]],
    ['an invalid batch', '[1,2,3]', [INVALID, INVALID, INVALID]],
    [
      'a mixed batch',
      `[
        {"jsonrpc": "2.0", "method": "sum", "params": [1,2,4], "id": "1"},
        {"jsonrpc": "2.0", "method": "notify_hello", "params": [7]},
        {"jsonrpc": "2.0", "method": "subtract", "params": [42,23], "id": "2"},
        {"foo": "boo"},
        {"jsonrpc": "2.0", "method": "foo.get", "params": {"name": "myself"}, "id": "5"},
        {"jsonrpc": "2.0", "method": "get_data", "id": "9"}
      ]`,
      [
        { jsonrpc: '2.0', result: 7, id: '1' },
        { jsonrpc: '2.0', result: 19, id: '2' },
        INVALID,
        { jsonrpc: '2.0', error: { code: -32601, message: 'Method not found' }, id: '5' },
        { jsonrpc: '2.0', result: ['hello', 5], id: '9' },
      ],
    ],
    [
      'a batch of notifications',
      `[
        {"jsonrpc": "2.0", "method": "notify_sum", "params": [1,2,4]},
        {"jsonrpc": "2.0", "method": "notify_hello", "params": [7]}
      ]`,
      null,
    ],
  ];
  it.each(cases)('%s', async (_, sent, received) => {
    expect(withoutDetail(await answer(sent))).toEqual(received);
  });

  it('runs notifications', async () => {
    calls.length = 0;
    await answer('[{"jsonrpc":"2.0","method":"notify_sum"},{"jsonrpc":"2.0","method":"update"}]');
    expect(calls).toEqual(['notify_sum', 'update']);
  });
});

/** The specification's examples have no `data`; ours says what is wrong. */
function withoutDetail(received: unknown): unknown {
  return JSON.parse(
    JSON.stringify(received, (name, value) => (name === 'data' ? undefined : value)),
  );
}

describe('ids', () => {
  it.each(['7', '0', '-1', '1.5', '9007199254740991', '"x"', '""', '"0"', 'null'])(
    '%s is echoed',
    async (id) => {
      const sent = `{"jsonrpc":"2.0","method":"echo","params":{"a":1},"id":${id}}`;
      expect(await answer(sent)).toEqual({ jsonrpc: '2.0', result: { a: 1 }, id: JSON.parse(id) });
    },
  );
  it.each(['{}', '[]', '[1]', 'true', 'false', '1e400', '9007199254740993'])(
    '%s is refused with id null',
    async (id) => {
      calls.length = 0;
      const sent = `{"jsonrpc":"2.0","method":"update","id":${id}}`;
      expect(await answer(sent)).toMatchObject(INVALID);
      expect(calls).toEqual([]);
    },
  );
  it('an invalid request with a usable id is answered under it', async () => {
    expect(await answer('{"jsonrpc":"1.0","method":"echo","id":4}')).toMatchObject({
      error: { code: -32600 },
      id: 4,
    });
  });
});

describe('envelopes', () => {
  it.each([
    'null',
    '0',
    '""',
    'false',
    '1',
    '{}',
    '{"method":"echo","id":null}',
    '{"jsonrpc":2,"method":"echo"}',
    '{"jsonrpc":"2.0","id":null}',
    '{"jsonrpc":"2.0","method":null}',
    '{"jsonrpc":"2.0","method":"echo","params":null}',
    '{"jsonrpc":"2.0","method":"echo","params":1}',
    '{"jsonrpc":"2.0","method":"echo","params":"x"}',
    '{"jsonrpc":"2.0","method":"echo","params":false}',
  ])('%s is an invalid request', async (sent) => {
    expect(await answer(sent)).toMatchObject(INVALID);
    expect(await answer(`[${sent}]`)).toMatchObject([INVALID]);
  });

  it.each(['', ' ', '{', '[', '[1', "{'a':1}", 'undefined', '\u0000', '[,]'])(
    '%j is a parse error',
    async (sent) => {
      expect(await answer(sent)).toMatchObject({ error: { code: -32700 }, id: null });
    },
  );

  it('bytes that are not UTF-8 are a parse error, and a byte order mark is none', async () => {
    const sent = Buffer.from(request({ method: 'get_data', id: 'x' }));
    expect(await answer(sent)).toMatchObject({ id: 'x' });
    expect(await answer(Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), sent]))).toMatchObject({
      id: 'x',
    });
    sent[sent.indexOf('x')] = 0xff;
    expect(await answer(sent)).toMatchObject({ error: { code: -32700 }, id: null });
  });

  it('names of Object.prototype are no methods', async () => {
    for (const method of ['constructor', '__proto__', 'toString', 'hasOwnProperty']) {
      expect(await answer(request({ method, id: 1 }))).toMatchObject({ error: { code: -32601 } });
    }
  });

  it('a batch lets others have their turn between its requests', async () => {
    let turns = 0;
    let going = true;
    const count = () => {
      turns++;
      if (going) setImmediate(count);
    };
    count();
    await answer(
      `[${Array(50)
        .fill(request({ method: 'get_data', id: 1 }))
        .join()}]`,
    );
    going = false;
    expect(turns).toBeGreaterThan(40);
  });

  it('a batch of one is answered by an array', async () => {
    expect(await answer(`[${request({ method: 'get_data', id: 1 })}]`)).toEqual([
      { jsonrpc: '2.0', result: ['hello', 5], id: 1 },
    ]);
  });

  it('a batch with one answer among notifications is an array', async () => {
    const sent = `[${request({ method: 'update' })},${request({ method: 'get_data', id: 1 })}]`;
    expect(await answer(sent)).toMatchObject([{ id: 1 }]);
  });

  it(`takes ${BATCH_MAX} requests and refuses one more, running none`, async () => {
    const batch = (n: number) =>
      `[${Array.from({ length: n }, (_, id) => request({ method: 'update', id })).join(',')}]`;
    expect(await answer(batch(BATCH_MAX))).toHaveLength(BATCH_MAX);
    calls.length = 0;
    expect(await answer(batch(BATCH_MAX + 1))).toMatchObject({
      ...INVALID,
      error: { data: { detail: `batch: expected at most ${BATCH_MAX} requests, got 101` } },
    });
    expect(calls).toEqual([]);
  });

  it('answers in the order of the requests, whichever ends first', async () => {
    const releases: (() => void)[] = [];
    const held = new JsonRpc(
      { hold: example(() => new Promise<void>((done) => releases.push(done))) },
      (thrown) => publicError(toProverError(thrown), ''),
    );
    const sent = [1, 2, 3].map((id) => request({ method: 'hold', id }));
    const answered = held.answer(Buffer.from(`[${sent.join(',')}]`), {} as Call);
    await expect.poll(() => releases).toHaveLength(3);
    for (const release of releases.toReversed()) release();
    expect(await answered).toMatchObject([{ id: 1 }, { id: 2 }, { id: 3 }]);
  });

  it('nesting that would exhaust the stack is only refused', async () => {
    const deep = `{"jsonrpc":"2.0","id":1,"method":"get_data","params":${'['.repeat(5e5)}${']'.repeat(5e5)}}`;
    expect(await answer(deep)).toMatchObject({
      id: null,
      error: { code: -32700, data: { detail: 'body: expected JSON of at most 32 levels' } },
    });
  });
});

describe('results and errors', () => {
  it('a method without a value answers null', async () => {
    expect(await answer(request({ method: 'nothing', id: 1 }))).toEqual({
      jsonrpc: '2.0',
      result: null,
      id: 1,
    });
  });

  it('no parameters and an empty array are the same', async () => {
    for (const params of [undefined, [], {}]) {
      expect(await answer(request({ method: 'echo', params, id: 1 }))).toMatchObject({
        result: {},
      });
    }
  });

  it('a ProverError has its code, its data and its retry advice', async () => {
    expect(await answer(request({ method: 'refuse', id: 1 }))).toEqual({
      jsonrpc: '2.0',
      id: 1,
      error: {
        code: -32031,
        message: 'queue: expected fewer than 4 waiting jobs, got 4; retry after 7 s',
        data: { code: 'ERR_QUEUE_FULL', retry: 'later', limit: 4, retry_after_seconds: 7 },
      },
    });
  });

  it.each(['crash', 'crashOddly'])('%s tells nothing of what was thrown', async (method) => {
    const received = await answer(request({ method, id: 1 }));
    expect(received).toMatchObject({
      error: { code: -32603, message: 'internal error: see reference 5 in the log' },
    });
    expect(JSON.stringify(received)).not.toContain('hunter2');
  });

  it('an error in a notification is not answered', async () => {
    expect(await answer(request({ method: 'crash' }))).toBeNull();
    expect(await answer(`[${request({ method: 'crash' })}]`)).toBeNull();
  });
});
