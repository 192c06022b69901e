/** Records, budgets and keys for tests of the books. All text in them is synthetic. */
import type { Charge } from "../../../src/ledger/charge.ts";
import { DOLLAR } from "../../../src/ledger/money.ts";
import type { Budget, KeyEntry } from "../../../src/ledger/policy.ts";
import type { AttemptRecord, CallRecord, Spend } from "../../../src/ledger/record.ts";
import type { PriceRule } from "../../../src/ledger/charge.ts";
import type { Commit, Draw } from "../../../src/keeper/store/store.ts";

export const NOW = Date.UTC(2026, 10, 15, 12);
export const MONTH = Date.UTC(2026, 10, 1);
export const ACTOR = { actor: "console" };

export const budget = (id: string, changes: Partial<Budget> = {}): Budget => ({
  id,
  name: id,
  on: { kind: "all", what: "" },
  window: "month",
  zone: "UTC",
  limit: DOLLAR,
  mode: "hard",
  onEmpty: "refuse",
  alerts: [80, 100],
  source: "store",
  ...changes,
});

export const key = (id: string, changes: Partial<KeyEntry> = {}): KeyEntry => ({
  id,
  name: id,
  kind: "call",
  path: "/",
  tags: [],
  digests: [{ sha256: new Bun.CryptoHasher("sha256").update(id).digest("hex") }],
  scopes: {},
  ...changes,
});

export const rule = (ref: string, changes: Partial<PriceRule> = {}): PriceRule => ({
  ref,
  provider: "mock",
  model: "echo",
  input: 1_000_000,
  output: 2_000_000,
  source: "config",
  ...changes,
});

export function attempt(changes: Partial<AttemptRecord> = {}, charge: Partial<Charge> = {}): AttemptRecord {
  return {
    provider: "mock",
    deployment: "mock",
    model: "echo",
    class: "answered",
    ms: 20,
    usage: {
      input: 100,
      cacheRead: 0,
      cacheWrite: 0,
      output: 50,
      reasoning: 0,
      known: "final",
      tier: "default",
    },
    charge: { state: "metered", cost: 200_000, price: "p1", ...charge },
    held: 300_000,
    accounts: [],
    ...changes,
  };
}

let calls = 0;
export function call(changes: Partial<CallRecord> = {}): CallRecord {
  const random = new Uint8Array(18);
  new DataView(random.buffer).setUint32(14, ++calls);
  return {
    id: `req_${random.toBase64({ alphabet: "base64url" })}`,
    startedAt: NOW,
    ms: 21,
    key: "key_a",
    path: "/eng",
    tags: ["team"],
    format: "chat-completions",
    lane: "native",
    model: "mock/echo",
    stream: false,
    status: 200,
    outcome: "complete",
    attempts: [attempt()],
    ...changes,
  };
}

/** What the attempts of calls add to their accounts, as a worker reports it. */
export function spendsOf(records: readonly CallRecord[]): Spend[] {
  const spends = new Map<string, Spend>();
  for (const { attempts } of records)
    for (const { accounts, charge, held } of attempts)
      for (const account of accounts) {
        const spend = spends.get(account) ?? { account, spent: 0, assumed: 0, overrun: 0 };
        spend[charge.state === "assumed" ? "assumed" : "spent"] += charge.cost;
        spend.overrun += Math.max(0, charge.cost - held);
        spends.set(account, spend);
      }
  return [...spends.values()];
}

export const commit = (changes: Partial<Commit> = {}): Commit => ({
  batches: [],
  returns: [],
  assumptions: [],
  alerted: [],
  margins: [],
  rates: [],
  ...changes,
});

export function batch(seq: number, records: readonly CallRecord[], life = "life"): Commit["batches"][number] {
  return { life, worker: 1, seq, calls: records, spends: spendsOf(records), prices: [rule("p1")] };
}

export const draw = (account: string, changes: Partial<Draw> = {}): Draw => ({
  account,
  budget: account.slice(2).split("@")[0]!,
  startsAt: MONTH,
  endsAt: Date.UTC(2026, 11, 1),
  limit: DOLLAR,
  hard: true,
  need: 100,
  want: 100,
  ...changes,
});
