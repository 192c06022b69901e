/** Which calls share the figures of their limits. */
import { expect, test } from "bun:test";
import type { Applied, Booking } from "../../src/ledger/worker/booking.ts";
import { CallLimits } from "../../src/ledger/worker/figures.ts";

const LINE = { unit: "rpd", mode: "hard", name: "all", most: 1_000_000 };

/** A booking of a call that takes an amount of a limit. Of what it has, only what the figures read. */
function limitsOf(applied: Partial<Applied>, share: object, need: number): CallLimits {
  return new CallLimits({ applied, shares: [share], need: () => need } as unknown as Booking, true);
}

function shareWith(left: number) {
  return { line: LINE, known: { limit: 1_000_000, left, at: performance.now() }, left: 0, endsAt: Infinity };
}

test("calls that take little share the figures for a moment; one that takes much reads them itself", async () => {
  const applied = { hasSessions: false };
  const share = shareWith(900_000);
  const first = limitsOf(applied, share, 1).figures()!;
  expect(first).toMatchObject({
    forMany: true,
    rates: { requests: { limit: 1_000_000, remaining: 900_000 } },
  });
  share.known.left = 800_000;
  const large = limitsOf(applied, share, 5_000).figures()!;
  expect(large).toMatchObject({ forMany: false, rates: { requests: { remaining: 800_000 } } });
  await Bun.sleep(40);
  const later = limitsOf(applied, share, 1).figures()!;
  expect(later).not.toBe(first);
  expect(later.rates.requests!.remaining).toBeWithin(800_000, 800_010);
  expect(limitsOf({ hasSessions: false }, share, 1).figures()).not.toBe(later);
});

test("figures are not shared where a limit is small, where nothing is left, and where budgets are of sessions", () => {
  for (const [left, hasSessions] of [
    [999, false],
    [0, false],
    [900_000, true],
  ] as const) {
    const [applied, share] = [{ hasSessions }, shareWith(left)];
    expect(limitsOf(applied, share, 1).figures()).toMatchObject({ forMany: false });
    share.known.left = 0;
    expect(limitsOf(applied, share, 1).figures()!.rates.requests!.remaining).toBe(0);
  }
});
