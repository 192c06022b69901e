/** Streams that are not read to their end cost what was seen, and what the provider may have produced until it was stopped. */
import { describe, expect, test } from "bun:test";
import { GatewayError } from "../../src/core/error.ts";
import { usageState } from "../../src/core/events.ts";
import { DOLLAR } from "../../src/ledger/money.ts";
import { linesOf } from "../../src/ledger/prices/lines.ts";
import { budgetAccount } from "../../src/ledger/record.ts";
import { unseenOutput } from "../../src/ledger/worker/gap.ts";
import { begin, budget, callOf, RULE, targetOf, testLedger } from "../helpers/ledger.ts";

/** Until the batch is sent. */
const settled = () => Bun.sleep(80);

const ALL = budgetAccount("all", 0);
const HIDING = targetOf("host", "model", { traits: { hidesReasoning: true } });
/** What may come in a quarter of a second and the moment of a busy machine, at 200 tokens a second. */
const MOMENT = 200 * 1.5;

/** One stream under a hard budget, which its client leaves. @param bytes of visible output before @returns the record of the attempt */
async function left(bytes: number, target = HIDING) {
  const { ledger, keeper } = testLedger({ budgets: [budget("all", 100 * DOLLAR)] });
  keeper.limit(ALL, 100 * DOLLAR);
  const call = callOf();
  call.stream = true;
  const attempt = await begin(ledger, call, { maxTokens: undefined }, target);
  attempt.wasSent = true;
  if (bytes > 0) {
    attempt.firstByteAt = performance.now();
    attempt.noteOutput(attempt.outputBytes + bytes, 0);
  }
  call.abort(new GatewayError("overloaded", "The client has left."));
  call.outcome = "cancelled";
  ledger.close(call);
  await settled();
  return keeper.batches[0]!.calls[0]!.attempts[0]!;
}

describe("a stream that its client leaves", () => {
  test("costs what was seen and a gap, also where the provider hides its reasoning", async () => {
    const { usage, charge } = await left(3_500);
    expect(charge.state).toBe("estimated");
    expect(usage.output).toBeGreaterThan(1_000);
    expect(usage.output).toBeLessThan(1_000 + MOMENT);
  });

  test("before its first event costs the input and a gap, not all that was held", async () => {
    const { usage, charge, held } = await left(0);
    expect(charge.state).toBe("assumed");
    expect(usage.input).toBeGreaterThan(0);
    expect(usage.output).toBeGreaterThan(0);
    expect(usage.output).toBeLessThan(MOMENT);
    expect(charge.cost).toBeLessThan(held / 50);
  });

  test.each([0, 1, 3_500, 100_000])("has a ledger that adds up (%p bytes of output)", async (bytes) => {
    const { usage, charge } = await left(bytes);
    expect(usageState(usage)).toBe("partial");
    const lines = linesOf(usage, charge, RULE)!;
    expect(lines.map(({ what }) => what)).toEqual(["input", "output"]);
    expect(lines.map(({ count }) => count)).toEqual([usage.input, usage.output]);
    expect(lines.reduce((sum, { amount }) => sum + amount, 0)).toBe(charge.cost);
  });
});

test("an estimate is never more than the request permits", async () => {
  const { ledger, keeper } = testLedger({ budgets: [budget("all", 100 * DOLLAR)] });
  keeper.limit(ALL, 100 * DOLLAR);
  const call = callOf({ stream: true });
  const attempt = await begin(ledger, call, { maxTokens: 50 }, HIDING);
  attempt.firstByteAt = performance.now();
  attempt.noteOutput(3_500, 1_200);
  call.abort(new GatewayError("overloaded", "The client has left."));
  ledger.close(call);
  await settled();
  const { usage, charge, held } = keeper.batches[0]!.calls[0]!.attempts[0]!;
  expect(usage.output).toBe(50);
  expect(charge.cost).toBeLessThanOrEqual(held);
});

test("an answer without a stream of which nothing came is assumed to cost all that was held, and its lines add up", async () => {
  const { ledger, keeper } = testLedger({ budgets: [budget("all", 100 * DOLLAR)] });
  keeper.limit(ALL, 100 * DOLLAR);
  const attempt = await begin(ledger, callOf(), { maxTokens: 500 });
  attempt.wasSent = true;
  attempt.failure = { class: "no-bytes", what: "timeout", ms: 1 };
  ledger.settle(attempt);
  ledger.close(attempt.call);
  await settled();
  const { usage, charge, held } = keeper.batches[0]!.calls[0]!.attempts[0]!;
  expect(charge).toMatchObject({ state: "assumed", cost: held });
  const lines = linesOf(usage, charge, RULE)!;
  expect(lines.map(({ what }) => what)).toEqual(["input", "output", "held"]);
  expect(lines.reduce((sum, { amount }) => sum + amount, 0)).toBe(charge.cost);
});

describe("what a provider may have produced unseen", () => {
  const stream = (firstOutputAt?: number, outputAt?: number) => ({
    startedAt: 0,
    ...(firstOutputAt !== undefined && { firstOutputAt }),
    ...(outputAt !== undefined && { outputAt }),
  });
  test.each<[string, Parameters<typeof unseenOutput>, number]>([
    ["at once after an event: the way alone", [stream(100, 100), false, 1, 100], 50],
    ["half a second later", [stream(100, 100), false, 1, 600], 150],
    ["a minute later: the provider was silent", [stream(100, 100), false, 1, 60_100], 250],
    ["the same, and it may have reasoned", [stream(100, 100), true, 1, 60_100], 12_070],
    ["it reasoned before its first output", [stream(5_000, 5_000), true, 1, 5_000], 1_050],
    ["a fast stream keeps its pace", [stream(0, 1_000), false, 1_000, 1_000], 250],
    ["a slow one may be in bursts", [stream(0, 10_000), false, 100, 10_000], 50],
    ["nothing came for a second", [stream(), false, 0, 1_000], 250],
  ])("%s", (_what, given, tokens) => {
    expect(unseenOutput(...given)).toBe(tokens);
  });
});
