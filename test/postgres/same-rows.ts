/** The same calls in SQLite and in PostgreSQL, for tests that compare answers. */
import { randomBy } from "../keeper/books/proof-world.ts";
import { Reports } from "../../src/keeper/reports/reports.ts";
import { IN_MEMORY } from "../../src/keeper/settings.ts";
import { postgresStore } from "../../src/keeper/store/postgres/store.ts";
import type { SqlStore } from "../../src/keeper/store/sql-store.ts";
import { sqliteStore } from "../../src/keeper/store/sqlite-store.ts";
import { CHARGE_STATES } from "../../src/ledger/charge.ts";
import type { CallRecord } from "../../src/ledger/record.ts";
import { sessionHash } from "../../src/ledger/session-hash.ts";
import { attempt, batch, call, commit, NOW, rule } from "../keeper/books/make.ts";

const HOUR_MS = 3_600_000;
const COUNT = 1_200;
const PROVIDERS = ["north", "south", "west"];
const FAILURES = ["429", "503", "529", "401", "400", "404", "timeout", "not-found", "quota", "no-bytes"];
/** Ids of sessions at their clients. */
export const SESSIONS = ["sess-1", "sess 2", "Sitzung-ü", "sess-4", "%"];
export const KEYS = ["key_0", "key_1", "key_2"];

type Below = (below: number) => number;
const one = <Item>(random: Below, items: readonly Item[]): Item => items[random(items.length)]!;

function randomCall(random: Below): CallRecord {
  const tries = one(random, [0, 1, 1, 1, 2, 3]);
  const isFailed = random(4) === 0;
  const provider = () => one(random, PROVIDERS);
  const attempts = Array.from({ length: tries }, (_, index) => {
    const isLost = isFailed || index < tries - 1;
    const place = provider();
    return attempt(
      {
        ...{ provider: place, deployment: random(3) === 0 ? `${place}-eu` : place, ms: random(900) },
        ...{ model: one(random, ["mini", "Maxi-5.4", "mid_1"]), class: isLost ? "status" : "answered" },
        usage: {
          ...{ input: random(900), cacheRead: random(90), cacheWrite: random(9), output: random(500) },
          reasoning: random(20),
        },
      },
      { state: one(random, CHARGE_STATES.slice(0, 4)), cost: 1_000 * random(50), price: `p${random(3)}` },
    );
  });
  const failures = attempts.flatMap((tried, index) =>
    tried.class === "answered" ? [] : [{ try: index + 1, what: one(random, FAILURES) }],
  );
  const key = one(random, KEYS);
  const session = random(3) === 0 ? undefined : sessionHash(key, one(random, SESSIONS));
  const streamed = random(2) === 0;
  return {
    ...call({
      ...{ startedAt: NOW - random(50 * HOUR_MS), ms: random(9_000), key, path: `/team-${random(2)}` },
      ...{ format: one(random, ["messages", "responses"]), stream: streamed, attempts },
      ...{ model: one(random, ["name-1", "Name_2", "east/name-3"]), tags: random(2) === 0 ? ["prod"] : [] },
      ...{
        status: isFailed ? one(random, [502, 429, 400, 504]) : 200,
        outcome: isFailed ? "failed" : "complete",
      },
      ...(!isFailed && { finish: one(random, ["stop", "tool-calls"]) }),
      ...(isFailed && { error: { kind: "upstream", code: "overloaded" } }),
      ...(tries === 0 && random(2) === 0 && { refused: one(random, ["budget", "rate"] as const) }),
      ...(random(3) > 0 && { client: one(random, ["openai-python/2.1", "claude-cli/2.4"]) }),
      ...(random(6) === 0 && { losses: [{ code: "dropped", path: "logit_bias" }] }),
      ...(streamed && { firstMs: random(700), headMs: random(90) }),
      ...(session !== undefined && { session }),
    }),
    // Columns, which the keeper does not know. Earlier versions had no failures.
    ...(failures.length > 0 && random(5) > 0 && { failures }),
    ...(random(4) === 0 && { upstreamId: `chatcmpl-${random(300)}` }),
  };
}

export interface SameRows {
  calls: readonly CallRecord[];
  stores: readonly SqlStore[];
  /** Of SQLite, and of PostgreSQL. */
  reports: readonly Reports[];
  close(): Promise<void>;
}

/** @param url of an empty database */
export async function sameRows(url: string): Promise<SameRows> {
  let now = NOW - COUNT;
  const clock = () => now;
  const stores = [sqliteStore(IN_MEMORY, clock), postgresStore(url, { node: "one", now: clock })];
  for (const store of stores) await store.open();
  const random = randomBy(11);
  const calls = Array.from({ length: COUNT }, () => randomCall(random)).sort(
    (a, b) => a.startedAt - b.startedAt,
  );
  const prices = ["p0", "p1", "p2"].map((ref) => rule(ref));
  for (let seq = 0; seq * 100 < COUNT; seq++) {
    // Most rows are committed soon after the call, as numbers say.
    const slice = calls.slice(seq * 100, seq * 100 + 100);
    now = Math.min(NOW, slice.at(-1)!.startedAt + 10_000);
    const records = commit({ batches: [{ ...batch(seq + 1, slice), prices }] });
    for (const store of stores) await store.commit(records);
  }
  now = NOW;
  const reports = stores.map((store) => new Reports(store.sql, store.sql, clock));
  const close = async () => void (await Promise.all(stores.map((store) => store.close())));
  return { calls, stores, reports, close };
}
