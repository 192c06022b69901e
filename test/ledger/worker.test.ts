/** The ledger of a worker against a keeper in memory. */
import { expect, test } from "bun:test";
import { Attempt } from "../../src/core/call.ts";
import { LedgerRefusal } from "../../src/core/refusal.ts";
import { DOLLAR } from "../../src/ledger/money.ts";
import { budgetAccount, rateAccount } from "../../src/ledger/record.ts";
import { windowAt } from "../../src/ledger/windows.ts";
import {
  principal,
  admitted,
  begin,
  budget,
  callOf,
  finish,
  rate,
  RULE,
  SIZE,
  TARGET,
  targetOf,
  testLedger,
  usage,
} from "../helpers/ledger.ts";

const ALL = budgetAccount("all", 0);
/** 100 tokens of input for 1 and 450 of output for 2 dollars a million. */
const HOLD = 1_000_000;
const settled = () => Bun.sleep(80);

async function refusalOf(pending: Promise<unknown>): Promise<LedgerRefusal> {
  const thrown = await pending.then(
    () => undefined,
    (error: unknown) => error,
  );
  expect(thrown).toBeInstanceOf(LedgerRefusal);
  return thrown as LedgerRefusal;
}

test("a hard budget for ten calls admits ten of a hundred at once, and refuses the others", async () => {
  const { ledger, keeper } = testLedger({ budgets: [budget("all", 10 * HOLD)] });
  keeper.limit(ALL, 10 * HOLD);
  const results = await Promise.allSettled(Array.from({ length: 100 }, () => begin(ledger)));
  expect(results.filter(({ status }) => status === "fulfilled").length).toBe(10);
  for (const result of results)
    if (result.status === "rejected") expect((result.reason as LedgerRefusal).code).toBe("budget_exhausted");
});

test("nothing is refused for money that a settled call has given back", async () => {
  const { ledger, keeper } = testLedger({ budgets: [budget("all", 2 * HOLD)] });
  keeper.limit(ALL, 2 * HOLD);
  for (let count = 0; count < 11; count++) finish(ledger, await begin(ledger), usage(10, 45));
  await settled();
  expect(keeper.spent(ALL)).toBe(11 * 100_000);
  const [one, two] = await Promise.allSettled([begin(ledger), begin(ledger)]);
  expect([one.status, two.status]).toEqual(["rejected", "rejected"]);
  expect(keeper.free.get(ALL)).toBeLessThan(HOLD);
});

test("a call under budgets of its key, path, model and everything is charged to all four once", async () => {
  const subjects = { key: "key_a", path: "/eng", model: "host/mod*", all: "" } as const;
  const budgets = Object.entries(subjects).map(([kind, what]) =>
    budget(kind, DOLLAR, { on: { kind: kind as keyof typeof subjects, what } }),
  );
  const others = [
    budget("other-key", DOLLAR, { on: { kind: "key", what: "key_b" } }),
    budget("other-path", DOLLAR, { on: { kind: "path", what: "/engine" } }),
    budget("tagged", DOLLAR, { on: { kind: "tag", what: "batch" } }),
  ];
  const { ledger, keeper } = testLedger({ budgets: [...budgets, ...others] });
  const call = callOf({ principal: principal("key_a", { path: "/eng/search" }) });
  finish(ledger, await begin(ledger, call), usage(100, 50));
  await settled();
  const [batch] = keeper.batches;
  expect(batch!.spends.map(({ account, spent }) => [account, spent])).toEqual(
    Object.keys(subjects).map((id) => [budgetAccount(id, 0), 200_000]),
  );
  expect(batch!.calls[0]!.attempts[0]!.accounts).toEqual(
    Object.keys(subjects).map((id) => budgetAccount(id, 0)),
  );
  expect(batch!.prices.map(({ ref }) => ref)).toEqual(["rule"]);
});

test("the hold and the cost of a call belong to the window in which it began", async () => {
  const rolling = budget("all", DOLLAR, { window: { hours: 1 } });
  const begun = Date.UTC(2026, 10, 22, 9, 59, 59, 500);
  const began = performance.now();
  const { ledger, keeper } = testLedger({
    budgets: [rolling],
    now: () => begun + performance.now() - began,
  });
  const attempt = await begin(ledger);
  await Bun.sleep(600);
  finish(ledger, await begin(ledger), usage(1, 0));
  finish(ledger, attempt, usage(100, 50));
  await settled();
  expect(keeper.spent(budgetAccount("all", windowAt(rolling, begun).startsAt))).toBe(200_000);
  expect(keeper.spent(budgetAccount("all", windowAt(rolling, begun + 600).startsAt))).toBe(1000);
});

test("a soft budget admits calls while anything is left, and overspends by the calls in flight at most", async () => {
  const { ledger, keeper } = testLedger({ budgets: [budget("all", 1_500_000, { mode: "soft" })] });
  keeper.limit(ALL, 1_500_000);
  const attempts: Attempt[] = [await begin(ledger)];
  // Half a call's hold is left, which is enough for a soft budget.
  keeper.tell({ kind: "grant", number: 0, grants: [{ account: ALL, amount: 500_000 }] });
  keeper.free.set(ALL, 0);
  attempts.push(await begin(ledger));
  const refusal = await refusalOf(begin(ledger));
  expect(refusal.message).toBe(
    'The budget "all, total" of $0.0015 is spent; it resets on 2099-12-01 00:00 UTC.',
  );
  for (const attempt of attempts) finish(ledger, attempt, usage(100, 450));
  await settled();
  expect(keeper.spent(ALL)).toBe(2 * HOLD);
});

test("a budget that only watches never refuses, and its calls are counted", async () => {
  const { ledger, keeper } = testLedger({ budgets: [budget("all", 1, { mode: "watch" })] });
  keeper.limit(ALL, 0);
  for (let count = 0; count < 5; count++) finish(ledger, await begin(ledger), usage(100, 50));
  await settled();
  expect(keeper.sent.some(({ kind }) => kind === "ask")).toBe(false);
  expect(keeper.spent(ALL)).toBe(5 * 200_000);
});

test("the refusal of a hard budget names the amounts and the date, unless clients may not see them", async () => {
  const { ledger, keeper } = testLedger({
    budgets: [budget("all", 50 * DOLLAR, { name: "eng", window: "month" })],
  });
  const account = budgetAccount("all", windowAt({ window: "month", zone: "UTC" }, Date.now()).startsAt);
  keeper.limit(account, 50 * DOLLAR);
  keeper.free.set(account, 120_000_000);
  const refusal = await refusalOf(begin(ledger, callOf(), { maxTokens: 199_950 }));
  expect(refusal.message).toBe(
    'The budget "eng, month" has $0.12 of $50.00 left and this call may cost up to $0.40; it resets on 2099-12-01 00:00 UTC.',
  );
  expect([refusal.status, refusal.shouldRetry, refusal.retryAfter]).toEqual([429, false, undefined]);
  const hidden = testLedger({ budgets: [budget("all", DOLLAR)], settings: { tell: false } });
  hidden.keeper.limit(ALL, 0);
  const { message, details } = await refusalOf(begin(hidden.ledger));
  expect(message).toBe('The budget "all, total" is exhausted; it resets on 2099-12-01 00:00 UTC.');
  expect(JSON.stringify(details)).not.toContain("limit");
});

test("under a hard budget a call without a price is refused with the lines of the config that set one", async () => {
  const { ledger } = testLedger({ budgets: [budget("all", DOLLAR)], rule: null });
  const refusal = await refusalOf(begin(ledger));
  expect([refusal.status, refusal.code, refusal.reason]).toEqual([403, "price_unknown", "price"]);
  expect(refusal.message).toContain('prices:\n  "host/model":\n    {input: 1.00, output: 2.00}');
});

test("of calls at once each asks for its own need, and a refusal says that less than that is left", async () => {
  const { ledger, keeper } = testLedger({ budgets: [budget("all", 4 * HOLD)] });
  keeper.limit(ALL, 2.5 * HOLD);
  const results = await Promise.allSettled(Array.from({ length: 20 }, () => begin(ledger)));
  const refused = results.filter((result) => result.status === "rejected");
  expect(refused).toHaveLength(18);
  const left = refused.map(({ reason }) => (reason as LedgerRefusal).details!["left"] as number);
  expect(left.filter((dollars) => dollars * DOLLAR >= HOLD)).toEqual([]);
});

test("without a hard budget a call without a price runs and is unpriced", async () => {
  const { ledger, keeper } = testLedger({ budgets: [budget("all", DOLLAR, { mode: "soft" })], rule: null });
  finish(ledger, await begin(ledger), usage(100, 50));
  await settled();
  expect(keeper.batches[0]!.calls[0]!.attempts[0]!.charge).toEqual({ state: "unpriced", cost: 0 });
});

test("a refusal for hours says the moment of the next slot, and permits a retry in a minute", async () => {
  const account = rateAccount("few", "rpd");
  const { ledger, keeper } = testLedger({ rates: [rate("few", { rpd: 20 })] });
  keeper.limit(account, 0);
  keeper.resetsAt = Date.now() + 4_320_000;
  const refused = (await begin(ledger).catch((cause: unknown) => cause)) as LedgerRefusal;
  const slot = new Date(keeper.resetsAt).toISOString();
  expect(refused.retryAfter).toBe(60);
  expect(refused.message).toMatch(
    /^The limit "few" permits \d+ requests a day; there is room in 1 h 12 min, on [\d-]+ at [\d:]+ UTC\.$/,
  );
  expect(Date.parse(`${slot.slice(0, 16)}Z`) - Date.parse(readMoment(refused.message))).toBeLessThan(61_000);
});

const readMoment = (text: string) => text.replace(/^.* on ([\d-]+) at ([\d:]+) UTC\.$/, "$1T$2Z");

test("a share that has been busy gives back within two seconds what its calls do not need any more", async () => {
  const { ledger, keeper } = testLedger({ budgets: [budget("all", DOLLAR)] });
  keeper.limit(ALL, DOLLAR);
  const burst = await Promise.all(Array.from({ length: 50 }, () => begin(ledger)));
  for (const attempt of burst) finish(ledger, attempt, usage(1, 1));
  const before = keeper.free.get(ALL)!;
  // It is never idle meanwhile.
  for (let at = 0; at < 24; at++) {
    finish(ledger, await begin(ledger), usage(1, 1));
    await Bun.sleep(100);
  }
  expect(keeper.free.get(ALL)! - before).toBeGreaterThan(47 * HOLD);
});

test("a limit of 10,000 tokens a minute admits ten of fifty calls that may use 1,000", async () => {
  const account = rateAccount("tokens", "tpm");
  const { ledger, keeper } = testLedger({ rates: [rate("tokens", { tpm: 10_000 })] });
  keeper.limit(account, 10_000);
  keeper.resetsAt = Date.now() + 2500;
  const results = await Promise.allSettled(
    Array.from({ length: 50 }, () => begin(ledger, callOf(), { maxTokens: 900 })),
  );
  const passed = results.filter(({ status }) => status === "fulfilled");
  expect(passed.length).toBe(10);
  const refused = results.find(({ status }) => status === "rejected") as PromiseRejectedResult;
  const { message, retryAfter, code, kind } = refused.reason as LedgerRefusal;
  expect([kind, code, retryAfter]).toEqual(["rate-limited", undefined, 3]);
  expect(message).toBe(
    'The limit "tokens" permits 10000 tokens a minute; there is room in 3 s. This call needs up to 1000 of them.',
  );
  // What was not used is free again.
  for (const result of passed)
    finish(ledger, (result as PromiseFulfilledResult<Attempt>).value, usage(100, 100));
  const again = await Promise.allSettled(
    Array.from({ length: 50 }, () => begin(ledger, callOf(), { maxTokens: 900 })),
  );
  expect(again.filter(({ status }) => status === "fulfilled").length).toBe(8);
});

test("a place among the calls at once is free again when the call ends, and held once for all its attempts", async () => {
  const account = rateAccount("few", "concurrency");
  const { ledger, keeper } = testLedger({ rates: [rate("few", { concurrency: 2 })] });
  keeper.limit(account, 2);
  const call = callOf();
  const first = await begin(ledger, call);
  first.failure = { class: "no-bytes", what: "reset", ms: 1 };
  ledger.settle(first);
  const second = await begin(ledger, call);
  const other = await begin(ledger);
  const refusal = await refusalOf(begin(ledger));
  expect(refusal.message).toBe('The limit "few" permits 2 calls at once; retry when one of them has ended.');
  finish(ledger, second, usage(1, 1));
  const third = await begin(ledger);
  finish(ledger, other, usage(1, 1));
  finish(ledger, third, usage(1, 1));
  expect(keeper.free.get(account)).toBe(0);
  keeper.tell({ kind: "recall", account });
  await Promise.resolve();
  expect(keeper.free.get(account)).toBe(2);
});

test("a call whose attempts are repeated counts as one request of its key", async () => {
  const account = rateAccount("requests", "rpm");
  const { ledger, keeper } = testLedger({ rates: [rate("requests", { rpm: 2 })] });
  keeper.limit(account, 2);
  const call = callOf();
  for (let count = 0; count < 3; count++) {
    const attempt = await begin(ledger, call);
    attempt.failure = { class: "status", what: "500", ms: 1 };
    ledger.settle(attempt);
  }
  ledger.close(call);
  finish(ledger, await begin(ledger), usage(1, 1));
  expect((await refusalOf(begin(ledger))).reason).toBe("rate");
});

test("budgets on sessions keep an account for each session", async () => {
  const { ledger, keeper } = testLedger({
    budgets: [budget("chat", 2 * HOLD, { on: { kind: "session", what: "" } })],
  });
  for (const session of ["one", "two", "one"]) {
    const call = callOf();
    const attempt = new Attempt(call, TARGET);
    await ledger.admit(attempt, admitted({}, session));
    call.attempts.push(attempt);
    attempt.wasSent = true;
    finish(ledger, attempt, usage(100, 450));
  }
  await settled();
  const spends = keeper.batches.flatMap((batch) => batch.spends);
  expect(spends.map(({ spent }) => spent).sort()).toEqual([HOLD, 2 * HOLD]);
  expect(spends.every(({ account }) => /^b:chat@0#[0-9a-f]{16}$/.test(account))).toBe(true);
});

test("a batch is kept until it is stored, and sent again after a reconnection", async () => {
  const { ledger, keeper } = testLedger({ budgets: [budget("all", DOLLAR)] });
  keeper.storesNothing = true;
  keeper.limit(ALL, DOLLAR);
  keeper.slice = 10 * HOLD;
  finish(ledger, await begin(ledger), usage(1, 1));
  await settled();
  expect(keeper.batches.map(({ seq }) => seq)).toEqual([1]);
  keeper.disconnect();
  finish(ledger, await begin(ledger), usage(1, 1));
  await settled();
  keeper.connect();
  const hello = keeper.sent.findLast(({ kind }) => kind === "hello");
  expect(hello).toMatchObject({ seq: 2 });
  expect(keeper.batches.map(({ seq }) => seq)).toEqual([1, 1, 2]);
  keeper.tell({ kind: "stored", seq: 2 });
  keeper.disconnect();
  keeper.connect();
  expect(keeper.batches.length).toBe(3);
});

test("what an attempt cost is reported in one batch with the record of its call, and until then it is not returned", async () => {
  const { ledger, keeper } = testLedger({ budgets: [budget("all", DOLLAR)] });
  keeper.limit(ALL, DOLLAR);
  keeper.slice = HOLD;
  const attempt = await begin(ledger);
  attempt.usage = usage(100, 50);
  attempt.firstByteAt = performance.now();
  ledger.settle(attempt);
  await settled();
  expect(keeper.batches).toEqual([]);
  keeper.disconnect();
  keeper.connect();
  const hello = keeper.sent.findLast(({ kind }) => kind === "hello");
  expect(hello).toMatchObject({ shares: [{ account: ALL, amount: 2 * HOLD }] });
  finish(ledger, attempt);
  await settled();
  expect(keeper.batches).toMatchObject([{ calls: [{}], spends: [{ account: ALL, spent: 200_000 }] }]);
});

test("records beyond the limit are dropped and counted, their spends are not", async () => {
  const { ledger, keeper } = testLedger({ budgets: [budget("all", DOLLAR, { mode: "watch" })] });
  keeper.disconnect();
  for (let count = 0; count < 20_000; count++) finish(ledger, await begin(ledger), usage(1, 0));
  keeper.connect();
  const rows = keeper.batches.reduce((sum, { calls }) => sum + calls.length, 0);
  const dropped = keeper.batches.reduce((sum, batch) => sum + (batch.dropped ?? 0), 0);
  expect([rows, rows + dropped]).toEqual([16_384, 20_000]);
  expect(keeper.spent(ALL)).toBe(20_000 * 1000);
});

test("a worker goes on from its share while the keeper is away", async () => {
  const { ledger, keeper } = testLedger({ budgets: [budget("all", DOLLAR)] });
  keeper.slice = 10 * HOLD;
  keeper.limit(ALL, DOLLAR);
  finish(ledger, await begin(ledger), usage(1, 1));
  keeper.disconnect();
  for (let count = 0; count < 5; count++) finish(ledger, await begin(ledger), usage(1, 1));
});

test("admission returns no promise while the shares suffice", async () => {
  const { ledger, keeper } = testLedger({
    budgets: [budget("all", DOLLAR), budget("soft", DOLLAR, { mode: "soft" })],
    rates: [rate("many", { rpm: 1000, tpm: 1_000_000 })],
  });
  keeper.slice = 100 * HOLD;
  for (const name of [ALL, budgetAccount("soft", 0)]) keeper.limit(name, DOLLAR);
  for (const unit of ["rpm", "tpm"]) keeper.limit(rateAccount("many", unit), 1e9);
  finish(ledger, await begin(ledger), usage(1, 1));
  const attempt = new Attempt(callOf(), TARGET);
  expect(ledger.admit(attempt, admitted())).toBeUndefined();
});

test("a change of the policy counts for the next call, and shares are kept", async () => {
  const { ledger, keeper, declared } = testLedger({ budgets: [budget("all", DOLLAR)] });
  keeper.limit(ALL, 3 * HOLD);
  keeper.slice = 2 * HOLD;
  finish(ledger, await begin(ledger), usage(0, 0));
  keeper.tell({ kind: "policy", policy: { version: 1, closed: false, ...declared } });
  const asks = () => keeper.sent.filter(({ kind }) => kind === "ask").length;
  expect(asks()).toBe(1);
  await begin(ledger);
  expect(asks()).toBe(1);
  const upserts = { budgets: [budget("more", HOLD - 1)] };
  keeper.limit(budgetAccount("more", 0), HOLD - 1);
  keeper.tell({ kind: "changes", version: 2, closed: false, upserts, removed: [] });
  expect((await refusalOf(begin(ledger))).message).toContain('"more, total"');
  keeper.tell({ kind: "changes", version: 3, closed: false, upserts: {}, removed: ["more"] });
  await begin(ledger);
});

test("a key that bounds the cost of a call is refused what may cost more, and what has no price", async () => {
  const bound = callOf({ principal: principal("small", {}, { maxCost: 900_000 }) });
  const { ledger } = testLedger();
  const refusal = await refusalOf(begin(ledger, bound));
  expect([refusal.status, refusal.code]).toEqual([400, "cost_limit_exceeded"]);
  expect(refusal.message).toContain("may cost up to $0.001, and the key small permits $0.0009 for one call");
  expect((await refusalOf(begin(testLedger({ rule: null }).ledger, bound))).code).toBe("price_unknown");
});

test("a key that bounds the output of a call is refused larger limits, and none where the model permits more", async () => {
  const bound = () => callOf({ principal: principal("small", {}, { maxTokens: 900 }) });
  const { ledger } = testLedger();
  await begin(ledger, bound(), { maxTokens: 900 });
  await begin(ledger, bound(), { maxTokens: 300, choices: 3 });
  // An embedding has no output.
  await begin(ledger, bound(), { maxTokens: 0 });
  await begin(testLedger({ rule: { ...RULE, maxOutput: 900 } }).ledger, bound(), { maxTokens: undefined });
  const wide = testLedger({ rule: { ...RULE, maxOutput: 901 } }).ledger;
  const refused = [
    [begin(ledger, bound(), { maxTokens: 901 }), "This call asks for up to 901 output tokens"],
    [begin(ledger, bound(), { maxTokens: 301, choices: 3 }), "This call asks for up to 903 output tokens"],
    [
      begin(ledger, bound(), { maxTokens: undefined }),
      "This call names no limit of output tokens, and the maximum of the model is unknown",
    ],
    [
      begin(wide, bound(), { maxTokens: undefined }),
      "This call names no limit of output tokens, and the model permits up to 901",
    ],
  ] as const;
  for (const [pending, why] of refused) {
    const { status, code, message } = await refusalOf(pending);
    expect([status, code]).toEqual([400, "max_tokens_exceeded"]);
    expect(message).toBe(`${why}; the key small permits 900 for one call. Set a limit of at most 900.`);
  }
});

test("tools of the provider are held for, and refused to a key that may not use them", async () => {
  const rule = { ...RULE, per: { search: 10_000_000 } };
  const { ledger, keeper } = testLedger({ budgets: [budget("all", DOLLAR)], rule });
  keeper.limit(ALL, DOLLAR);
  await begin(ledger, callOf(), { hasServerTools: true });
  // 50,000 tokens more, and ten cents for searches.
  expect(keeper.free.get(ALL)).toBe(DOLLAR - HOLD - 50_000_000 - 100_000_000);
  const unknown = testLedger({ budgets: [budget("all", DOLLAR)] });
  unknown.keeper.limit(ALL, DOLLAR);
  await begin(unknown.ledger, callOf(), { hasServerTools: true });
  // Searches without a price may cost five times as much.
  expect(unknown.keeper.free.get(ALL)).toBe(DOLLAR - HOLD - 50_000_000 - 500_000_000);
  const forbidden = callOf({ principal: principal("plain", {}, { scopes: { serverTools: false } }) });
  const refusal = await refusalOf(begin(ledger, forbidden, { hasServerTools: true }));
  expect([refusal.status, refusal.code]).toEqual([403, "server_tools_not_allowed"]);
  await begin(ledger, forbidden);
});

test("the next estimate for a target allows for the input that the provider added", async () => {
  const { ledger, keeper } = testLedger({ budgets: [budget("all", DOLLAR)] });
  keeper.limit(ALL, DOLLAR);
  const held = async () => {
    const before = keeper.free.get(ALL)!;
    const attempt = await begin(ledger);
    const { cost } = attempt.booking as unknown as { cost: number };
    expect(before).toBeGreaterThan(0);
    return { attempt, cost };
  };
  const first = await held();
  expect(first.cost).toBe(HOLD);
  finish(ledger, first.attempt, usage(1600, 10));
  const second = await held();
  // The words count twice, and the frame 16 times: no factor is larger.
  const largest = HOLD + (36 + 15 * 64) * 1000;
  expect(second.cost).toBe(largest);
  finish(ledger, second.attempt, usage(1600, 10));
  expect((await held()).cost).toBe(largest);
  const elsewhere = await begin(ledger, callOf(), SIZE, targetOf("host", "other"));
  expect((elsewhere.booking as unknown as { cost: number }).cost).toBe(HOLD);
  await settled();
  const [charged] = keeper.batches[0]!.spends;
  expect(charged!.overrun).toBe(1_620_000 - HOLD);
});

test("when the worker ends it gives back what it does not hold", async () => {
  const { ledger, keeper } = testLedger({ budgets: [budget("all", DOLLAR)] });
  keeper.limit(ALL, DOLLAR);
  keeper.slice = 100 * HOLD;
  finish(ledger, await begin(ledger), usage(10, 45));
  await ledger.end();
  await Promise.resolve();
  expect(keeper.free.get(ALL)).toBe(DOLLAR - 100_000);
  expect(keeper.spent(ALL)).toBe(100_000);
});

test("a worker that ends without its keeper loses nothing of what it was granted", async () => {
  const { ledger, keeper } = testLedger({ budgets: [budget("all", DOLLAR)] });
  keeper.limit(ALL, 2 * HOLD);
  keeper.slice = 2 * HOLD;
  finish(ledger, await begin(ledger), usage(10, 45));
  keeper.disconnect();
  await ledger.end();
  keeper.connect();
  expect(keeper.sent.findLast(({ kind }) => kind === "hello")).toMatchObject({
    shares: [{ account: ALL, amount: 2 * HOLD - 100_000 }],
  });
});

test("the keeper learns how many attempts run at each deployment", async () => {
  const { ledger, keeper } = testLedger({ budgets: [budget("all", DOLLAR)] });
  keeper.limit(ALL, 2 * HOLD);
  const reported = () => {
    ledger.report({ breakers: [], memory: 1, loopLag: 0 });
    const message = keeper.sent.at(-1)!;
    return message.kind === "state" ? message.state.inflight : undefined;
  };
  const attempts = [await begin(ledger), await begin(ledger)];
  await refusalOf(begin(ledger));
  expect(reported()).toEqual([{ deployment: "host", calls: 2 }]);
  keeper.tell({ kind: "changes", version: 2, closed: false, upserts: {}, removed: [] });
  finish(ledger, attempts[0]!, usage(1, 1));
  expect(reported()).toEqual([{ deployment: "host", calls: 1 }]);
  ledger.settle(attempts[1]!);
  ledger.close(attempts[1]!.call);
  expect(reported()).toEqual([]);
});
