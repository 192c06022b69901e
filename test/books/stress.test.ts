/**
 * One hard budget under load over four workers. `bun run stress` runs the load for 30 s, with a worker killed each second, and
 * kills the keeper 20 times.
 */
import { expect, setDefaultTimeout, test } from "bun:test";
import { json, startUpstream } from "../helpers/upstream.ts";
import { until } from "../helpers/serving.ts";
import { alterStore, type RunningBooks, startBooks } from "./running.ts";
import {
  call,
  callUntilDecided,
  completion,
  COST,
  countOf,
  servingWorker,
  killEach,
  load,
  type Outcome,
  RESULTS,
  type Sample,
  Sampler,
  startProvider,
  windowOf,
} from "./stress.ts";
import { IS_STRESS } from "../helpers/effort.ts";

setDefaultTimeout(600_000);

const DOLLAR = 1_000_000_000;
/** One request costs one cent. */
const CENT = 10_000_000;

const host = (url: string) => ({ baseUrl: `${url}/v1`, speaks: "chat-completions", models: ["*"] });

/** Nothing is held, and nothing of the budget waits in a worker. */
async function atRest(weir: RunningBooks, name: string): Promise<boolean> {
  return until(async () => {
    // The keeper that was killed last may still start: its process runs, and it does not answer yet.
    const budget = await weir.budget(name).catch(() => undefined);
    const open = budget?.windows[0];
    return open?.held === 0 && open.granted === 0;
  }, 30_000);
}

function assertNeverOver(samples: readonly Sample[], limit: number): void {
  expect(samples.length).toBeGreaterThan(0);
  const over = samples.filter(
    ({ spent, assumed, held, overrun }) => spent + assumed + held > limit + overrun,
  );
  expect(over).toEqual([]);
}

test("of 1,000 parallel calls that cost a cent, a hard budget of a dollar admits exactly 100 over four workers", async () => {
  const upstream = startUpstream(({ path }) =>
    path.endsWith("/models") ? json({ object: "list", data: [] }) : json(completion()),
  );
  const weir = await startBooks({
    workers: 4,
    config: {
      providers: { host: host(upstream.url) },
      prices: { "host/*": { input: 0, output: 0, request: 0.01 } },
    },
  });
  try {
    const key = weir.createKey("hundred", "--budget", "1", "--hard");
    const sampler = new Sampler(windowOf(weir, "hundred"));
    const kind = { model: "host/m", stream: false, abort: false };
    const outcomes = await Promise.all(
      Array.from({ length: 1_000 }, () => callUntilDecided(weir, key, kind)),
    );
    const samples = await sampler.stop();
    expect(counts(outcomes)).toMatchObject({ answered: 100, refused: 900 });
    expect(await atRest(weir, "hundred")).toBe(true);
    expect((await weir.budget("hundred")).windows[0]).toMatchObject({
      spent: 100 * CENT,
      assumed: 0,
      overrun: 0,
    });
    assertNeverOver(samples, DOLLAR);
    expect(weir.run("audit")).toMatchObject({ code: 0 });
  } finally {
    await weir.end();
    upstream.stop();
  }
});

interface Stress {
  /** What the load kills. */
  kill: "worker" | "keeper" | "process";
  everyMs: number;
  ms: number;
}

/** Runs the load on a budget that is spent after about two thirds of the time. */
async function stress({ kill, everyMs, ms }: Stress): Promise<void> {
  const upstream = startProvider();
  const limit = Math.round((ms / 1_000) * 0.1 * DOLLAR);
  const weir = await startBooks({
    workers: 4,
    config: {
      providers: { host: host(upstream.url) },
      prices: { "host/*": { input: 1, output: 2 } },
      fallbacks: { "host/dead": ["host/steady"] },
    },
  });
  try {
    const key = weir.createKey("stressed", "--budget", String(limit / DOLLAR), "--hard");
    const sampler = new Sampler(windowOf(weir, "stressed"));
    let turn = 0;
    const pickWorker = servingWorker(weir);
    const killer = killEach(everyMs, () =>
      kill === "keeper" || (kill === "process" && ++turn % 2 === 0) ? weir.keeper() : pickWorker(),
    );
    const outcomes = await load({ urls: [weir.url], key, parallel: 40, calls: 200_000, ms });
    const kills = killer.stop();
    expect(kills).toBeGreaterThan(0);
    const areBack = () => weir.workers().length === 4 && weir.keeper() !== undefined;
    if (!(await until(areBack, 60_000)))
      throw new Error(`They did not come back:\n${weir.log.slice(-20).join("\n")}`);
    const rest = await spendTheRest(weir, key);
    const samples = await sampler.stop();
    expect(await atRest(weir, "stressed")).toBe(true);
    const [open] = (await weir.budget("stressed")).windows;
    assertNeverOver(samples, limit);
    console.log(
      `killed ${kills} times: ${kill}; ${JSON.stringify(counts([...outcomes, ...rest]))}; limit ${limit}, ${JSON.stringify(open)}; ${samples.length} samples`,
    );
    // Every answer was paid for.
    const paid = countOf([...outcomes, ...rest], "answered") * COST;
    expect(open!.spent + open!.assumed).toBeGreaterThanOrEqual(paid);
    // All workers came back to each keeper: nothing had to be assumed.
    if (kill === "keeper") expect(open!.assumed).toBe(0);
    // The last refusal at rest was right: what it needed was not left.
    expect(open!.spent + open!.assumed + NEED).toBeGreaterThan(limit);
    const audit = weir.run("audit");
    expect([audit.code, audit.output]).toEqual([0, expect.stringContaining("The books hold.")]);
    weir.signal("SIGTERM");
    await weir.exited;
    alterStore(weir.state, (database) =>
      database.run(
        "UPDATE calls SET cost = cost + 1 WHERE number = (SELECT max(number) FROM calls WHERE cost > 0)",
      ),
    );
    const red = weir.run("audit", "--state", weir.state);
    expect([red.code, red.output]).toEqual([1, expect.stringMatching(/^FAILED/m)]);
  } finally {
    await weir.end();
    upstream.stop();
  }
}

/** More than a call of the load holds: the estimate of its few bytes, and 500 tokens of output. Nano-dollars. */
const NEED = 2_500_000;

/** One call after another until the budget refuses. The less a busy machine has spent before, the longer this takes. */
async function spendTheRest(weir: RunningBooks, key: string): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  const kind = { model: "host/steady", stream: false, abort: false };
  await until(async () => {
    outcomes.push(await call(weir, key, kind));
    return outcomes.at(-1)!.result === "refused";
  }, 300_000);
  expect(outcomes.at(-1)!.result).toBe("refused");
  return outcomes;
}

function counts(outcomes: readonly Outcome[]): Record<string, number> {
  return Object.fromEntries(RESULTS.map((result) => [result, countOf(outcomes, result)]));
}

test("while workers are killed, a hard budget is never exceeded and the books hold afterwards", () =>
  stress({ kill: "worker", everyMs: 1_000, ms: IS_STRESS ? 30_000 : 6_000 }));

test("while the keeper is killed, a hard budget is never exceeded and the books hold afterwards", () =>
  stress({ kill: "keeper", everyMs: IS_STRESS ? 1_500 : 1_000, ms: IS_STRESS ? 31_000 : 5_000 }));

test("while workers and the keeper are killed in turn, a hard budget is never exceeded and the books hold afterwards", () =>
  stress({ kill: "process", everyMs: IS_STRESS ? 700 : 400, ms: IS_STRESS ? 30_000 : 6_000 }));
