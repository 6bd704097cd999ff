import type { BackendRegistry } from '../backend/registry.ts';
import { ProverError, toErrorRecord, toProverError } from '../core/errors.ts';
import { benchProve } from './bench.ts';
import { benchParts } from './bench-parts.ts';
import { benchSynthesis } from './bench-synthesis.ts';
import { checkKey, digestKey, inspectKey, loadKey } from './inspect.ts';
import { LoadedKeys } from './loaded-keys.ts';
import { statementFacts } from './partition.ts';
import type { FromHost, HostEvent, HostOperations, Operation, ToHost } from './protocol.ts';
import { Prover } from './prove.ts';
import { setup } from './setup.ts';
import { verificationKeyOf, verify } from './verify.ts';

/** What an operation obeys and reports to. */
export interface Call {
  readonly signal: AbortSignal;
  event(event: HostEvent): void;
  progress(share: number): void;
}

type Handlers = {
  [Op in Operation]: (
    params: HostOperations[Op]['params'],
    call: Call,
  ) => Promise<HostOperations[Op]['result']>;
};

/** Answers requests, several at a time; the caller decides how many proofs run at once. */
export class HostServer {
  readonly #running = new Map<number, AbortController>();
  readonly #handlers: Handlers;
  readonly #send: (message: FromHost) => void;

  constructor(backends: BackendRegistry, send: (message: FromHost) => void) {
    const keys = new LoadedKeys(backends, (residents) => send({ residents }));
    const prover = new Prover(keys);
    this.#send = send;
    this.#handlers = {
      probe: () => backends.probeAll(),
      prove: (params, call) => prover.prove(params, call),
      provePartition: (params, call) => prover.provePartition(params, call),
      statement: ({ statement }, call) => statementFacts(statement, call.signal),
      verify: (params, call) => verify(params, call.signal),
      setup: (params, call) => setup(params, call),
      vkey: ({ keyPath }) => verificationKeyOf(keyPath),
      inspect: ({ keyPath }, call) => inspectKey(keyPath, call),
      benchProve: (params, call) => benchProve(params, backends, call),
      benchParts: (params, call) => benchParts(params, call),
      benchSynthesis: (params, call) => benchSynthesis(params, call),
      checkKey: (params, call) => checkKey(params, keys, call),
      digestKey,
      loadKey: (params, call) => loadKey(params, keys, call),
      unloadKey: async ({ keyDigest }) => ({ bytes: await keys.unload(keyDigest) }),
    };
  }

  receive(message: ToHost): void {
    if ('abort' in message) this.#running.get(message.abort)?.abort();
    else void this.#answer(message.id, message.operation, message.params);
  }

  async #answer(id: number, operation: Operation, params: unknown): Promise<void> {
    const controller = new AbortController();
    this.#running.set(id, controller);
    const call: Call = {
      signal: controller.signal,
      event: (event) => this.#send({ id, event }),
      progress: (progress) => this.#send({ id, progress }),
    };
    try {
      const handler = this.#handlers[operation] as (p: unknown, c: Call) => Promise<unknown>;
      this.#send({ id, result: await handler(params, call) });
    } catch (thrown) {
      const error = controller.signal.aborted
        ? new ProverError('ERR_CANCELLED', { jobId: String(id) })
        : toProverError(thrown);
      this.#send({ id, error: toErrorRecord(error) });
    } finally {
      this.#running.delete(id);
    }
  }
}
