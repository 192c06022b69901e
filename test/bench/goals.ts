/** What the figures are held to, and how they are judged. */
import type { CallsCase, Soak, Streams, TransportRun } from "./measures.ts";

/** Everything one run of the bench saw. Groups that were not asked for are absent. */
export interface Results {
  date: string;
  machine: string;
  rounds: number;
  pinned: boolean;
  calls?: CallsCase[];
  streams?: Record<string, Streams>;
  /** Megabytes by open streams. */
  memory?: Record<string, number>;
  startMs?: number;
  binaryMegabytes: number;
  burstSeconds?: number;
  soak?: Soak;
  workers?: [one: number, two: number];
  transports?: TransportRun[];
}

export interface Goal {
  what: string;
  unit: string;
  /** `least`: the figure must reach it; `most`: it must not pass it. */
  sense: "least" | "most";
  reach: number;
  beyond: number;
  figure(results: Results): number | undefined;
}

export const GOALS: readonly Goal[] = [
  {
    what: "requests/s, 1 KB, 64 connections, against the pass-through",
    unit: "×",
    sense: "least",
    reach: 0.75,
    beyond: 1.4,
    figure: (results) => ratio(results, 1, 64, "pass-through"),
  },
  {
    what: "… against nginx",
    unit: "×",
    sense: "least",
    reach: 0.33,
    beyond: 0.6,
    figure: (results) => ratio(results, 1, 64, "nginx"),
  },
  {
    what: "… at 256 connections against itself at 64",
    unit: "×",
    sense: "least",
    reach: 0.85,
    beyond: 0.95,
    figure: (results) =>
      quotient(calls(results, 1, 256)?.["weir"]?.perSecond, calls(results, 1, 64)?.["weir"]?.perSecond),
  },
  ...[20, 200].map((kilobytes): Goal => ({
    what: `requests/s, ${kilobytes} KB, 64 connections, against the pass-through`,
    unit: "×",
    sense: "least",
    reach: 0.75,
    beyond: 0.95,
    figure: (results) => ratio(results, kilobytes, 64, "pass-through"),
  })),
  {
    what: "added p50 at one connection, against nginx's",
    unit: "×",
    sense: "most",
    reach: 1.5,
    beyond: 1.1,
    figure: (results) => {
      const fronts = calls(results, 1, 1);
      const bare = fronts?.["direct"]?.p50;
      return quotient(difference(fronts?.["weir"]?.p50, bare), difference(fronts?.["nginx"]?.p50, bare));
    },
  },
  {
    what: "CPU a streamed chunk, native, 200 streams, against nginx",
    unit: "×",
    sense: "most",
    reach: 1.8,
    beyond: 1.25,
    figure: ({ streams }) => quotient(streams?.["weir"]?.cpu, streams?.["nginx"]?.cpu),
  },
  {
    what: "CPU a streamed chunk, translated, against nginx",
    unit: "×",
    sense: "most",
    reach: 2.5,
    beyond: 1.9,
    figure: ({ streams }) => quotient(streams?.["weir, translated"]?.cpu, streams?.["nginx"]?.cpu),
  },
  {
    what: "added delay of a chunk, p99, 200 streams",
    unit: " ms",
    sense: "most",
    reach: 2,
    beyond: 0.5,
    figure: ({ streams }) => {
      const added = difference(streams?.["weir"]?.delayP99, streams?.["direct"]?.delayP99);
      return added === undefined ? undefined : added / 1000;
    },
  },
  ...(
    [
      ["idle", "0", 60, 45],
      ["with 1,000 open streams", "1000", 120, 80],
      ["with 5,000 open streams", "5000", 260, 140],
    ] as const
  ).map(([what, streams, reach, beyond]): Goal => ({
    what: `memory ${what}`,
    unit: " MB",
    sense: "most",
    reach,
    beyond,
    figure: ({ memory }) => memory?.[streams],
  })),
  {
    what: "exec to first answer, files warm",
    unit: " ms",
    sense: "most",
    reach: 60,
    beyond: 30,
    figure: ({ startMs }) => startMs,
  },
  {
    what: "2,000 streams opened at once: all upstream within",
    unit: " s",
    sense: "most",
    reach: 5,
    beyond: 1,
    figure: ({ burstSeconds }) => burstSeconds,
  },
  {
    what: "soak, half aborted: slope of memory",
    unit: " MB/min",
    sense: "most",
    reach: 1,
    beyond: 0.1,
    figure: ({ soak }) => soak?.slope,
  },
  {
    what: "soak: descriptors more than at its start",
    unit: "",
    sense: "most",
    reach: 5,
    beyond: 0,
    figure: ({ soak }) => soak && Math.max(0, soak.descriptorsAfter - soak.descriptorsBefore),
  },
  {
    what: "2 workers against 1",
    unit: "×",
    sense: "least",
    reach: 1.7,
    beyond: 1.9,
    figure: ({ workers }) => workers && workers[1] / workers[0],
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
  kilobytes: number,
  connections: number,
  against: string,
): number | undefined {
  const fronts = calls(results, kilobytes, connections);
  return quotient(fronts?.["weir"]?.perSecond, fronts?.[against]?.perSecond);
}

function quotient(above: number | undefined, below: number | undefined): number | undefined {
  return above === undefined || !below ? undefined : above / below;
}

function difference(left: number | undefined, right: number | undefined): number | undefined {
  return left === undefined || right === undefined ? undefined : left - right;
}

/** `beyond`, `met`, or by how much it was missed. */
export function judge({ sense, reach, beyond, unit }: Goal, figure: number): string {
  const holds = (limit: number) => (sense === "least" ? figure >= limit : figure <= limit);
  if (holds(beyond)) return "beyond";
  return holds(reach) ? "met" : `missed by ${show(Math.abs(figure - reach))}${unit}`;
}

export function show(figure: number): string {
  if (!Number.isFinite(figure)) return "never";
  return Math.abs(figure) >= 100
    ? figure.toFixed(0)
    : Math.abs(figure) >= 10
      ? figure.toFixed(1)
      : figure.toFixed(2);
}
