import { assert } from '../core/assert.ts';
import { type LinearCombination, ONE, Wire } from './linear-combination.ts';
import { encodeProgram } from './program-encoding.ts';
import { LeafDraft, type Operation } from './recorder-leaf.ts';
import { TemplateLibrary } from './recorder-library.ts';
import { mapSignals, patternOf, type Signal, type Signals, wireOf } from './recorder-signals.ts';
import type { TemplateCounts } from './template.ts';

/** A template that was recorded, for its instances. */
interface Recorded<O extends Signals> extends TemplateCounts {
  /** Undefined where nothing was allocated and no row enforced. */
  readonly template: number | undefined;
  /** Which inputs, counted without the constant ones, its bound wires are. */
  readonly inputs: readonly number[];
  /** In the template's own wires. */
  readonly outputs: O;
}

interface RecordedChild {
  readonly template: number;
  readonly label: number;
  readonly wires: readonly Wire[];
  readonly bases: Omit<TemplateCounts, 'bound'>;
  /** Rows of the recorder itself between two templates. */
  readonly isOwnRows: boolean;
}

/**
 * A constraint system that records instead of holding: variables and rows in the order in which
 * gadgets make them, which is the order of the circuit. A gadget that is used more than once wraps
 * itself in `template`, which changes nothing of its meaning.
 */
export class Recorder {
  readonly #library: TemplateLibrary;
  readonly #name: string;
  readonly #children: RecordedChild[] = [];
  readonly #counts = { publics: 0, aux: 0, rows: 0, hints: 0 };
  #draft: LeafDraft | undefined;
  /** Label of the next row or template. */
  #scope = '';

  constructor(library: TemplateLibrary, name: string) {
    this.#library = library;
    this.#name = name;
  }

  /** The next aux variable. */
  allocate(operation: Operation): Wire {
    this.#current().allocate(operation);
    if (operation.op === 'hint') this.#counts.hints++;
    return new Wire('aux', this.#counts.aux++, this);
  }

  /** The next public input, of the value of a linear combination. */
  allocatePublic(value: LinearCombination): Wire {
    this.#current().allocatePublic(value);
    return new Wire('public', this.#counts.publics++, this);
  }

  /** The next row: a · b = c. The linear combinations do not change any more. */
  enforce(a: LinearCombination, b: LinearCombination, c: LinearCombination): void {
    this.#current().enforce(a, b, c, this.#library.labels.index(this.#scope));
    this.#counts.rows++;
  }

  /** Names the rows and templates of `work`, for whoever asks which constraint failed. */
  scope<T>(label: string, work: () => T): T {
    const outer = this.#scope;
    this.#scope = outer === '' ? label : `${outer}, ${label}`;
    const result = work();
    this.#scope = outer;
    return result;
  }

  /**
   * An instance of the gadget `body` over `inputs`; it is recorded once for each pattern of them.
   * @param name of the gadget, with every parameter of `body` beside its inputs
   * @param body makes use of the inputs that it is given, and of no other signal
   */
  template<const I extends Signals, const O extends Signals>(
    name: string,
    inputs: I,
    body: (cs: Recorder, inputs: I) => O,
  ): O {
    const given: Signal[] = [];
    mapSignals(inputs, (signal) => {
      given.push(signal);
      return signal;
    });
    const recorded = this.#library.once(`${name} ${given.map(patternOf).join('')}`, () =>
      record(this.#library, name, inputs, body),
    );
    return this.#instantiate(recorded, given);
  }

  /** @returns what was recorded, for instances of it */
  finish<O extends Signals>(outputs: O): Recorded<O> {
    this.#close();
    const [only] = this.#children;
    if (only === undefined) return this.#recorded(undefined, [], outputs);
    if (this.#children.length === 1 && only.isOwnRows) {
      return this.#recorded(only.template, only.wires, outputs);
    }
    const outside = new Set(
      this.#children.flatMap(({ wires }) => wires.filter((wire) => wire.kind === 'bound')),
    );
    const bound = [...outside];
    const local = this.#numbering(bound);
    const template = this.#library.add({
      ...{ kind: 'composite', name: this.#name, bound: bound.length, ...this.#counts },
      children: this.#children.map(({ template, label, wires, bases }) => ({
        ...{ template, label, bindings: Uint32Array.from(wires, local) },
        ...{ publicBase: bases.publics, auxBase: bases.aux },
        ...{ rowBase: bases.rows, hintBase: bases.hints },
      })),
    });
    return this.#recorded(template, bound, outputs);
  }

  #recorded<O extends Signals>(
    template: number | undefined,
    bound: readonly Wire[],
    outputs: O,
  ): Recorded<O> {
    const inputs = bound.map(({ index }) => index);
    return { template, inputs, outputs, bound: bound.length, ...this.#counts };
  }

  #instantiate<O extends Signals>(recorded: Recorded<O>, given: readonly Signal[]): O {
    this.#close();
    const wires = given.filter((signal) => typeof signal !== 'boolean').map(wireOf);
    for (const wire of wires) this.#checkOwner(wire);
    assert(new Set(wires).size === wires.length, `${this.#name}: expected different inputs`);
    const bases = { ...this.#counts };
    if (recorded.template !== undefined) {
      this.#children.push({
        template: recorded.template,
        label: this.#library.labels.index(this.#scope),
        wires: recorded.inputs.map((i) => wires[i] as Wire),
        bases,
        isOwnRows: false,
      });
    }
    this.#counts.publics += recorded.publics;
    this.#counts.aux += recorded.aux;
    this.#counts.rows += recorded.rows;
    this.#counts.hints += recorded.hints;
    return this.#toOwn(recorded.outputs, wires, bases);
  }

  /** Outputs of an instance in this recorder's wires. */
  #toOwn<O extends Signals>(
    outputs: O,
    inputs: readonly Wire[],
    bases: { readonly publics: number; readonly aux: number },
  ): O {
    const known = new Map<Wire, Wire>([[ONE, ONE]]);
    const own = (wire: Wire): Wire => {
      const { kind, index } = wire;
      if (kind === 'bound') return inputs[index] as Wire;
      const made =
        known.get(wire) ?? new Wire(kind, index + bases[kind as 'publics' | 'aux'], this);
      known.set(wire, made);
      return made;
    };
    return mapSignals(outputs, (signal) => {
      if (typeof signal === 'boolean') return signal;
      return signal instanceof Wire ? own(signal) : { ...signal, wire: own(signal.wire) };
    });
  }

  #numbering(bound: readonly Wire[]): (wire: Wire) => number {
    const positions = new Map(bound.map((wire, i) => [wire, i + 1]));
    const publics = 1 + bound.length;
    const aux = publics + this.#counts.publics;
    return (wire) => positions.get(wire) ?? wire.index + (wire.kind === 'aux' ? aux : publics);
  }

  #current(): LeafDraft {
    this.#draft ??= new LeafDraft(this.#library, this.#counts.publics, this.#counts.aux);
    return this.#draft;
  }

  /** Ends the run of own rows, if there is one. */
  #close(): void {
    const draft = this.#draft;
    if (draft === undefined) return;
    this.#draft = undefined;
    const { leaf, bindings } = draft.finish(this.#name);
    for (const wire of bindings) this.#checkOwner(wire);
    this.#children.push({
      template: this.#library.add(leaf),
      label: 0,
      wires: bindings,
      bases: {
        publics: this.#counts.publics - leaf.publics,
        aux: this.#counts.aux - leaf.aux,
        rows: this.#counts.rows - leaf.rows,
        hints: this.#counts.hints - leaf.hints,
      },
      isOwnRows: true,
    });
  }

  #checkOwner(wire: Wire): void {
    assert(wire.owner === this, `${this.#name}: expected wires of its own or its inputs`);
  }
}

function record<I extends Signals, O extends Signals>(
  library: TemplateLibrary,
  name: string,
  inputs: I,
  body: (cs: Recorder, inputs: I) => O,
): Recorded<O> {
  const recorder = new Recorder(library, name);
  let count = 0;
  const own = mapSignals(inputs, (signal) => {
    if (typeof signal === 'boolean') return signal;
    const wire = new Wire('bound', count++, recorder);
    return signal instanceof Wire ? wire : { wire, negated: signal.negated };
  });
  return recorder.finish(body(recorder, own));
}

/** The program of a circuit, encoded (docs/program-format.md). */
export function recordProgram(name: string, body: (cs: Recorder) => void): Uint8Array {
  const library = new TemplateLibrary();
  const recorder = new Recorder(library, name);
  body(recorder);
  const { template } = recorder.finish([]);
  assert(template !== undefined, `${name}: expected a circuit of at least one row`);
  return encodeProgram(library);
}
