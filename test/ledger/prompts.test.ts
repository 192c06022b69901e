/** Which prompts a worker hashes, and which hashes go into records. */
import { expect, test } from "bun:test";
import type { Usage } from "../../src/core/events.ts";
import { begin, callOf, finish, targetOf, testLedger, usage } from "../helpers/ledger.ts";

/** Calls of one conversation with a target. */
function conversation(provider: string, { ledger, keeper }: ReturnType<typeof testLedger>) {
  const target = targetOf(provider);
  let hashed = 0;
  const sections = () => {
    hashed++;
    return { parts: [["messages", 1] as const], head: 0, hashes: new Uint8Array(8).fill(7) };
  };
  return {
    async call(used: Partial<Usage>): Promise<void> {
      const attempt = await begin(ledger, callOf(), {}, target);
      ledger.notePrompt(attempt, { affinity: () => "session", sections });
      attempt.call.attempt = attempt;
      finish(ledger, attempt, { ...usage(2_000, 1), ...used });
    },
    hashed: () => hashed,
    async recorded(): Promise<number> {
      await Bun.sleep(80);
      return keeper.batches.flatMap(({ calls }) => calls).filter(({ prompt }) => prompt).length;
    },
  };
}

test("prompts are hashed for a target that mentions a cache, and are in the records of its calls", async () => {
  const { call, hashed, recorded } = conversation("caching", testLedger());
  await call({});
  await call({ cacheWrite: 1_500 });
  for (let count = 0; count < 30; count++) await call({});
  expect([hashed(), await recorded()]).toEqual([32, 31]);
});

test("prompts are hashed no more for a target that mentions no cache in twenty answers, until it does", async () => {
  const { call, hashed, recorded } = conversation("plain", testLedger());
  for (let count = 0; count < 30; count++) await call({});
  expect([hashed(), await recorded()]).toEqual([20, 0]);
  await call({ cacheRead: 1_500 });
  await call({});
  expect([hashed(), await recorded()]).toEqual([21, 1]);
});
