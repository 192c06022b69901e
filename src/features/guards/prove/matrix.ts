/** The cells of the proof: what is planted, where, on which way, and what the guard does. */
import { ACTIONS } from "../declarations.ts";
import { CLIENTS, PLACES } from "./clients.ts";
import { KINDS } from "./values.ts";
import { VARIANTS } from "./variants.ts";

export const LANES = ["native", "translated"] as const;
/** Characters of the pieces of a streamed answer. */
export const DELIVERIES = ["1", "2", "3", "7", "whole", "json"] as const;

/** The coordinates of a cell. */
export interface Cell {
  readonly kind: string;
  readonly client: string;
  readonly lane: (typeof LANES)[number];
  readonly delivery: (typeof DELIVERIES)[number];
  readonly place: (typeof PLACES)[number];
  readonly variant: string;
  readonly action: (typeof ACTIONS)[number];
}

const AXES = {
  kind: KINDS.map(({ name }) => name),
  client: CLIENTS.map(({ name }) => name),
  lane: LANES,
  delivery: DELIVERIES,
  place: PLACES,
  variant: VARIANTS.map(({ name }) => name),
  action: ACTIONS,
} as const;
type Axis = keyof typeof AXES;
const NAMES = Object.keys(AXES) as Axis[];

/** What a cell is called: `--cell` repeats it. */
export const nameOf = (cell: Cell) => NAMES.map((axis) => cell[axis]).join("/");

/** @returns undefined: there is no such cell */
export function cellNamed(name: string): Cell | undefined {
  const words = name.split("/");
  const cell = Object.fromEntries(NAMES.map((axis, at) => [axis, words[at]])) as unknown as Cell;
  const isOne = NAMES.every((axis) => (AXES[axis] as readonly string[]).includes(cell[axis]));
  return isOne && words.length === NAMES.length && exists(cell) ? cell : undefined;
}

/** Numbers from a seed: mulberry32. */
export function randomOf(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Not every format has every place, and the same text on two ways would be the same cell. */
function exists({ client, lane, delivery, place, variant }: Cell): boolean {
  const { isSpoken, streams, places, hasTextDocuments } = CLIENTS.find(({ name }) => name === client)!;
  const isSaid = variant.startsWith("said");
  if (lane === (isSpoken ? undefined : "native") || !places.includes(place)) return false;
  if (place === "document" && lane === "translated" && !hasTextDocuments) return false;
  if (!streams && (delivery !== "json" || lane === "translated" || isSaid)) return false;
  return !isSaid || place === "text" || place === "tool-arguments";
}

/** All cells in which a guard replaces. */
export function* allCells(): Generator<Cell> {
  for (const kind of AXES.kind)
    for (const client of AXES.client)
      for (const lane of LANES)
        for (const delivery of DELIVERIES)
          for (const place of PLACES)
            for (const variant of AXES.variant) {
              const cell: Cell = { kind, client, lane, delivery, place, variant, action: "replace" };
              if (exists(cell)) yield cell;
            }
}

/** Random cells, and those without which a pair of coordinates would be missing. */
export function sampledCells(count: number, seed: number): Cell[] {
  const random = randomOf(seed);
  const cells: Cell[] = [];
  const seen = new Set<string>();
  const add = (cell: Cell) => {
    cells.push(cell);
    for (const pair of pairsOf(cell)) seen.add(pair);
  };
  while (cells.length < count) add(randomCell(random));
  for (const pair of possiblePairs())
    for (let tries = 0; !seen.has(pair.join("|")) && tries < 50; tries++) {
      const cell = randomCell(random, pair);
      if (exists(cell)) add(cell);
    }
  // The runtime takes seconds to close the connections of answers that are cut.
  return [
    ...cells.filter(({ action }) => action === "block"),
    ...cells.filter(({ action }) => action !== "block"),
  ];
}

/** @param pair coordinates that it has */
function randomCell(random: () => number, pair: readonly string[] = []): Cell {
  for (;;) {
    const entries = NAMES.map((axis) => {
      const fixed = pair.find((one) => one.startsWith(`${axis}=`))?.slice(axis.length + 1);
      // Most guards replace, and that is where most can go wrong.
      if (axis === "action" && fixed === undefined && random() < 0.6) return [axis, "replace"];
      const words: readonly string[] = AXES[axis];
      return [axis, fixed ?? words[Math.floor(random() * words.length)]];
    });
    const cell = Object.fromEntries(entries) as unknown as Cell;
    if (pair.length > 0 || exists(cell)) return cell;
  }
}

function pairsOf(cell: Cell): string[] {
  const words = NAMES.map((axis) => `${axis}=${cell[axis]}`);
  return words.flatMap((one, at) => words.slice(at + 1).map((other) => `${one}|${other}`));
}

function* possiblePairs(): Generator<[string, string]> {
  for (const [at, axis] of NAMES.entries())
    for (const other of NAMES.slice(at + 1))
      for (const one of AXES[axis])
        for (const two of AXES[other]) yield [`${axis}=${one}`, `${other}=${two}`];
}
