/** M1: files and paper for accounts. */
import { expect, test } from "bun:test";
import { csvOf } from "../../src/console/pages/calls/csv.ts";
import { statementOf } from "../../src/console/pages/spend/statement.ts";
import type { CallEntry } from "../../src/operator/index.ts";

const usage = { input: 10, cacheRead: 20, cacheWrite: 30, output: 5, reasoning: 0 };
const attempt = (state: string, cost: number) => ({
  ...{ provider: "openai", model: "gpt-5.4", deployment: "openai", class: "answered", usage },
  charge: { state, cost },
});
const call = {
  ...{ id: "req_1", startedAt: 0, ms: 12, status: 200, outcome: "complete", format: "chat", model: "gpt" },
  ...{
    stream: true,
    finish: "stop",
    session: "5e55",
    tags: ["web", "=1+1"],
    error: { kind: "upstream", code: "late" },
  },
  losses: [{ code: "dropped", path: "/seed" }],
  attempts: [attempt("assumed", 2_586_000), attempt("unpriced", 0)],
} as unknown as CallEntry;

function rowOf(one: CallEntry): Record<string, string> {
  const [head, row] = csvOf([one]).split("\r\n");
  const names = head!.split(",");
  return Object.fromEntries(row!.split(",").map((value, at) => [names[at]!, value]));
}

test("M1: a call as CSV has tags, session, finish, error, losses, cache writes, stream and charge", () => {
  expect(rowOf(call)).toMatchObject({
    ...{ tags: "web =1+1", session: "5e55", finish: "stop", error: "late", stream: "true" },
    ...{ losses: "dropped /seed", cacheRead: "40", cacheWrite: "60", output: "10" },
    charge: "openai/gpt-5.4 assumed 0.002586000; openai/gpt-5.4 unpriced",
    dollars: "0.002586000",
  });
});

test("M1: tags that begin as a formula are text", () => {
  expect(rowOf({ ...call, tags: ["=1+1"] })["tags"]).toBe("'=1+1");
});

test("M1: a printed page names gateway, time, filters and when it was printed", () => {
  const text = statementOf({
    ...{ host: "127.0.0.1:9348", filters: { key: "ci-bot", model: "gpt-*" }, now: Date.now() },
    period: { from: Date.UTC(2026, 10, 1), to: Date.UTC(2026, 11, 1) },
  });
  expect(text).toStartWith(
    "weir 127.0.0.1:9348 · 2026-11-01 00:00 UTC to 2026-12-01 00:00 UTC · only key ci-bot, model gpt-* · printed ",
  );
});
