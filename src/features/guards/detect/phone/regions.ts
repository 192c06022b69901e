/** Regions of the numbering plan of telephones (ITU-T, E-164): the numbers that each can have. */
import data from "./regions.json" with { type: "json" };

export interface Region {
  /** Calling code: `49`. */
  readonly code: string;
  /** What stands in front of numbers within the country: `0`. */
  readonly trunk: string | undefined;
  has(national: string): boolean;
}

/** Digits of a number with its calling code. */
const MOST = 15;
/** National digits. Those of North America without the area are no numbers by themselves. */
const LEAST_NATIONAL = 6;
const NORTH_AMERICA = "1";

/** Names of regions (ISO 3166-1), and calling codes of no region. */
export const REGIONS: readonly string[] = Object.keys(data);

const known = new Map<string, Region>();

export function regionOf(name: string): Region {
  const made = known.get(name);
  if (made) return made;
  const [code, pattern, trunk] = (
    data as unknown as Readonly<Record<string, readonly [string, string, string?]>>
  )[name]!;
  const expression = new RegExp(`^(?:${pattern})$`);
  const least = code === NORTH_AMERICA ? 10 : LEAST_NATIONAL;
  const has = (national: string) =>
    national.length >= least && national.length + code.length <= MOST && expression.test(national);
  const region: Region = { code, trunk, has };
  known.set(name, region);
  return region;
}

let byCode: ReadonlyMap<string, readonly string[]> | undefined;

/** The regions of the calling code with which digits begin. */
export function regionsOfCode(digits: string): readonly Region[] {
  byCode ??= Map.groupBy(
    REGIONS,
    (name) => (data as unknown as Readonly<Record<string, readonly [string]>>)[name]![0],
  );
  for (let length = 1; length <= 3; length++) {
    const names = byCode.get(digits.slice(0, length));
    if (names) return names.map(regionOf);
  }
  return [];
}
