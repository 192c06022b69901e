/** The reading side of the books: records as they were sent, sums, and what an invoice differs by. */
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { Reports } from "../../../src/keeper/reports/reports.ts";
import type { SqlStore } from "../../../src/keeper/store/sql-store.ts";
import { sqliteStore } from "../../../src/keeper/store/sqlite-store.ts";
import { IN_MEMORY } from "../../../src/keeper/settings.ts";
import { SUMS } from "../../../src/keeper/store/schema.ts";
import { DOLLAR } from "../../../src/ledger/money.ts";
import type { CallRecord } from "../../../src/ledger/record.ts";
import { ACTOR, attempt, batch, call, commit, key, NOW } from "./make.ts";

setDefaultTimeout(120_000);

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

async function open(now = () => NOW): Promise<{ store: SqlStore; reports: Reports }> {
  const store = sqliteStore(IN_MEMORY, now);
  await store.open();
  return { store, reports: new Reports(store.sql, store.sql, now) };
}

async function withCalls(calls: readonly CallRecord[]): Promise<Reports> {
  const { store, reports } = await open();
  await store.commit(commit({ batches: [batch(1, calls)] }));
  return reports;
}

/** One call with everything that a record may have. */
const FULL = call({
  startedAt: NOW - 5,
  ms: 90,
  headMs: 30,
  firstMs: 40,
  ownMs: 0.25,
  key: "key_full",
  path: "/eng/search",
  tags: ["a", "b"],
  lane: "translated",
  stream: true,
  status: 429,
  outcome: "failed",
  refused: "budget",
  error: { kind: "quota", code: "insufficient_quota" },
  finish: "stop",
  session: "0123456789abcdef",
  client: "sdk/1.2.3",
  losses: [{ code: "dropped", path: "logit_bias" }],
  upstreamId: "resp_1",
  attempts: [
    attempt({ class: "no-bytes", ms: 10, accounts: ["b:a@0"] }, { state: "assumed", cost: 7 }),
    attempt(
      {
        provider: "other",
        usage: {
          input: 1,
          cacheRead: 2,
          cacheWrite: 3,
          cacheWrite1h: 1,
          output: 4,
          reasoning: 2,
          reported: 0,
        },
      },
      { state: "estimated", cost: 9, doubt: "tier" },
    ),
  ],
});

describe("a record", () => {
  test("is read as it was written, with one attempt, several and none", async () => {
    const one = call({
      attempts: [
        attempt({
          class: "started",
          ms: 7,
          usage: {
            input: 5,
            cacheRead: 0,
            cacheWrite: 0,
            output: 0,
            reasoning: 0,
            known: "partial",
            searches: 2,
          },
        }),
      ],
    });
    const none = call({
      attempts: [],
      key: undefined,
      path: "/",
      tags: undefined,
      refused: "scope",
      status: 403,
    });
    const reports = await withCalls([FULL, one, none]);
    expect(await reports.call(FULL.id)).toEqual(FULL);
    expect(await reports.call(one.id)).toEqual(one);
    expect(await reports.call(none.id)).toEqual(JSON.parse(JSON.stringify(none)) as CallRecord);
    expect(await reports.call("req_unknown")).toBeUndefined();
  });

  test("members that earlier versions wrote for the keeper alone are not stored", async () => {
    const { id, ...rest } = call({});
    const waiting = { id, ...rest, trace: { attempts: [] }, unstored: { trace: { attempts: [] } } };
    const stored = await (await withCalls([waiting])).call(id);
    expect(stored).toMatchObject({ id });
    expect(stored).not.toHaveProperty("trace");
    expect(stored).not.toHaveProperty("unstored");
  });

  test("has the id of the provider, which finds it, whatever text that is", async () => {
    const texts = [
      "chatcmpl-9",
      "{}",
      '{"losses":1}',
      'a"b',
      "a\\b",
      "é",
      "a\n",
      " x",
      "x y",
      "",
      "\ud800",
      "\u0000",
    ];
    const calls = texts.map((upstreamId) => call({ upstreamId }));
    const beside = call({ upstreamId: "chatcmpl-9", losses: [{ code: "dropped", path: "n" }] });
    const reports = await withCalls([...calls, beside]);
    for (const [index, { id }] of calls.entries())
      expect((await reports.call(id))?.upstreamId).toBe(texts[index]!);
    for (const [index, upstreamId] of texts.entries()) {
      const found = await reports.calls({ limit: 50, columns: { upstreamId } });
      const wanted = upstreamId === "chatcmpl-9" ? [beside.id, calls[0]!.id] : [calls[index]!.id];
      expect(found.calls.map(({ id }) => id)).toEqual(wanted);
    }
  });

  test("of an earlier version has its doubt in the detail", async () => {
    const doubtful = call({ attempts: [attempt({}, { doubt: "tier" })], stream: true });
    const { store, reports } = await open();
    await store.commit(commit({ batches: [batch(1, [doubtful])] }));
    expect((await reports.call(doubtful.id))?.attempts[0]?.charge.doubt).toBe("tier");
    await store.sql.run(`UPDATE calls SET flags = flags % 8, detail = '{"doubt":"unit"}'`);
    const former = await reports.call(doubtful.id);
    expect([former?.stream, former?.attempts[0]?.charge.doubt]).toEqual([true, "unit"]);
  });

  test("is found by its id with and without a time in it", async () => {
    const random = call({ id: `req_${"Zz09".repeat(6)}` });
    const short = call({ id: "req_short" });
    const timed = new Uint8Array(18);
    new DataView(timed.buffer).setBigUint64(0, BigInt(NOW) << 16n);
    const today = call({ id: `req_${timed.toBase64({ alphabet: "base64url" })}` });
    const others = [call({ id: "twelve-bytes" }), call({ id: "eighteen bytes too" })];
    const near = call({ id: today.id.replace(/.$/, "B"), startedAt: NOW + 3 });
    const all = [random, short, today, near, ...others];
    const reports = await withCalls(all);
    expect((await reports.calls({ limit: 9 })).calls.map(({ id }) => id)).toEqual(
      all.map(({ id }) => id).toReversed(),
    );
    expect((await reports.call(near.id))?.startedAt).toBe(NOW);
    for (const { id } of all) expect((await reports.call(id))?.id).toBe(id);
  });
});

describe("a list of calls", () => {
  test("has pages that together contain each call once, the newest first", async () => {
    const calls = Array.from({ length: 25 }, () => call());
    const reports = await withCalls(calls);
    const ids: string[] = [];
    let after: string | undefined;
    do {
      const page = await reports.calls({ limit: 10, after });
      ids.push(...page.calls.map(({ id }) => id));
      after = page.next;
    } while (after !== undefined);
    expect(ids).toEqual(calls.map(({ id }) => id).toReversed());
  });

  test("filters by key, path, tag, failure, duration, model, provider, state and time", async () => {
    const plain = call();
    const slow = call({ ms: 9_000, key: "key_b", path: "/ops", tags: [] });
    const early = call({ startedAt: NOW - 2 * HOUR });
    const reports = await withCalls([plain, slow, early, FULL]);
    const ids = async (filter: object) =>
      (await reports.calls({ limit: 50, ...filter })).calls.map(({ id }) => id);
    expect(await ids({ key: "key_b" })).toEqual([slow.id]);
    expect(await ids({ path: "/eng" })).toEqual([FULL.id, early.id, plain.id]);
    expect(await ids({ within: "/eng/search" })).toEqual([FULL.id]);
    expect(await ids({ tag: "b" })).toEqual([FULL.id]);
    expect(await ids({ failed: true })).toEqual([FULL.id]);
    expect(await ids({ slowerThan: 1000 })).toEqual([slow.id]);
    expect(await ids({ provider: "other" })).toEqual([FULL.id]);
    expect(await ids({ model: ["echo"], key: "key_a" })).toEqual([early.id, plain.id]);
    expect(await ids({ refused: "budget" })).toEqual([FULL.id]);
    expect(await ids({ state: "estimated" })).toEqual([FULL.id]);
    expect(await ids({ from: NOW - HOUR, key: "key_a" })).toEqual([plain.id]);
    expect(await ids({ to: NOW - HOUR })).toEqual([early.id]);
  });

  test("looks at 10,000 rows and says so; the next page goes on from there", async () => {
    const first = call({ ms: 9_000 });
    const { store, reports } = await open();
    await store.commit(commit({ batches: [batch(1, [first])] }));
    for (let seq = 2; seq <= 26; seq++)
      await store.commit(
        commit({
          batches: [
            batch(
              seq,
              Array.from({ length: 500 }, () => call()),
            ),
          ],
        }),
      );
    const page = await reports.calls({ limit: 10, slowerThan: 1000 });
    expect(page).toMatchObject({ calls: [], bounded: true });
    const next = await reports.calls({ limit: 10, slowerThan: 1000, after: page.next });
    expect(next).toMatchObject({ calls: [{ id: first.id }], bounded: false });
    expect(next.next).toBeUndefined();
  });
});

describe("a filter of calls", () => {
  const mini = attempt({ model: "mini", deployment: "mock/eu" }, { state: "unpriced", cost: 0 });
  const plain = call({ client: "openai-js/6.1.0", session: "00000000000000aa" });
  const other = call({
    model: "tiny",
    format: "messages",
    attempts: [mini],
    status: 503,
    outcome: "cancelled",
  });

  async function ids(filter: object): Promise<string[]> {
    const reports = await withCalls([plain, other, FULL]);
    return (await reports.calls({ limit: 50, ...filter })).calls.map(({ id }) => id);
  }

  test("finds outcome, status, several attempts, losses and any refusal", async () => {
    expect(await ids({ outcome: "cancelled" })).toEqual([other.id]);
    expect(await ids({ outcome: "complete" })).toEqual([plain.id]);
    expect(await ids({ status: [{ low: 500, high: 599 }] })).toEqual([other.id]);
    expect(await ids({ retried: true })).toEqual([FULL.id]);
    expect(await ids({ retried: false, losses: false })).toEqual([other.id, plain.id]);
    expect(await ids({ losses: true })).toEqual([FULL.id]);
    expect(await ids({ refused: "any" })).toEqual([FULL.id]);
  });

  test("finds names: the model that was asked for, format, deployment, the beginning of a client", async () => {
    expect(await ids({ asked: ["tiny"] })).toEqual([other.id]);
    expect(await ids({ format: "messages" })).toEqual([other.id]);
    expect(await ids({ deployment: "mock/eu" })).toEqual([other.id]);
    expect(await ids({ client: "openai-js" })).toEqual([plain.id]);
    expect(await ids({ client: "js" })).toEqual([]);
  });

  test("finds the provider and the charge of every attempt, not only of the last", async () => {
    expect(await ids({ provider: "mock" })).toEqual([FULL.id, other.id, plain.id]);
    expect(await ids({ state: "assumed" })).toEqual([FULL.id]);
    expect(await ids({ state: "uncertain" })).toEqual([FULL.id]);
    expect(await ids({ state: "unpriced" })).toEqual([other.id]);
  });

  test("finds a session, and no other one", async () => {
    expect(await ids({ session: "00000000000000aa" })).toEqual([plain.id]);
    expect(await ids({ session: "00000000000000ab" })).toEqual([]);
  });

  test("finds a text: an id, part of a model or of a target, and keys by their ids", async () => {
    expect(await ids({ text: { text: other.id, keys: [] } })).toEqual([other.id]);
    expect(await ids({ text: { text: "TIN", keys: [] } })).toEqual([other.id]);
    expect(await ids({ text: { text: "mock/mini", keys: [] } })).toEqual([other.id]);
    expect(await ids({ text: { text: "nothing", keys: ["key_full"] } })).toEqual([FULL.id]);
    expect(await ids({ text: { text: "100%", keys: [] } })).toEqual([]);
  });

  test("by a time in the past finds calls that were committed hours later, and each of them once", async () => {
    const { store, reports } = await open();
    const late = call({ startedAt: NOW - 3 * HOUR });
    await store.commit(commit({ batches: [batch(1, [late, plain])] }));
    const range = { from: NOW - 4 * HOUR, to: NOW - 2 * HOUR };
    const found = await reports.calls({ limit: 50, ...range });
    expect(found.calls.map(({ id }) => id)).toEqual([late.id]);
    const all = await reports.calls({ limit: 50, to: NOW + HOUR });
    expect(all.calls.map(({ id }) => id)).toEqual([plain.id, late.id]);
    expect(await reports.summary({ ...range, slices: 4 })).toMatchObject({ calls: 1 });
  });
});

describe("a summary of calls", () => {
  test("has the sums of what a filter finds, and slices over its time", async () => {
    const calls = [0, 1, 2].map((hours) => call({ startedAt: NOW - hours * HOUR }));
    const reports = await withCalls([...calls, FULL]);
    const summary = await reports.summary({ from: NOW - 3 * HOUR, to: NOW + 1, slices: 4 });
    const cost = 3 * 200_000 + FULL.attempts.reduce((sum, { charge }) => sum + charge.cost, 0);
    const uncertain = FULL.attempts
      .filter(({ charge: { state } }) => state === "assumed" || state === "estimated")
      .reduce((sum, { charge }) => sum + charge.cost, 0);
    expect(summary).toMatchObject({ calls: 4, failed: 1, cost, uncertain, uncertainCalls: 1, retried: 1 });
    expect(summary.sliceMs).toBe(HOUR);
    expect(summary.slices.map(({ at, calls }) => [at, calls])).toEqual([
      [NOW - 2 * HOUR, 1],
      [NOW - HOUR, 2],
      [NOW, 1],
    ]);
    expect(summary.completeFrom).toBeUndefined();
  });

  test("of a provider has the charges of its attempts only, as the usage has", async () => {
    const reports = await withCalls([call(), FULL]);
    const { cost, uncertain } = await reports.summary({ provider: "mock", slices: 1 });
    const { total } = await reports.usage({ provider: "mock", by: [] });
    expect([cost, uncertain]).toEqual([total.cost, total.assumed + total.estimated]);
  });

  test("of an empty store has no beginning", async () => {
    const { reports } = await open();
    const summary = await reports.summary({ slices: 10 });
    expect(summary).toMatchObject({ calls: 0, slices: [], to: NOW });
    expect(summary.from).toBeUndefined();
  });
});

describe("deployments", () => {
  test("have their attempts, charges, percentiles, failures and series", async () => {
    const calls = [1, 2, 3, 4].map((count) =>
      call({ startedAt: NOW - 1_000, ms: 100 * count, firstMs: 10 * count }),
    );
    const bad = call({ status: 529, outcome: "failed", error: { kind: "upstream", code: "overloaded" } });
    const reports = await withCalls([...calls, bad, FULL]);
    const query = { within: "/", from: NOW - HOUR + 1, to: NOW + 1, slices: 60 };
    const { deployments, sliceMs, searchedTo } = await reports.deployments(query);
    expect([sliceMs, searchedTo]).toEqual([60_000, undefined]);
    const [mock] = deployments;
    const [first, last] = FULL.attempts;
    expect(mock).toMatchObject({
      ...{ provider: "mock", deployment: "mock", cost: 5 * 200_000 + first!.charge.cost + last!.charge.cost },
      latency: { calls: 4, p50: 20, p95: 40, total50: 200, total95: 400 },
      lastError: { status: 429, code: "insufficient_quota", call: FULL.id },
    });
    expect(mock!.errors).toContainEqual({ class: "no-bytes", group: "broken", calls: 1 });
    expect(mock!.errors).toContainEqual({ class: "status 529", status: 529, group: "5xx", calls: 1 });
    expect(mock!.series.map(({ calls }) => calls)).toEqual([5, 1]);
    const eng = await reports.deployments({ ...query, within: "/sales" });
    expect(eng.deployments).toEqual([]);
  });
});

describe("usage", () => {
  test("of more rows than anybody can read is refused, and fewer groups of the same time are not", async () => {
    const { store, reports } = await open();
    await store.commit(commit({ batches: [batch(1, [call()])] }));
    await store.sql.run(
      `WITH RECURSIVE many (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM many WHERE n < 100001)
       INSERT INTO use_hour SELECT hour, caller + n, target, ${SUMS.join(", ")} FROM use_hour, many`,
    );
    const range = { from: NOW - DAY, to: NOW + 1 };
    await expect(reports.usage({ ...range, by: ["hour", "key"] })).rejects.toMatchObject({
      code: "too_many_rows",
    });
    const { rows, total } = await reports.usage({ ...range, by: ["hour", "model"] });
    expect([rows.length, total.calls, rows[0]!.calls]).toEqual([1, 100_002, 100_002]);
  });

  test("is summed by each group, and a call with two tags is in the row of each", async () => {
    const reports = await withCalls([call(), call({ key: "key_b", startedAt: NOW - DAY }), FULL]);
    const rows = async (...by: ("key" | "path" | "tag" | "model" | "provider" | "day" | "hour")[]) =>
      (await reports.usage({ by })).rows.map(({ group, calls, cost }) => [
        ...Object.values(group),
        calls,
        cost,
      ]);
    expect(await rows("key")).toEqual([
      ["key_a", 1, 200_000],
      ["key_b", 1, 200_000],
      ["key_full", 1, 16],
    ]);
    expect(await rows("tag")).toEqual([
      ["team", 2, 400_000],
      ["a", 1, 16],
      ["b", 1, 16],
    ]);
    expect(await rows("provider", "model")).toEqual([
      ["mock", "echo", 2, 400_007],
      ["other", "echo", 1, 9],
    ]);
    expect(await rows("day")).toEqual([
      ["2026-11-14", 1, 200_000],
      ["2026-11-15", 2, 200_016],
    ]);
    expect(await rows("hour", "path")).toEqual([
      ["2026-11-14T12", "/eng", 1, 200_000],
      ["2026-11-15T11", "/eng/search", 1, 16],
      ["2026-11-15T12", "/eng", 1, 200_000],
    ]);
    const { total } = await reports.usage({ by: [] });
    expect(total).toMatchObject({
      calls: 3,
      failed: 1,
      refused: 1,
      attempts: 4,
      cost: 400_016,
      assumed: 7,
      estimated: 9,
      untiered: 9,
      input: 301,
      cacheRead: 2,
      cacheWrite1h: 1,
    });
  });

  test("of a time is extended to whole hours, and the report names them", async () => {
    const reports = await withCalls([call(), call({ startedAt: NOW - 3 * HOUR })]);
    const report = await reports.usage({ by: ["key"], from: NOW - HOUR + 5, to: NOW + 5 });
    expect(report).toMatchObject({ total: { calls: 1 }, from: NOW - HOUR, to: NOW + HOUR });
  });

  test("of keys within a path leaves out other paths, also those that begin alike", async () => {
    const reports = await withCalls([call({ path: "/eng" }), call({ path: "/eng2", key: "key_b" }), FULL]);
    expect((await reports.usage({ by: [], within: "/eng" })).total.calls).toBe(2);
  });

  test("without a price is a number of attempts, not a sum of zero", async () => {
    const reports = await withCalls([
      call({ attempts: [attempt({ model: "new" }, { state: "unpriced", cost: 0, price: undefined })] }),
    ]);
    expect((await reports.usage({ by: [] })).total).toMatchObject({ cost: 0, unpriced: 1 });
    expect(await reports.missingPrices()).toEqual([{ provider: "mock", model: "new", calls: 1 }]);
  });
});

test("facts of keys have the time of their last call", async () => {
  const { store, reports } = await open();
  await store.saveKey(key("key_a"), ACTOR);
  await store.saveKey(key("key_unused"), ACTOR);
  await store.commit(commit({ batches: [batch(1, [call()])] }));
  const facts = await reports.keyFacts();
  expect(facts.get("key_a")).toEqual({ createdAt: NOW, createdBy: "console", version: 1, lastUsedAt: NOW });
  expect(facts.get("key_unused")).toEqual({ createdAt: NOW, createdBy: "console", version: 2 });
});

test("the audit log and the list of assumptions have pages", async () => {
  const { store, reports } = await open();
  for (const id of ["a", "b", "c"]) await store.saveKey(key(id), ACTOR);
  const first = await reports.auditLog({ limit: 2 });
  expect(first.entries.map(({ subject }) => subject)).toEqual(["keys/c", "keys/b"]);
  expect((await reports.auditLog({ limit: 2, after: first.next })).entries).toMatchObject([
    { subject: "keys/a" },
  ]);
  await store.commit(commit({ assumptions: [{ account: "b:a@0", amount: 5, why: "worker 1 ended" }] }));
  expect(await reports.assumptions({ limit: 5 })).toEqual({
    entries: [{ at: NOW, account: "b:a@0", amount: 5, why: "worker 1 ended" }],
  });
});

describe("reconciliation", () => {
  const causesOf = async (reports: Reports, amount: number) => {
    const report = await reports.reconcile({ provider: "mock", month: "2026-11", amount }, ACTOR);
    return {
      ...report,
      causes: Object.fromEntries(report.causes.map(({ name, amount: part }) => [name, part])),
    };
  };
  const of = (state: "metered" | "estimated" | "assumed" | "unpriced", cost: number, doubt?: "tier") =>
    call({ attempts: [attempt({}, { state, cost, ...(doubt && { doubt }) })] });

  test("splits a difference into unpriced, assumed, tier unknown, estimated, and calls elsewhere", async () => {
    // The 100 input and 50 output tokens without a price cost 200,000 by the rule that exists now.
    const calls = [
      of("metered", DOLLAR),
      of("assumed", 300),
      of("estimated", 2_000, "tier"),
      of("estimated", 4_000),
      of("unpriced", 0),
    ];
    const more = await causesOf(await withCalls(calls), DOLLAR + 300 + 6_000 + 200_000 + 6_000 + 77);
    expect(more).toMatchObject({ booked: DOLLAR + 6_300, difference: 206_077 });
    expect(more.causes).toEqual({
      unpriced: 200_000,
      assumed: 0,
      "tier unknown": 2_000,
      estimated: 4_000,
      "not through weir": 77,
    });
    const less = await causesOf(await withCalls(calls.slice(0, 4)), DOLLAR);
    expect(less.causes).toMatchObject({
      unpriced: 0,
      assumed: -300,
      "tier unknown": -2_000,
      estimated: -4_000,
    });
  });

  test("counts only the provider and the month, and keeps the invoice", async () => {
    const reports = await withCalls([of("metered", 50), FULL, call({ startedAt: Date.UTC(2026, 9, 31) })]);
    expect(await causesOf(reports, 57)).toMatchObject({ booked: 57, difference: 0 });
    expect(await reports.invoices()).toEqual([{ provider: "mock", month: "2026-11", amount: 57 }]);
    await expect(
      reports.reconcile({ provider: "mock", month: "November", amount: 1 }, ACTOR),
    ).rejects.toThrow('"November" is not a month like 2026-11');
  });
});
