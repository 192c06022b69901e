/** Regions of the numbering plan of telephones (ITU-T, E-164): the numbers that each can have. */
import { DigitTable } from "./digits.ts";
import data from "./regions.json" with { type: "json" };

export interface Region {
  /** Calling code: `49`. */
  readonly code: string;
  /** The trunk prefix, which stands in front of numbers within the country: `0`. All regions of a calling code have the same. */
  readonly trunk: string | undefined;
  /** Counts of national digits that its numbers can have: a bit for each. */
  readonly possible: number;
  /** Those of them that numbers have which are written without the trunk prefix. */
  readonly whole: number;
  /**
   * Of national digits.
   * @param digits their values @returns a bit for each count of digits that a number beginning at a place can have
   */
  lengths(digits: Uint8Array, from: number, to: number): number;
}

/** Digits of a number with its calling code. */
const MOST = 15;
/** National digits. Those of North America without the area are no numbers by themselves. */
const LEAST_NATIONAL = 6;
const NORTH_AMERICA = "1";
const LONGEST_CODE = 3;

type Entry = readonly [code: string, pattern: string, trunk?: string];
const ENTRIES = data as unknown as Readonly<Record<string, Entry>>;

/** Names of regions (ISO 3166-1), and calling codes of no region. */
export const REGIONS: readonly string[] = Object.keys(data);

const known = new Map<string, Region>();

export function regionOf(name: string): Region {
  const made = known.get(name);
  if (made) return made;
  const region = madeOf([ENTRIES[name]!]);
  known.set(name, region);
  return region;
}

/** @param entries of one calling code */
function madeOf(entries: readonly Entry[]): Region {
  const [code, , trunk] = entries[0]!;
  const table = new DigitTable(entries.map(([, pattern]) => `(?:${pattern})`).join("|"));
  const least = code === NORTH_AMERICA ? 10 : LEAST_NATIONAL;
  const possible = table.possible & (bitsBelow(MOST - code.length + 1) - bitsBelow(least));
  return {
    ...{ code, trunk, possible, whole: possible & ~bitsBelow(leastWhole(code, trunk)) },
    lengths: (digits, from, to) => table.lengths(digits, from, to) & possible,
  };
}

const bitsBelow = (count: number) => (1 << count) - 1;

/** Calling codes of large countries whose numbers are written without the zero in front: Brazil, China, India, Turkey. */
const WITHOUT_ZERO = new Set(["55", "86", "91", "90"]);

/** Digits that a number has at least without the trunk prefix. */
function leastWhole(code: string, trunk: string | undefined): number {
  if (trunk === undefined) return 0;
  if (trunk !== "0") return 9;
  return WITHOUT_ZERO.has(code) ? 10 : MOST + 1;
}

/** All regions of a calling code as one, by the code. */
const plans: (Region | undefined)[] = Array.from({ length: 1_000 });
let byCode: ReadonlyMap<string, readonly string[]> | undefined;
const namesOf = (code: string) => (byCode ??= Map.groupBy(REGIONS, (name) => ENTRIES[name]![0])).get(code);
const isCode = new Uint8Array(1_000);
for (const name of REGIONS) isCode[Number(ENTRIES[name]![0])] = 1;

/** The regions of the calling code with which digits begin, as one. @param count of the digits */
export function planOf(digits: Uint8Array, count: number): Region | undefined {
  const code = codeOf(digits, count);
  return code === 0 ? undefined : (plans[code] ??= madeOf(namesOf(`${code}`)!.map((name) => ENTRIES[name]!)));
}

/** The regions of the calling code with which digits begin, one by one. */
export function regionsOfCode(digits: Uint8Array, count: number): readonly Region[] {
  const code = codeOf(digits, count);
  return code === 0 ? [] : namesOf(`${code}`)!.map(regionOf);
}

/** @returns 0: no code begins them */
function codeOf(digits: Uint8Array, count: number): number {
  let code = 0;
  for (let at = 0; at < LONGEST_CODE && at < count; at++) {
    code = code * 10 + digits[at]!;
    if (code === 0 || isCode[code] === 1) return code;
  }
  return 0;
}
