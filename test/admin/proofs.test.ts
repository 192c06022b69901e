/** Proofs of the books: pages share them, and those of a large store rest between them. */
import { expect, setSystemTime, test } from "bun:test";
import { Proofs } from "../../src/admin/proofs.ts";

const MINUTE = 60_000;

function counting(ms = 0) {
  let made = 0;
  const proofs = new Proofs(async () => {
    made++;
    if (ms > 0) await Bun.sleep(ms);
    return { holds: true, checks: [] };
  });
  return { proofs, made: () => made };
}

test("S16: five tabs that ask once a minute, together and again, get one proof a minute", async () => {
  const { proofs, made } = counting();
  try {
    for (let minute = 0; minute < 10; minute++) {
      setSystemTime(1_800_000_000_000 + minute * MINUTE);
      const given = await Promise.all(Array.from({ length: 5 }, () => proofs.get(MINUTE)));
      expect(new Set(given.map(({ at }) => at)).size).toBe(1);
      setSystemTime(1_800_000_000_000 + minute * MINUTE + MINUTE / 2);
      await proofs.get(MINUTE);
      expect(made()).toBe(minute + 1);
    }
  } finally {
    setSystemTime();
  }
});

test("S16: after a proof of 30 ms the next one comes no sooner than 3 s later, whatever pages ask", async () => {
  const { proofs, made } = counting(30);
  try {
    setSystemTime(1_800_000_000_000);
    await proofs.get(1);
    const rest = 100 * proofs.last!.ms;
    expect(rest).toBeGreaterThanOrEqual(2_800);
    setSystemTime(1_800_000_000_000 + rest - 1);
    await proofs.get(1);
    expect(made()).toBe(1);
    setSystemTime(1_800_000_000_000 + rest + 1);
    await proofs.get(1);
    expect(made()).toBe(2);
  } finally {
    setSystemTime();
  }
});

test("who wants a proof now gets one that begins now, also beside a running one", async () => {
  const { proofs, made } = counting(20);
  await Promise.all([proofs.get(MINUTE), proofs.get(), proofs.get()]);
  expect(made()).toBe(3);
});
