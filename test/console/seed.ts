/**
 * A store with some weeks of made-up calls, for tests and pictures of the console: keys on three paths, budgets that are full
 * and nearly full, calls of all outcomes. Equal options make equal calls. All names in it are synthetic.
 */
import { join } from "node:path";
import type { Charge, PriceRule } from "../../src/ledger/charge.ts";
import { digestOf, hintOf } from "../../src/ledger/keys/form.ts";
import type { Budget, KeyEntry } from "../../src/ledger/policy.ts";
import type { AttemptRecord, CallRecord } from "../../src/ledger/record.ts";
import { budgetAccount } from "../../src/ledger/record.ts";
import { sqliteStore } from "../../src/keeper/store/sqlite-store.ts";
import { batch, budget, commit, draw, key } from "../keeper/books/make.ts";

const DOLLAR = 1_000_000_000;
const DAY = 86_400_000;
const ACTOR = { actor: "cli" };

export interface SeedOptions {
  /** Number of calls. */
  calls: number;
  /** Days back from `now` over which they are spread. */
  days: number;
  /** Milliseconds since 1970. */
  now?: number;
}

interface Model {
  provider: string;
  model: string;
  asked: string;
  lane: "native" | "translated";
  /** Pico-dollars a token; absent: the model has no price. */
  prices?: readonly [input: number, cacheRead: number, output: number];
}

const MODELS: readonly Model[] = [
  {
    ...{ provider: "anthropic", model: "claude-sonnet-4-6", asked: "smart", lane: "translated" },
    prices: [3_000_000, 300_000, 15_000_000],
  },
  {
    ...{ provider: "openai", model: "gpt-5.4", asked: "gpt-5.4", lane: "native" },
    prices: [2_500_000, 250_000, 15_000_000],
  },
  {
    ...{ provider: "openai", model: "gpt-5.4-mini", asked: "fast", lane: "native" },
    prices: [250_000, 25_000, 2_000_000],
  },
  { provider: "local", model: "qwen3-32b", asked: "local/qwen3-32b", lane: "native" },
];

const PRICES: readonly PriceRule[] = MODELS.flatMap(({ provider, model, prices }, at) =>
  prices === undefined
    ? []
    : [
        {
          ...{ ref: `seed${at}`, provider, model, source: "litellm 2026-11-20", from: "2026-02-01" },
          ...{ input: prices[0], cacheRead: prices[1], output: prices[2] },
        },
      ],
);

const seedKey = (id: string, name: string, path: string, changes: Partial<KeyEntry> = {}): KeyEntry => {
  const text = `weir_sk_${id}${"0".repeat(30)}`;
  return key(`key_${id}`, {
    ...{ name, path, digests: [{ sha256: digestOf(text), hint: hintOf(text) }] },
    ...changes,
  });
};

const KEYS: readonly KeyEntry[] = [
  seedKey("aaaaaaaaaaaa", "ci-bot", "/eng/agents", {
    tags: ["ci"],
    scopes: { models: ["smart", "claude-*"] },
  }),
  seedKey("bbbbbbbbbbbb", "review-bot", "/eng/agents"),
  seedKey("cccccccccccc", "search", "/eng/search", { tags: ["prod"] }),
  seedKey("dddddddddddd", "support-desk", "/support", { tags: ["prod"] }),
  seedKey("eeeeeeeeeeee", "notebook of mara", "/eng", { expiresAt: 4e12 }),
];

const CLIENTS = ["openai-python/2.11.0", "claude-cli/2.4.1", "anthropic-ts/0.71.0", undefined];

/** @param state the state folder; its store must not be open */
export async function seedStore(
  state: string,
  { calls, days, now = Date.now() }: SeedOptions,
): Promise<void> {
  const date = new Date(now);
  const month = Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), 1);
  const budgets = [
    { entry: seedBudget("agents", "agents, month", "/eng/agents"), startsAt: month },
    { entry: seedBudget("eng", "eng, month", "/eng"), startsAt: month },
    { entry: seedBudget("support", "support, month", "/support"), startsAt: month },
  ];
  const accountsOf = (path: string, at: number) =>
    budgets
      .filter(({ entry }) => path === entry.on.what || path.startsWith(`${entry.on.what}/`))
      .filter(({ startsAt }) => at >= startsAt)
      .map(({ entry, startsAt }) => budgetAccount(entry.id, startsAt));
  const random = randomOf(calls + days);
  const records = Array.from({ length: calls }, (_, at) => {
    // Denser towards now, so that the last hour has calls too.
    const back = days * DAY * (1 - (at + 1) / (calls + 1)) ** 1.6;
    return callAt(Math.round(now - back - random() * 2_000), at, random, accountsOf);
  });
  const spent = new Map<string, number>();
  for (const { accounts, charge } of records.flatMap(({ attempts }) => attempts))
    for (const account of accounts) spent.set(account, (spent.get(account) ?? 0) + charge.cost);
  const store = sqliteStore(join(state, "weir.db"), () => now);
  await store.open();
  for (const entry of KEYS) await store.saveKey(entry, ACTOR);
  for (const [at, { entry, startsAt }] of budgets.entries()) {
    const account = budgetAccount(entry.id, startsAt);
    const sum = spent.get(account) ?? 0;
    // One is nearly empty, one half used, one has plenty.
    const limit = Math.max(DOLLAR, Math.ceil((sum * [1.06, 1.9, 6][at]!) / DOLLAR) * DOLLAR);
    await store.saveBudget({ ...entry, limit }, ACTOR);
    const window = { startsAt, endsAt: Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 1) };
    await store.draw([draw(account, { budget: entry.id, ...window, limit, need: sum, want: sum })]);
  }
  for (let from = 0, seq = 1; from < records.length; from += 500, seq++) {
    const part = batch(seq, records.slice(from, from + 500), "seed");
    await store.commit(commit({ batches: [{ ...part, prices: PRICES }] }));
  }
  await store.close();
}

const seedBudget = (id: string, name: string, path: string): Budget =>
  budget(`bud_${id}`, { name, on: { kind: "path", what: path }, mode: "hard", alerts: [50, 80, 100] });

function callAt(
  at: number,
  index: number,
  random: () => number,
  accountsOf: (path: string, at: number) => string[],
): CallRecord {
  const pick = <One>(list: readonly One[]): One => list[Math.floor(random() ** 1.5 * list.length)]!;
  const { id: key, path } = pick(KEYS);
  const model = pick(MODELS);
  const client = pick(CLIENTS);
  const stream = random() < 0.8;
  const fate = random();
  const failed = fate < 0.04;
  const left = fate >= 0.04 && fate < 0.06;
  const refused = fate >= 0.06 && fate < 0.08;
  const retried = fate >= 0.08 && fate < 0.14;
  const lost = model.lane === "translated" && random() < 0.3;
  const accounts = accountsOf(path, at);
  const ownMs = 0.2 + random() * 0.6;
  const common = {
    ...{ id: idOf(index), startedAt: at, key, path, model: model.asked, stream, ownMs },
    ...{ format: model.lane === "native" ? "chat-completions" : "messages", lane: model.lane },
    ...(client !== undefined && { client }),
    session: (0xabc0000000000000n + BigInt(index % 400)).toString(16),
  };
  if (refused)
    return {
      ...{ ...common, ms: ownMs, status: 403, outcome: "failed", refused: "budget", attempts: [] },
      error: { kind: "permission", code: "budget_exhausted" },
    };
  const first = failedTry(model, random, accounts);
  const tries = retried || failed ? [first] : [];
  const before = ownMs + tries.reduce((sum, { ms }) => sum + ms, 0);
  if (failed)
    return {
      ...{ ...common, ms: before, status: pick([529, 503, 429]), outcome: "failed", attempts: tries },
      error: { kind: "overloaded", code: "overloaded" },
    };
  const headMs = before + 120 + random() * 500;
  const firstMs = headMs + 80 + random() ** 3 * 6_000;
  const ms = firstMs + 200 + random() ** 2 * 14_000;
  const attempt = answeredTry(model, ms - before, random, accounts, left);
  return {
    ...{ ...common, ms, headMs, firstMs, status: 200, attempts: [...tries, attempt] },
    outcome: left ? "cancelled" : "complete",
    ...(!left && { finish: "stop" }),
    upstreamId: `msg_${index.toString(36)}`,
    ...(lost && {
      losses: [
        { code: "dropped", path: "logit_bias", note: "anthropic has nothing like it" },
        { code: "converted", path: "messages[0].role", note: "became the system prompt" },
      ],
    }),
  };
}

function failedTry(
  { provider, model }: Model,
  random: () => number,
  accounts: readonly string[],
): AttemptRecord {
  return {
    ...{ provider, deployment: `${provider}-eu`, model, class: "status", ms: 60 + random() * 1_200 },
    usage: { input: 0, cacheRead: 0, cacheWrite: 0, output: 0, reasoning: 0 },
    ...{ charge: { state: "free", cost: 0 }, held: 0, accounts },
  };
}

function answeredTry(
  { provider, model, prices }: Model,
  ms: number,
  random: () => number,
  accounts: readonly string[],
  left: boolean,
): AttemptRecord {
  const input = Math.round(200 + random() ** 3 * 30_000);
  const cacheRead = random() < 0.6 ? Math.round(input * random() * 4) : 0;
  const output = Math.round(20 + random() ** 2 * 1_800);
  const rule = PRICES.find((one) => one.provider === provider && one.model === model);
  const picos = prices && prices[0] * input + prices[1] * cacheRead + prices[2] * output;
  const cost = Math.round((picos ?? 0) / 1_000);
  const charge: Charge =
    picos === undefined
      ? { state: "unpriced", cost: 0 }
      : { state: left ? "estimated" : "metered", cost, price: rule!.ref };
  return {
    ...{ provider, deployment: `${provider}-us`, model, class: "answered", ms, charge },
    usage: { input, cacheRead, cacheWrite: 0, output, reasoning: 0, known: left ? "partial" : "final" },
    held: picos === undefined ? 0 : Math.round(cost * 1.8),
    expected: input + cacheRead,
    accounts: picos === undefined ? [] : accounts,
  };
}

/** An id of the usual form, which says the number of the call. */
function idOf(index: number): string {
  const bytes = new Uint8Array(18);
  bytes.set(new Bun.CryptoHasher("sha256").update(`${index}`).digest().subarray(0, 14));
  new DataView(bytes.buffer).setUint32(14, index);
  return `req_${bytes.toBase64({ alphabet: "base64url" })}`;
}

/** Mulberry32: equal seeds give equal numbers. @returns 0 to 1 */
function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
