/** The rule that refused a call: in its record, in the admin API, in `weir logs`, and as a filter. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import type { CallEntry } from "../../src/operator/index.ts";
import { until } from "../helpers/serving.ts";
import { json, startUpstream, type Upstream } from "../helpers/upstream.ts";
import { askModel, type RunningBooks, startBooks } from "./running.ts";
import { completion } from "./stress.ts";

setDefaultTimeout(120_000);

const DOLLAR = 1_000_000_000;

let weir: RunningBooks;
let upstream: Upstream;

beforeAll(async () => {
  upstream = startUpstream(() => json(completion()));
  const host = { baseUrl: `${upstream.url}/v1`, speaks: "chat-completions", models: ["m", "cheap", "fast"] };
  weir = await startBooks({
    workers: 1,
    config: {
      providers: { host },
      prices: { "host/m": { input: 0, output: 0, request: 0.6 }, "*": { input: 0, output: 0 } },
      budgets: { small: { on: { model: "host/m" }, limit: 1, every: "day", mode: "hard" } },
      rates: { burst: { on: { model: "host/fast" }, rpm: 1 } },
    },
  });
});

afterAll(async () => {
  await weir?.end();
  upstream?.stop();
});

async function refusedAt(model: string): Promise<CallEntry> {
  expect((await askModel(weir.url, model)).status).toBe(200);
  const response = await askModel(weir.url, model);
  expect(response.status).toBe(429);
  const id = response.headers.get("x-request-id")!;
  let found: CallEntry | undefined;
  const isThere = async () => {
    found = (await weir.api.ask("GET /calls/{id}", { params: { id } }).catch(() => undefined)) as CallEntry;
    return found !== undefined;
  };
  expect(await until(isThere, 10_000)).toBe(true);
  return found!;
}

test("S5: a call that a budget refused has its name, what it needed, what is left, and until when", async () => {
  const call = await refusedAt("m");
  expect(call.refusedBy).toMatchObject({
    ...{ kind: "budget", name: "small", limit: DOLLAR, needed: 0.6 * DOLLAR, left: 0.4 * DOLLAR },
  });
  expect(call.refusedBy!.until! % 86_400_000).toBe(0);
  const { output } = weir.run("logs", "--call", call.id);
  expect(output).toMatch(/budget small: needed \$0\.60*, \$0\.40* of \$1\.00 left until /);
  expect(weir.run("logs").output).toContain("refused: budget small");
  expect(weir.run("logs", "--csv").output).toContain("budget small: needed");
  const found = JSON.parse(weir.run("logs", "--rule", call.refusedBy!.id, "--json").output) as CallEntry[];
  expect(found.map(({ id }) => id)).toEqual([call.id]);
});

test("S5: a call that a rate limit refused has its name and unit; a call that was served has no rule", async () => {
  const call = await refusedAt("fast");
  expect(call.refusedBy).toMatchObject({ kind: "rate", name: "burst", unit: "rpm", limit: 1, left: 0 });
  expect(call.refusedBy!.until).toBeGreaterThan(call.startedAt);
  expect((await askModel(weir.url, "cheap")).status).toBe(200);
  const { calls } = await weir.api.ask("GET /calls", { query: { limit: 20 } });
  expect(calls.filter((one) => "refusedBy" in one).every(({ refused }) => refused !== undefined)).toBe(true);
  expect(calls.filter(({ refused }) => refused === undefined).length).toBeGreaterThan(0);
});
