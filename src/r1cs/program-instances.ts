import type { Program } from './program.ts';
import type { Composite, Leaf, Template } from './template.ts';

/** Set in the code of an aux variable, beside its index. The code of an input is its index. */
export const AUX = 0x80000000;

/** One use of a leaf. */
export interface Instance {
  readonly leaf: Leaf;
  /** Global code of each local wire. Valid until the next instance. */
  readonly codes: Uint32Array;
  /** Its first public input, aux variable, row and private input, counted over the circuit. */
  readonly publicBase: number;
  readonly auxBase: number;
  readonly rowBase: number;
  readonly hintBase: number;
  /** From the circuit inwards; empty labels left out. */
  path(): string[];
}

interface Frame {
  readonly publicBase: number;
  readonly auxBase: number;
  readonly rowBase: number;
  readonly hintBase: number;
  readonly label: number;
  readonly parent: Frame | undefined;
}

/** The leaves in the order of synthesis: their rows and variables are the circuit's, in order. */
export function* instancesOf(program: Program): Generator<Instance> {
  const start = { publicBase: 1, auxBase: 0, rowBase: 0, hintBase: 0, label: 0, parent: undefined };
  const walk = new Walk(program);
  yield* walk.visit(program.root, new Uint32Array(0), start);
}

class Walk {
  readonly #program: Program;
  readonly #codes = new Map<Leaf, Uint32Array>();

  constructor(program: Program) {
    this.#program = program;
  }

  /** @param bindings global codes of the bound wires */
  *visit(template: Template, bindings: Uint32Array, frame: Frame): Generator<Instance> {
    if (template.kind === 'leaf') {
      yield this.#instance(template, bindings, frame);
      return;
    }
    for (const child of template.children) {
      const inner = {
        publicBase: frame.publicBase + child.publicBase,
        auxBase: frame.auxBase + child.auxBase,
        rowBase: frame.rowBase + child.rowBase,
        hintBase: frame.hintBase + child.hintBase,
        label: child.label,
        parent: frame,
      };
      const codes = child.bindings.map((wire) => codeOf(template, bindings, frame, wire));
      yield* this.visit(this.#program.templates[child.template] as Template, codes, inner);
    }
  }

  #instance(leaf: Leaf, bindings: Uint32Array, frame: Frame): Instance {
    const { bound, publics, aux } = leaf;
    let codes = this.#codes.get(leaf);
    if (codes === undefined) {
      codes = new Uint32Array(1 + bound + publics + aux);
      this.#codes.set(leaf, codes);
    }
    codes.set(bindings, 1);
    for (let i = 0, at = 1 + bound; i < publics; i++) codes[at + i] = frame.publicBase + i;
    const firstAux = (AUX + frame.auxBase) >>> 0;
    for (let i = 0, at = 1 + bound + publics; i < aux; i++) codes[at + i] = firstAux + i;
    const { publicBase, auxBase, rowBase, hintBase } = frame;
    const path = () => pathOf(frame, this.#program.labels);
    return { leaf, codes, publicBase, auxBase, rowBase, hintBase, path };
  }
}

function codeOf(
  { bound, publics }: Composite,
  bindings: Uint32Array,
  frame: Frame,
  wire: number,
): number {
  if (wire <= bound) return bindings[wire - 1] as number;
  const index = wire - 1 - bound;
  if (index < publics) return frame.publicBase + index;
  return AUX + frame.auxBase + index - publics;
}

function pathOf(frame: Frame, labels: readonly string[]): string[] {
  const path: string[] = [];
  for (let at: Frame | undefined = frame; at !== undefined; at = at.parent) {
    if (at.label !== 0) path.unshift(labels[at.label] as string);
  }
  return path;
}
