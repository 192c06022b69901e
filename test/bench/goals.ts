/** What the figures are held to, and how they are judged. */
import type { Weir } from "./fronts.ts";
import type { HotPath } from "./hot-path.ts";
import type { ByWeir, Soak } from "./fresh.ts";
import type { BooksCost } from "./books.ts";
import type { GuardsCost } from "./guards.ts";
import { OUTLINED, type OutlinesCost } from "./outlines.ts";
import type { RankingCost } from "./ranking.ts";
import type { ResponsesCost } from "./responses.ts";
import type { SlowDisk } from "./slow-disk.ts";
import type { CallsCase, Streams, TransportRun } from "./measures.ts";

/** Everything one run of the bench saw. Groups that were not asked for are absent. */
export interface Results {
  date: string;
  machine: string;
  /** Load average of the machine at the start and at the end. */
  load: [start: number, end: number];
  rounds: number;
  pinned: boolean;
  hotPath?: HotPath;
  calls?: CallsCase[];
  streams?: Record<string, Streams>;
  /** Megabytes by open streams. */
  memory?: ByWeir<Record<string, number>>;
  /** Megabytes. */
  unread?: ByWeir<number>;
  startMs?: ByWeir<number>;
  binaryMegabytes: number;
  burstSeconds?: ByWeir<number>;
  soak?: ByWeir<Soak>;
  workers?: ByWeir<number>;
  transports?: TransportRun[];
  /** Of the newest binary. */
  responses?: ResponsesCost;
  ranking?: RankingCost;
  books?: BooksCost;
  guards?: GuardsCost;
  outlines?: OutlinesCost;
  slowDisk?: SlowDisk;
}

export interface Goal {
  what: string;
  unit: string;
  /** `least`: the figure must reach it; `most`: it must not pass it. */
  sense: "least" | "most";
  reach: number;
  beyond: number;
  /**
   * The figure that `reach` and `beyond` were set from. On another machine a goal holds too if the binary before and this one
   * differ by the same factor.
   */
  from?: number;
  /** @param weir which one, of those that were measured */
  figure(results: Results, weir: Weir["name"]): number | undefined;
}

export const GOALS: readonly Goal[] = [
  {
    what: "requests/s, 1 KB, 64 connections, against nginx",
    unit: "×",
    sense: "least",
    reach: 0.36,
    beyond: 0.45,
    from: 0.28,
    figure: (results, weir) => ratio(results, weir, 1, 64, "nginx"),
  },
  {
    what: "… against the pass-through",
    unit: "×",
    sense: "least",
    reach: 0.54,
    beyond: 0.68,
    from: 0.42,
    figure: (results, weir) => ratio(results, weir, 1, 64, "pass-through"),
  },
  {
    what: "… at 256 connections against itself at 64",
    unit: "×",
    sense: "least",
    reach: 0.85,
    beyond: 0.95,
    figure: (results, weir) =>
      quotient(calls(results, 1, 256)?.[weir]?.perSecond, calls(results, 1, 64)?.[weir]?.perSecond),
  },
  ...(
    [
      [20, 0.47],
      [200, 0.46],
    ] as const
  ).map(([kilobytes, from]): Goal => ({
    what: `requests/s, ${kilobytes} KB, 64 connections, against the pass-through`,
    unit: "×",
    sense: "least",
    reach: 0.75,
    beyond: 0.95,
    from,
    figure: (results, weir) => ratio(results, weir, kilobytes, 64, "pass-through"),
  })),
  {
    what: "added p50 at one connection, against nginx's",
    unit: "×",
    sense: "most",
    reach: 1.5,
    beyond: 1.2,
    from: 2.1,
    figure: (results, weir) => {
      const fronts = calls(results, 1, 1);
      const bare = fronts?.["direct"]?.p50;
      return quotient(difference(fronts?.[weir]?.p50, bare), difference(fronts?.["nginx"]?.p50, bare));
    },
  },
  {
    what: "CPU a streamed chunk, native, 200 streams, against nginx",
    unit: "×",
    sense: "most",
    reach: 1.5,
    beyond: 1.3,
    from: 2.07,
    figure: ({ streams }, weir) => quotient(streams?.[weir]?.cpu, streams?.["nginx"]?.cpu),
  },
  {
    what: "CPU a streamed chunk, translated, against nginx",
    unit: "×",
    sense: "most",
    reach: 2.4,
    beyond: 1.8,
    from: 3.64,
    figure: ({ streams }, weir) => quotient(streams?.[`${weir}, translated`]?.cpu, streams?.["nginx"]?.cpu),
  },
  ...["from Gemini", "from Converse"].map((lane): Goal => ({
    what: `CPU a streamed chunk ${lane}, against the translated one`,
    unit: "×",
    sense: "most",
    reach: 1,
    beyond: 0.9,
    figure: ({ streams }, weir) =>
      quotient(streams?.[`${weir}, ${lane}`]?.cpu, streams?.[`${weir}, translated`]?.cpu),
  })),
  {
    what: "added delay of a chunk, p99, 200 streams",
    unit: " ms",
    sense: "most",
    reach: 2,
    beyond: 0.5,
    figure: ({ streams }, weir) => {
      const added = difference(streams?.[weir]?.delayP99, streams?.["direct"]?.delayP99);
      return added === undefined ? undefined : added / 1000;
    },
  },
  {
    what: "memory of a streaming client that never reads",
    unit: " MB",
    sense: "most",
    reach: 0.256,
    beyond: 0.128,
    from: 3.7,
    figure: ({ unread }, weir) => unread?.[weir],
  },
  ...(
    [
      ["idle", "0", 62, 57],
      ["with 1,000 open streams", "1000", 95, 80],
      ["with 5,000 open streams", "5000", 183, 140],
    ] as const
  ).map(([what, streams, reach, beyond]): Goal => ({
    what: `memory ${what}`,
    unit: " MB",
    sense: "most",
    reach,
    beyond,
    from: reach,
    figure: ({ memory }, weir) => memory?.[weir]?.[streams],
  })),
  {
    what: "CPU of a native responses call, against a native chat call",
    unit: "×",
    sense: "most",
    reach: 1.05,
    beyond: 1,
    figure: ({ responses }, weir) => (weir === "weir" ? responses?.againstChat : undefined),
  },
  {
    what: "p50 of a stored response, more than of one that is not stored",
    unit: " ms",
    sense: "most",
    reach: 1,
    beyond: 0.3,
    figure: ({ responses }, weir) => (weir === "weir" ? responses?.storedMs : undefined),
  },
  {
    what: "added p50 of a ranking of 1,000 documents of 4 kB",
    unit: " ms",
    sense: "most",
    reach: 2,
    beyond: 1,
    figure: ({ ranking }, weir) => (weir === "weir" ? ranking?.addedMs : undefined),
  },
  ...(
    [
      ["three budgets and two limits, more than a key that has nothing", "limits", 1, 0.5],
      ["a key that has nothing, more than the binary before", "nothing", 0.3, 0],
      ["three budgets and two limits, more than the binary before", "before", 1, 0.5],
    ] as const
  ).map(([what, member, reach, beyond]): Goal => ({
    what: `CPU of a call with ${what}`,
    unit: " µs",
    sense: "most",
    reach,
    beyond,
    figure: ({ books }, weir) => (weir === "weir" ? books?.[member]?.median : undefined),
  })),
  ...(
    [
      ["calls of 1 KB with guards on personal data and secrets, to those without", "calls", 0.9, 0.95],
      ["chunks of streams with these guards, to those without", "streams", 0.85, 0.9],
      ["calls without guards, to those of the binary before", "off", 0.99, 1],
    ] as const
  ).map(([what, member, reach, beyond]): Goal => ({
    what: `${what}, for the same CPU`,
    unit: "×",
    sense: "least",
    reach,
    beyond,
    figure: ({ guards }, weir) => (weir === "weir" ? guards?.[member]?.ratio : undefined),
  })),
  ...OUTLINED.map((kilobytes, at): Goal => ({
    what: `calls of ${kilobytes} KB with outlines, to those without, for the same CPU`,
    unit: "×",
    sense: "least",
    ...(at === 0 ? { reach: 0.97, beyond: 0.99 } : { reach: 0.92, beyond: 0.97 }),
    figure: ({ outlines }, weir) => (weir === "weir" ? outlines?.sizes[at]?.cpu.ratio : undefined),
  })),
  {
    what: "CPU of the keeper and other threads a call",
    unit: " µs",
    sense: "most",
    reach: 12,
    beyond: 6,
    figure: ({ books }, weir) => (weir === "weir" ? books?.others : undefined),
  },
  {
    what: "p99 of calls when each sync of the disk takes 50 ms, against the machine's disk",
    unit: "×",
    sense: "most",
    reach: 1.05,
    beyond: 1,
    figure: ({ slowDisk }, weir) => (weir === "weir" ? slowDisk?.p99 : undefined),
  },
  {
    what: "delays of the loop above 2 ms in a minute on such a disk, more than on the machine's",
    unit: "",
    sense: "most",
    reach: 1,
    beyond: 0,
    figure: ({ slowDisk }, weir) => (weir === "weir" ? slowDisk?.stalls : undefined),
  },
  {
    what: "exec to first answer, files warm",
    unit: " ms",
    sense: "most",
    reach: 25,
    beyond: 18,
    from: 38,
    figure: ({ startMs }, weir) => startMs?.[weir],
  },
  {
    what: "2,000 streams opened at once: all upstream within",
    unit: " s",
    sense: "most",
    reach: 5,
    beyond: 1,
    figure: ({ burstSeconds }, weir) => burstSeconds?.[weir],
  },
  {
    what: "soak, half aborted: slope of memory",
    unit: " MB/min",
    sense: "most",
    reach: 1,
    beyond: 0.1,
    figure: ({ soak }, weir) => soak?.[weir]?.slope,
  },
  {
    what: "soak: descriptors more than at its start",
    unit: "",
    sense: "most",
    reach: 5,
    beyond: 0,
    figure: ({ soak }, weir) => {
      const { descriptorsBefore, descriptorsAfter } = soak?.[weir] ?? {};
      const added = difference(descriptorsAfter, descriptorsBefore);
      return added === undefined ? undefined : Math.max(0, added);
    },
  },
  {
    what: "2 workers against 1",
    unit: "×",
    sense: "least",
    reach: 1.7,
    beyond: 1.9,
    figure: ({ workers }, weir) => workers?.[weir],
  },
];

export function calls(
  results: Results,
  kilobytes: number,
  connections: number,
): CallsCase["fronts"] | undefined {
  return results.calls?.find((one) => one.kilobytes === kilobytes && one.connections === connections)?.fronts;
}

function ratio(
  results: Results,
  weir: Weir["name"],
  kilobytes: number,
  connections: number,
  against: string,
): number | undefined {
  const fronts = calls(results, kilobytes, connections);
  return quotient(fronts?.[weir]?.perSecond, fronts?.[against]?.perSecond);
}

function quotient(above: number | undefined, below: number | undefined): number | undefined {
  return above === undefined || !below ? undefined : above / below;
}

function difference(left: number | undefined, right: number | undefined): number | undefined {
  return left === undefined || right === undefined ? undefined : left - right;
}

/** What a figure is judged by. */
type Limits = Pick<Goal, "sense" | "unit" | "reach" | "beyond" | "from">;

/**
 * `beyond`, `met`, or by how much it was missed.
 * @param before the figure of the binary before, in the same run
 */
export function judge(goal: Limits, figure: number, before?: number): string {
  const { reach, beyond, unit } = goal;
  if (holds(goal, beyond, figure, before)) return "beyond";
  return holds(goal, reach, figure, before) ? "met" : `missed by ${show(Math.abs(figure - reach))}${unit}`;
}

function holds(goal: Limits, limit: number, figure: number, before?: number): boolean {
  if (goal.sense === "least" ? figure >= limit : figure <= limit) return true;
  return goal.from !== undefined && before !== undefined
    ? gain(goal, before, figure) >= gain(goal, goal.from, limit)
    : false;
}

/** How many times better a figure is than the one before. */
export function gain({ sense }: Pick<Goal, "sense">, before: number, figure: number): number {
  return sense === "least" ? figure / before : before / figure;
}

export function show(figure: number): string {
  if (!Number.isFinite(figure)) return "never";
  return Math.abs(figure) >= 100
    ? figure.toFixed(0)
    : Math.abs(figure) >= 10
      ? figure.toFixed(1)
      : figure.toFixed(2);
}
