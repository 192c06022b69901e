/** When programs that crash may start again. */
import { expect, test } from "bun:test";
import { Crashes } from "../../servers/stdio/crashes.ts";

test("each crash doubles the time until the next start, up to 30 s, and a minute of rest forgives", () => {
  const crashes = new Crashes();
  expect(crashes.of("memory", "a", 0)).toBeUndefined();
  const waits: number[] = [];
  let now = 1000;
  for (let crash = 0; crash < 5; crash++) {
    const { waitMs, isDown } = crashes.add("memory", "a", "it broke", now);
    expect(isDown).toBe(false);
    waits.push(waitMs);
    now += waitMs;
  }
  expect(waits).toEqual([500, 1000, 2000, 4000, 8000]);
  expect(crashes.of("memory", "a", now)).toEqual({ waitMs: 0, isDown: false, why: "it broke" });
  expect(crashes.add("memory", "a", "again", now)).toEqual({ waitMs: 44_500, isDown: true, why: "again" });
  // The first crash is a minute ago.
  expect(crashes.of("memory", "a", 61_001)).toEqual({ waitMs: 0, isDown: false, why: "again" });
  expect(crashes.add("memory", "a", "again", 61_001)).toMatchObject({ waitMs: 30_000 });
  expect(crashes.add("memory", "a", "again", 200_000)).toMatchObject({ waitMs: 500, isDown: false });
});

test("crashes count for one server and owner", () => {
  const crashes = new Crashes();
  for (let crash = 0; crash < 6; crash++) crashes.add("memory", "a", "it broke", crash);
  expect(crashes.of("memory", "a", 10)?.isDown).toBe(true);
  expect(crashes.of("memory", "b", 10)).toBeUndefined();
  expect(crashes.of("files", "a", 10)).toBeUndefined();
  crashes.forget("memory");
  expect(crashes.of("memory", "a", 10)).toBeUndefined();
});

test("the memory of crashes is bounded", () => {
  const crashes = new Crashes();
  for (let owner = 0; owner < 3000; owner++) crashes.add("memory", String(owner), "it broke", owner);
  const known = Array.from({ length: 3000 }, (_, owner) => crashes.of("memory", String(owner), 3000));
  expect(known.filter(Boolean).length).toBeLessThanOrEqual(1000);
  expect(known.at(-1)).toBeDefined();
});
