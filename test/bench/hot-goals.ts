/** What the rows of the hot path are held to. All are ratios or times of one run. */
import type { Goal } from "./goals.ts";
import type { HotFigures, HotPath } from "./hot-path.ts";

export interface HotGoal extends Pick<Goal, "what" | "unit" | "sense" | "reach" | "beyond"> {
  /** @returns undefined where a front is missing */
  figure(results: HotPath): number | undefined;
}

const BUSBAR = "Busbar, keys";

const of =
  (row: string, figure: keyof HotFigures, front = "weir") =>
  ({ rows }: HotPath): number | undefined =>
    rows.find(({ name }) => name === row)?.fronts[front]?.[figure];

const against =
  (row: string, figure: keyof HotFigures, other: string) =>
  (results: HotPath): number | undefined => {
    const [one, two] = [of(row, figure)(results), of(row, figure, other)(results)];
    return one === undefined || !two ? undefined : one / two;
  };

const milliseconds = (row: string, figure: keyof HotFigures) => (results: HotPath) => {
  const time = of(row, figure)(results);
  return time === undefined ? undefined : time / 1000;
};

function goal(
  what: string,
  { sense, unit }: Pick<Goal, "sense" | "unit">,
  [reach, beyond]: readonly [reach: number, beyond: number],
  figure: HotGoal["figure"],
): HotGoal {
  return { what, sense, unit, reach, beyond, figure };
}

const RATE = { sense: "least", unit: "×" } as const;
const COST = { sense: "most", unit: "×" } as const;
const DELAY = { sense: "most", unit: " ms" } as const;

export const HOT_GOALS: readonly HotGoal[] = [
  goal(
    "1 KB, 64 connections, against Busbar with keys and budgets",
    RATE,
    [1.5, 2],
    against("1 KB", "perSecond", BUSBAR),
  ),
  goal("… against nginx", RATE, [0.14, 0.2], against("1 KB", "perSecond", "nginx")),
  goal("20 KB, against Busbar", RATE, [1.1, 1.4], against("20 KB", "perSecond", BUSBAR)),
  goal("200 KB, against Busbar", RATE, [1.2, 1.4], against("200 KB", "perSecond", BUSBAR)),
  goal("one connection, p50, against Busbar", COST, [1, 0.8], against("1 KB, one connection", "p50", BUSBAR)),
  goal("one connection, p99, against Busbar", COST, [3, 2], against("1 KB, one connection", "p99", BUSBAR)),
  goal("chat to messages, against Busbar", RATE, [0.8, 1], against("chat to messages", "perSecond", BUSBAR)),
  goal("messages to chat, against Busbar", RATE, [0.8, 1], against("messages to chat", "perSecond", BUSBAR)),
  goal("CPU a chunk, 200 streams, against nginx", COST, [2, 1.7], against("200 streams", "cpu", "nginx")),
  goal("delay of a chunk, p99, 200 streams", DELAY, [4, 2], milliseconds("200 streams", "delayP99")),
  goal("first event, p99, 200 streams at once", DELAY, [40, 30], milliseconds("200 streams", "firstP99")),
  goal(
    "CPU of a call with the books, against none",
    COST,
    [1.15, 1.05],
    against("1 KB", "cpu", "weir, no books"),
  ),
];
