/** A short tally; `bun run tally` compares 20,000 calls and kills each kind of process 20 times. */
import { expect, setDefaultTimeout, test } from "bun:test";
import type { Host } from "./tally/exchange.ts";
import { PRICES } from "./tally/provider.ts";
import { tally } from "./tally/tally.ts";

setDefaultTimeout(300_000);

const NOTHING = { rows: [], refusals: [], sentences: [], over: [], sums: [], unused: [], other: [] };

test("the books of calls of all languages, endings and lanes are the provider's own bill, also where processes are killed", async () => {
  const kills = { worker: 1, keeper: 1, all: 1 };
  const { wrong, exact, hosts, partial, audit, results } = await tally({
    calls: 350,
    parallel: 24,
    workers: 2,
    kills,
  });
  expect(wrong).toEqual(NOTHING);
  expect(exact.booked).toBe(exact.billed);
  expect(exact.calls).toBeGreaterThanOrEqual(350);
  for (const host of Object.keys(PRICES) as Host[]) expect(hosts[host] ?? 0, host).toBeGreaterThan(10);
  expect(partial.booked).toBeGreaterThan(partial.billed);
  expect(results.refused).toBeGreaterThan(0);
  expect(audit).toMatchObject({ code: 0, output: expect.stringContaining("The books hold.") });
});
