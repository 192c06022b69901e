/** What hold, settlement and record cost a call: a key that has nothing, and one with three budgets and two limits. */
import { Attempt, type Call } from "../../../src/core/call.ts";
import { budgetAccount, rateAccount } from "../../../src/ledger/record.ts";
import {
  principal,
  admitted,
  budget,
  callOf,
  rate,
  TARGET,
  testLedger,
  usage,
} from "../../helpers/ledger.ts";
import { median } from "../measures.ts";

const ROUNDS = 21;
const CALLS = 4_000;
const PLENTY = 1e15;

type Made = ReturnType<typeof testLedger>;

const bare = testLedger();
const limited = testLedger({
  budgets: ["one", "two", "three"].map((id) => budget(id, PLENTY)),
  rates: [rate("pace", { rpm: 1e12, tpm: 1e14 })],
});
const accounts = [
  ...["one", "two", "three"].map((id) => budgetAccount(id, 0)),
  ...["rpm", "tpm"].map((unit) => rateAccount("pace", unit)),
];
for (const account of accounts) limited.keeper.limit(account, PLENTY);
const KEY = principal("key_bench", { path: "/eng/search" });
const ADMITTED = admitted();
const USED = usage(20, 40);

/** Shares that suffice for a round, as the keeper's slices do for most calls; idle ones of rate limits are given back. */
async function grant({ ledger, keeper }: Made): Promise<void> {
  await ledger.admit(new Attempt(callOf({ principal: KEY }), TARGET), ADMITTED);
  const grants = accounts.map((account) => ({ account, amount: PLENTY / 1_000 }));
  keeper.tell({ kind: "grant", number: 0, grants });
}

/** Nanoseconds for each call. What a call needs in any case is made before. */
async function measure(made: Made): Promise<number> {
  const { ledger, keeper } = made;
  if (made === limited) await grant(made);
  const attempts = Array.from({ length: CALLS }, () => new Attempt(callOf({ principal: KEY }), TARGET));
  const began = performance.now();
  for (const attempt of attempts) {
    const waits = ledger.admit(attempt, ADMITTED);
    if (waits) await waits;
    const { call }: { call: Call } = attempt;
    call.attempts.push(attempt);
    attempt.wasSent = true;
    attempt.usage = USED;
    call.attempt = attempt;
    ledger.settle(attempt);
    ledger.close(call);
  }
  const spent = performance.now() - began;
  await Bun.sleep(60);
  keeper.batches.length = 0;
  keeper.sent.length = 0;
  return (spent * 1e6) / CALLS;
}

const found: Record<string, number[]> = {};
for (let round = 0; round < ROUNDS; round++)
  for (const [name, made] of Object.entries({ nothing: bare, limits: limited }))
    (found[name] ??= []).push(await measure(made));
for (const [name, times] of Object.entries(found)) console.log(name, `${median(times).toFixed(0)} ns`);
process.exit(0);
