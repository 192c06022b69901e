/**
 * Puts the arguments of a call together that Vertex AI streams in pieces
 * (https://cloud.google.com/vertex-ai/generative-ai/docs/multimodal/function-calling#streaming-fc). Each piece names a path
 * such as `$.recipe.steps[0]` and a value; strings at one path are appended.
 */
import type { Json, JsonObject } from "../../../core/json.ts";
import { isObject } from "../../../core/json.ts";

/** Highest index of a list that weir accepts: a wrong one must not fill the memory. */
const MAX_INDEX = 100_000;

export class PartialArguments {
  readonly value: JsonObject = {};
  /** The path at which a string continues. */
  #growing: string | undefined;

  add(pieces: Json | undefined): void {
    if (!Array.isArray(pieces)) return;
    for (const piece of pieces) if (isObject(piece)) this.#addPiece(piece);
  }

  #addPiece(piece: JsonObject): void {
    const { jsonPath, stringValue } = piece;
    if (typeof jsonPath !== "string") return;
    const steps = stepsOf(jsonPath);
    if (steps.length === 0) return;
    if (typeof stringValue !== "string") {
      this.#growing = undefined;
      return put(this.value, steps, () => piece.numberValue ?? piece.boolValue ?? null);
    }
    const continues = this.#growing === jsonPath;
    this.#growing = piece.willContinue === true ? jsonPath : undefined;
    put(this.value, steps, (before) =>
      continues && typeof before === "string" ? before + stringValue : stringValue,
    );
  }
}

/** The steps of a path: `$.a[0].b` → `a`, 0, `b`. Names may also be in brackets and quotes. */
function stepsOf(path: string): (string | number)[] {
  const steps: (string | number)[] = [];
  for (const [, name, index, quoted] of path.matchAll(/\.([^.[\]]+)|\[(\d+)\]|\[['"]([^\]]*)['"]\]/g))
    steps.push(index === undefined ? (name ?? quoted ?? "") : Math.min(Number(index), MAX_INDEX));
  return steps;
}

type Holder = Record<string | number, Json | undefined>;

function put(
  root: JsonObject,
  steps: readonly (string | number)[],
  next: (before: Json | undefined) => Json,
): void {
  let holder = root as Holder;
  for (const [at, step] of steps.entries()) {
    const before = Object.hasOwn(holder, step) ? holder[step] : undefined;
    if (at === steps.length - 1) return define(holder, step, next(before));
    const inner =
      typeof before === "object" && before !== null ? before : typeof steps[at + 1] === "number" ? [] : {};
    define(holder, step, inner);
    holder = inner as Holder;
  }
}

/** Also for a member named `__proto__`. */
function define(holder: Holder, step: string | number, value: Json): void {
  Object.defineProperty(holder, step, { value, writable: true, enumerable: true, configurable: true });
}
