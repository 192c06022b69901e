/** What became of each line, in arrays by its number: 100,000 lines take at most 5 MB. */
import type { Batch } from "../batch.ts";
import type { End, Held, Start } from "./record.ts";

/** `begun`: an attempt has no end. `fresh`: the next attempt may go out, which may be the first. */
export type LineState = "fresh" | "begun" | "ended";

/** The place of a result. */
export interface Place {
  readonly line: number;
  /** The runner that wrote it. */
  readonly fence: number;
  readonly to: "out" | "err";
  /** Bytes. */
  readonly offset: number;
  readonly length: number;
}

/** Sums of a batch: lines by their ending, tokens and nano-dollars of all attempts that have ended. */
export type Sums = Pick<Batch, "done" | "failed" | "cancelled" | "late" | "usage" | "cost">;

const FRESH = 0;
const BEGUN = 1;
const OUT = 2;
const ERR = 3;

export class LineTable {
  #states = new Uint8Array(0);
  #attempts = new Uint16Array(0);
  #fences = new Uint32Array(0);
  #offsets = new Float64Array(0);
  #lengths = new Uint32Array(0);
  /** Numbers of ended lines in the order of their ends. */
  #order = new Uint32Array(0);
  #calls = new Map<number, string>();
  readonly #held = new Set<number>();
  #ended = 0;
  #sums: Sums = {
    ...{ done: 0, failed: 0, cancelled: 0, late: 0, cost: 0 },
    usage: { input: 0, cached: 0, output: 0, reasoning: 0 },
  };

  get sums(): Sums {
    return this.#sums;
  }

  /** Number of lines that have ended. */
  get ended(): number {
    return this.#ended;
  }

  stateOf(line: number): LineState {
    const state = this.#states[line] ?? FRESH;
    if (state === FRESH) return "fresh";
    return state === BEGUN ? "begun" : "ended";
  }

  /** The number of attempts that were made or are being made. */
  attemptsOf(line: number): number {
    return this.#attempts[line] ?? 0;
  }

  /** Lines whose last attempt has no end, with the id of its call. */
  begun(): ReadonlyMap<number, string> {
    return this.#calls;
  }

  /** Whether the last attempt of the line has no end, and held its part of budgets. */
  isHeld(line: number): boolean {
    return this.#held.has(line);
  }

  hold({ n, a }: Omit<Held, "t">): void {
    if (this.stateOf(n) === "begun" && this.attemptsOf(n) === a) this.#held.add(n);
  }

  start({ n, a, call }: Omit<Start, "t">): void {
    this.#grow(n);
    if (this.stateOf(n) === "ended") return;
    this.#states[n] = BEGUN;
    this.#attempts[n] = a;
    this.#calls.set(n, call);
    this.#held.delete(n);
  }

  /** @param fence of the runner that wrote the record */
  end(end: Omit<End, "t">, fence: number): void {
    const { n, a, to, off, len } = end;
    this.#grow(n);
    if (this.stateOf(n) === "ended") return;
    this.#sums = summed(this.#sums, end);
    this.#calls.delete(n);
    this.#held.delete(n);
    this.#attempts[n] = a;
    if (to === "again") {
      this.#states[n] = FRESH;
      return;
    }
    this.#states[n] = to === "out" ? OUT : ERR;
    this.#fences[n] = fence;
    this.#offsets[n] = off;
    this.#lengths[n] = len;
    this.#order[this.#ended++] = n;
  }

  /** The results in the order in which lines ended, or in that of the input. */
  *places(order: "completion" | "input"): Generator<Place, void> {
    if (order === "completion")
      for (let at = 0; at < this.#ended; at++) yield this.#placeOf(this.#order[at]!);
    else
      for (let line = 0; line < this.#states.length; line++)
        if (this.stateOf(line) === "ended") yield this.#placeOf(line);
  }

  #placeOf(line: number): Place {
    return {
      line,
      fence: this.#fences[line]!,
      to: this.#states[line] === OUT ? "out" : "err",
      offset: this.#offsets[line]!,
      length: this.#lengths[line]!,
    };
  }

  #grow(line: number): void {
    if (line < this.#states.length) return;
    const size = Math.max(1024, 2 * this.#states.length, line + 1);
    this.#states = larger(new Uint8Array(size), this.#states);
    this.#attempts = larger(new Uint16Array(size), this.#attempts);
    this.#fences = larger(new Uint32Array(size), this.#fences);
    this.#offsets = larger(new Float64Array(size), this.#offsets);
    this.#lengths = larger(new Uint32Array(size), this.#lengths);
    this.#order = larger(new Uint32Array(size), this.#order);
  }
}

function summed(sums: Sums, { to, cost, e, u = [0, 0, 0, 0] }: Omit<End, "t">): Sums {
  const [input, cached, output, reasoning] = u;
  const { usage } = sums;
  const next = {
    ...sums,
    cost: sums.cost + Number(cost),
    usage: {
      input: usage.input + input,
      cached: usage.cached + cached,
      output: usage.output + output,
      reasoning: usage.reasoning + reasoning,
    },
  };
  if (to === "again") return next;
  const ending = e ?? (to === "out" ? "done" : "failed");
  return { ...next, [ending]: next[ending] + 1 };
}

function larger<Table extends { set(values: Table): void }>(to: Table, from: Table): Table {
  to.set(from);
  return to;
}
