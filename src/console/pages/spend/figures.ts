/** The arithmetic of Spend: rows of the report become groups, bars and a forecast. Amounts are nano-dollars and stay exact. */
import { bucketsOf, counterpart, DAY, dayName, nameOf, type Period, sizeOf } from "./period.ts";

/** The sums of a report, as Spend needs them. */
export interface Sums {
  calls: number;
  input: number;
  cacheRead: number;
  cacheWrite: number;
  output: number;
  cost: number;
  estimated: number;
  assumed: number;
  unpriced: number;
}

export interface Row extends Sums {
  group: Readonly<Record<string, string | undefined>>;
  keyName?: string;
}

export const DIMENSIONS = {
  path: "Path",
  key: "Key",
  tag: "Tag",
  model: "Model",
  provider: "Provider",
  client: "Client",
  session: "Session",
  state: "Charge",
  day: "Day",
} as const;
export type Dimension = keyof typeof DIMENSIONS;

/** What a group is divided by, unless the address has another. */
const SECOND: Readonly<Record<Dimension, Dimension>> = {
  path: "key",
  key: "model",
  tag: "key",
  model: "key",
  provider: "model",
  client: "model",
  session: "model",
  state: "model",
  day: "model",
};

/** @param asked of the address */
export function secondOf(dimension: Dimension, asked: string | undefined): Dimension {
  const isOther = asked !== undefined && asked !== dimension && Object.hasOwn(DIMENSIONS, asked);
  return isOther ? (asked as Dimension) : SECOND[dimension];
}

/** Dimensions that the sums of the books do not have: the calls themselves are added up. */
export const OF_CALLS: ReadonlySet<string> = new Set(["client", "session", "state"]);

/** By what rows are ordered. */
export const RANKS = { cost: "Cost", calls: "Calls", tokens: "Tokens" } as const;
export type Rank = keyof typeof RANKS;

/** Groups of the report that make up a dimension: a model is named with its provider. */
export function groupsOf(dimension: Dimension): readonly string[] {
  return dimension === "model" ? ["provider", "model"] : [dimension];
}

/** The dimension of a report. While the next one is read, the page still has the one before. */
export function dimensionOf(rows: readonly Row[], asked: Dimension): Dimension {
  const names = Object.keys(rows[0]?.group ?? {})
    .sort()
    .join();
  const is = (dimension: Dimension) => groupsOf(dimension).toSorted().join() === names;
  return is(asked) ? asked : ((Object.keys(DIMENSIONS) as Dimension[]).find(is) ?? asked);
}

/** The filter of Calls that selects one group. */
export type Selection = Readonly<Record<string, string | number | undefined>>;

export interface Group extends Sums {
  /** Distinguishes groups; two keys may have one name over time. */
  id: string;
  name: string;
  /** Absent for calls that have no key, no path or reached no provider: no filter selects them. */
  selects?: Selection;
  /** The cost of the same group in the period before; absent if it had no calls then. */
  before?: number;
}

/** A series of the chart: one group, or all that are not among the biggest. */
export interface Series {
  name: string;
  /** 1 to 6; 7 is grey; `d` is the colour of what is not grouped. */
  colour: number | "d";
  /** Absent: all groups. */
  ids?: ReadonlySet<string>;
}

export interface Bar {
  /** Beginning, milliseconds since 1970. */
  at: number;
  cost: number;
  /** Part of `cost` whose amount is not certain. */
  uncertain: number;
  /** The certain part by series, in the order of the series. */
  parts: readonly number[];
  /** The cost of its counterpart; absent if nothing is known of that time. */
  before?: number;
  /** It has not begun. */
  future: boolean;
  /** It has begun and has not ended. */
  current: boolean;
}

export const uncertainOf = ({ estimated, assumed }: Pick<Sums, "estimated" | "assumed">) =>
  estimated + assumed;

const certainOf = (sums: Sums) => sums.cost - uncertainOf(sums);

/** All tokens, as the price of a million counts them. */
export const tokensOf = ({ input, cacheRead, cacheWrite, output }: Sums) =>
  input + cacheRead + cacheWrite + output;

/** Dollars a million tokens as really paid. @returns undefined without tokens or without a cost */
export function paidPerMillion(sums: Sums): number | undefined {
  const tokens = tokensOf(sums);
  return tokens > 0 && sums.cost > 0 ? sums.cost / 1000 / tokens : undefined;
}

const BY_RANK: Readonly<Record<Rank, (sums: Sums) => number>> = {
  cost: ({ cost }) => cost,
  calls: ({ calls }) => calls,
  tokens: tokensOf,
};

/** The groups of a report, the biggest first, those without a cost by their calls; days from the newest on. */
export function groups(
  rows: readonly Row[],
  earlier: readonly Row[],
  dimension: Dimension,
  rank: Rank = "cost",
): Group[] {
  const figure = BY_RANK[rank];
  const past = new Map(earlier.map((row) => [idOf(row, dimension), row.cost]));
  return rows
    .map((row) => {
      const id = idOf(row, dimension);
      const before = past.get(id);
      const selects = selectionOf(row, dimension);
      return {
        ...row,
        id,
        name: nameOfGroup(row, dimension),
        ...(selects && { selects }),
        ...(before !== undefined && { before }),
      };
    })
    .sort((a, b) =>
      dimension === "day" && rank === "cost"
        ? b.id.localeCompare(a.id)
        : figure(b) - figure(a) || b.cost - a.cost || b.calls - a.calls || a.id.localeCompare(b.id),
    );
}

export function idOf({ group }: Row, dimension: Dimension): string {
  return groupsOf(dimension)
    .map((name) => group[name] ?? "")
    .join("/");
}

function nameOfGroup(row: Row, dimension: Dimension): string {
  if (selectionOf(row, dimension) === undefined) return `no ${DIMENSIONS[dimension].toLowerCase()}`;
  if (dimension === "day") return dayName(Date.parse(row.group["day"]!));
  if (dimension === "client") return row.group["client"]!.replace(/\/$/, "");
  return dimension === "key" ? (row.keyName ?? row.group["key"]!) : idOf(row, dimension);
}

function selectionOf({ group, keyName }: Row, dimension: Dimension): Selection | undefined {
  const values = groupsOf(dimension).map((name) => [name, group[name] ?? ""] as const);
  if (values.some(([, value]) => value === "")) return undefined;
  if (dimension === "day") {
    const from = Date.parse(group["day"]!);
    return { range: undefined, from, to: from + DAY };
  }
  if (dimension === "key") return { key: keyName ?? group["key"]! };
  return Object.fromEntries(values);
}

/** Most groups that are drawn by themselves. */
const SHOWN = 6;

/** More groups are not drawn apart: the report by time and group would be too long. */
const MOST_DRAWN = 300;

/** Whether bars can be made of the groups: not of days, and not of groups that overlap, as those of calls with several tags. */
export function areDrawn(groups: readonly Group[], total: Sums | undefined, dimension: Dimension): boolean {
  return (
    dimension !== "day" &&
    groups.length <= MOST_DRAWN &&
    sum(groups, ({ cost }) => cost) === (total?.cost ?? 0)
  );
}

/** One series for all groups together. */
export const TOGETHER: readonly Series[] = [{ name: "all", colour: "d" }];

/** The biggest groups by themselves, all others together in grey. @param colourOf 1 to 6 for each name, told apart */
export function seriesOf(
  all: readonly Group[],
  colourOf: (names: readonly string[]) => readonly number[],
): Series[] {
  const costly = all.filter(({ cost }) => cost > 0);
  const shown = costly.length > SHOWN + 1 ? costly.slice(0, SHOWN) : costly.slice(0, SHOWN + 1);
  const rest = costly.slice(shown.length);
  const colours = colourOf(shown.slice(0, SHOWN).map(({ name }) => name));
  const series = shown.map(({ name, id }, index) => ({
    name,
    colour: colours[index] ?? 7,
    ids: new Set([id]),
  }));
  if (rest.length === 0) return series;
  return [...series, { name: `${rest.length} others`, colour: 7, ids: new Set(rest.map(({ id }) => id)) }];
}

/**
 * @param rows by hour or day and the groups of the dimension
 * @param past by hour or day: where the counterparts lie
 * @param now milliseconds since 1970
 */
export function barsOf(
  { rows, past }: { rows: readonly Row[]; past: readonly Row[] },
  series: readonly Series[],
  { period, dimension, now }: { period: Period; dimension: Dimension; now: number },
): Bar[] {
  const byBucket = Map.groupBy(rows, ({ group }) => group[period.step] ?? "");
  const totals = new Map(past.map(({ group, cost }) => [group[period.step] ?? "", cost]));
  const size = sizeOf(period.step);
  return bucketsOf(period).map((at) => {
    const list = byBucket.get(nameOf(at, period.step)) ?? [];
    const before = totals.get(nameOf(counterpart(at, period), period.step));
    return {
      at,
      cost: sum(list, ({ cost }) => cost),
      uncertain: sum(list, uncertainOf),
      parts: series.map(({ ids }) =>
        sum(
          list.filter((row) => !ids || ids.has(idOf(row, dimension))),
          certainOf,
        ),
      ),
      ...(before !== undefined && { before }),
      future: at > now,
      current: at <= now && now < at + size,
    };
  });
}

/**
 * The cost of a month at its end: its cost so far, and for each day to come the mean of the same weekdays that have ended
 * in it, or of all its days while there is none. Today is completed in the same way, and never below what it has cost.
 *
 * @returns undefined before the third day, for what is no month, and while one day holds most of what was spent: of a runaway no
 * day to come can be known
 */
export function forecastOf(bars: readonly Bar[], { isMonth, open }: Period): number | undefined {
  const ended = bars.filter(({ future, current }) => !future && !current);
  if (!isMonth || !open || ended.length < 2) return undefined;
  const spent = sum(bars, ({ cost }) => cost);
  if (bars.some(({ cost }) => cost * 2 > spent)) return undefined;
  const mean = (list: readonly Bar[]) => sum(list, ({ cost }) => cost) / list.length;
  const expected = ({ at }: Bar) => {
    const same = ended.filter((bar) => ((at - bar.at) / DAY) % 7 === 0);
    return mean(same.length > 0 ? same : ended);
  };
  return Math.round(
    sum(bars, (bar) =>
      bar.future ? expected(bar) : bar.current ? Math.max(bar.cost, expected(bar)) : bar.cost,
    ),
  );
}

export function sum<Item>(list: readonly Item[], of: (item: Item) => number): number {
  return list.reduce((total, item) => total + of(item), 0);
}

const FACTORS = [8, 6, 5, 4, 3, 2.5, 2, 1.5, 1];

/** Values of the grid lines below `top`: three to five, round in dollars. */
export function rulesOf(top: number): number[] {
  if (top <= 0) return [];
  const most = top / 3;
  const power = 10 ** Math.floor(Math.log10(most));
  const step = FACTORS.map((factor) => factor * power).find((value) => value <= most)!;
  return Array.from({ length: Math.floor(top / step) }, (_, index) => (index + 1) * step);
}
