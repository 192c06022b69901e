/** Work that is shared by those who ask for it before it begins. */
import { expect, test } from "bun:test";
import { SharedRun } from "../../../src/keeper/books/shared-run.ts";

test("who asks while a run goes on gets the next one, and all who wait share it", async () => {
  let written = 0;
  const seen: number[] = [];
  const shared = new SharedRun(async () => {
    const read = written;
    await Bun.sleep(5);
    seen.push(read);
  });
  const asked = Array.from({ length: 20 }, async (_, n) => {
    await Bun.sleep(n % 4);
    const own = ++written;
    await shared.run();
    expect(seen.at(-1)!).toBeGreaterThanOrEqual(own);
  });
  await Promise.all(asked);
  expect(seen.length).toBeLessThan(6);
});

test("a run that fails fails for those who asked for it, and the next one runs", async () => {
  let runs = 0;
  const shared = new SharedRun(async () => {
    if (++runs === 1) throw new Error("away");
  });
  const [one, other] = [shared.run(), shared.run()];
  expect(one).rejects.toThrow("away");
  expect(other).rejects.toThrow("away");
  await Promise.allSettled([one, other]);
  await shared.run();
  expect(runs).toBe(2);
});
