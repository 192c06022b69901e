/** The whole proof: cells, one after the other, and a sweep through all that the gateway has written down. */
import { Needles } from "../replace/needles.ts";
import { type Kept, type Parts, ProofGateway } from "./gateway.ts";
import { type Failure, formsOf, Judge, type Judged } from "./judge.ts";
import { type Cell, nameOf } from "./matrix.ts";
import { playAll } from "./scenarios/all.ts";

export interface Proof {
  readonly cells: number;
  readonly assertions: number;
  readonly failures: readonly Failure[];
  readonly seconds: number;
  /** Cells and failed cells by client, lane and kind. */
  readonly matrix: ReadonlyMap<string, { cells: number; failed: number }>;
}

export interface ProveOptions {
  /** Characters of a long text around a value. */
  readonly long: number;
  /** Several turns, errors, fallbacks and what else no cell has. */
  readonly scenarios: boolean;
  /** Ends at the first failure. */
  readonly untilFirst: boolean;
  /** Called after each thousand of cells. @param done number of cells */
  readonly progress?: (done: number) => void;
}

/** Cells that run at the same time: what one finds must not show in another one. */
const AT_ONCE = 32;
const EACH = 1_000;

export async function prove(
  cells: Iterable<Cell>,
  parts: Parts,
  { long, scenarios, untilFirst, progress }: ProveOptions,
): Promise<Proof> {
  const began = performance.now();
  const gateway = await ProofGateway.start(parts);
  const judge = new Judge(gateway, { long });
  const failures: Failure[] = [];
  const matrix = new Map<string, { cells: number; failed: number }>();
  const owners = new Map<string, string>();
  const rest = cells[Symbol.iterator]();
  let done = 0;
  let started = 0;
  let assertions = 0;
  const isOver = () => untilFirst && failures.length > 0;
  const work = async () => {
    for (let next = rest.next(); !next.done && !isOver(); next = rest.next()) {
      const cell = next.value;
      const judged = await judge.judge(cell, started++).catch((fault: unknown) => broken(cell, fault));
      assertions += judged.assertions;
      failures.push(...judged.failures);
      for (const value of judged.values) owners.set(value, nameOf(cell));
      count(matrix, cell, judged.failures.length > 0);
      if (++done % EACH === 0) progress?.(done);
    }
  };
  try {
    await Promise.all(Array.from({ length: AT_ONCE }, work));
    if (scenarios && !isOver()) {
      const played = await playAll(gateway);
      assertions += played.assertions;
      failures.push(...played.failures);
      for (const value of played.values) owners.set(value, "scenarios");
    }
    for (const kept of await gateway.end()) {
      failures.push(...(await sweep(kept, owners)));
      assertions += owners.size;
    }
  } finally {
    await gateway.remove();
  }
  const seconds = (performance.now() - began) / 1_000;
  return { cells: done, assertions, failures, seconds, matrix };
}

function broken(cell: Cell, fault: unknown): Judged {
  const failure = { cell: nameOf(cell), what: "the call ends", detail: String(fault) };
  return { assertions: 1, failures: [failure], values: [] };
}

function count(matrix: Map<string, { cells: number; failed: number }>, cell: Cell, isFailed: boolean): void {
  const key = `${cell.client} ${cell.lane} ${cell.kind}`;
  const { cells = 0, failed = 0 } = matrix.get(key) ?? {};
  matrix.set(key, { cells: cells + 1, failed: failed + (isFailed ? 1 : 0) });
}

/** Looks for values in what the gateway has written down. @param owners cells by value */
async function sweep({ name, text }: Kept, owners: ReadonlyMap<string, string>): Promise<Failure[]> {
  const forms = new Map<string, string>();
  for (const [value, cell] of owners)
    for (const form of [...formsOf(value), Buffer.from(value).toString("base64").slice(0, -4)])
      if (form.length >= 8) forms.set(Buffer.from(form).toString("latin1"), cell);
  const hits = new Needles(forms.keys()).find(await text());
  const cells = new Set(hits.map(({ text: hit }) => forms.get(hit)!));
  return [...cells].map((cell) => ({ cell, what: `no value is in ${name}`, detail: name }));
}
