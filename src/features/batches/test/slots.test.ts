/** How many lines run at once, by what providers say, and whose lines they are. */
import { expect, test } from "bun:test";
import { type Place, type SlotOptions, Slots } from "../run/slots.ts";
import { VirtualClock } from "./virtual-clock.ts";

const MOST = 16;
const never = new AbortController().signal;

const slotsOf = (options: Partial<SlotOptions> = {}) =>
  new Slots({ most: MOST, isFree: () => Promise.resolve(), yieldMs: () => 0, ...options });

const placeOf = (sharer: string, more: Partial<Place> = {}): Place => ({
  ...{ sharer, model: "m", tokens: 100, priority: 0, since: 0 },
  ...more,
});
const PLACE = placeOf("one");
const BUSY = { busy: "provider", retryAfter: 0 } as const;

/** Runs lines as fast as places are free, each for one turn. @returns the mean of the limit */
async function meanLimit(slots: Slots, lines: number, isBusy: (line: number) => boolean): Promise<number> {
  let sum = 0;
  await Promise.all(
    Array.from({ length: lines }, async (_, line) => {
      await slots.take(PLACE, never);
      await Bun.sleep(0);
      slots.give(PLACE, isBusy(line) ? BUSY : undefined);
      sum += slots.limitOf("m");
    }),
  );
  return sum / lines;
}

test("one busy answer in twenty leaves lines room to run beside each other", async () => {
  const random = seeded(7);
  expect(await meanLimit(slotsOf(), 4_000, () => random() < 0.05)).toBeGreaterThan(5);
});

test("a provider that is always busy gets one line at a time, and all again when it has recovered", async () => {
  const slots = slotsOf();
  await meanLimit(slots, 200, () => true);
  expect(slots.limitOf("m")).toBe(1);
  await meanLimit(slots, 400, () => false);
  expect(slots.limitOf("m")).toBe(MOST);
});

test("answers to lines that ran together lower the limit once", async () => {
  const slots = slotsOf();
  for (let line = 0; line < MOST; line++) await slots.take(PLACE, never);
  for (let line = 0; line < MOST; line++) slots.give(PLACE, BUSY);
  expect(slots.limitOf("m")).toBe(MOST / 2);
});

test("a provider that wants no calls for a while holds up the lines of its model alone", async () => {
  const slots = slotsOf();
  const [busy, other] = [placeOf("one", { model: "busy" }), placeOf("one", { model: "other" })];
  await slots.take(busy, never);
  slots.give(busy, { busy: "provider", retryAfter: 300 });
  const began = performance.now();
  let waited = 0;
  const later = slots.take(busy, never).then(() => (waited = performance.now() - began));
  expect(await slots.take(other, never)).toBe(true);
  expect(performance.now() - began).toBeLessThan(200);
  expect([slots.limitOf("busy"), slots.limitOf("other"), waited]).toEqual([MOST / 2, MOST, 0]);
  await later;
  expect(waited).toBeGreaterThanOrEqual(295);
});

test("a limit of one key holds up the lines of this key alone, and lowers no limit", async () => {
  const slots = slotsOf();
  await slots.take(placeOf("limited"), never);
  slots.give(placeOf("limited"), { busy: "key", retryAfter: 300 });
  const began = performance.now();
  const later = slots.take(placeOf("limited"), never);
  await slots.take(placeOf("other"), never);
  expect([performance.now() - began < 200, slots.limitOf("m")]).toEqual([true, MOST]);
  await later;
  expect(performance.now() - began).toBeGreaterThanOrEqual(295);
});

test("lines leave a target to clients as long as they are asked to, and no other one", async () => {
  let yields = true;
  const slots = slotsOf({ yieldMs: (target) => (yields && target === "slow m" ? 20 : 0) });
  const run = async (model: string, target: string) => {
    const place = placeOf("one", { model });
    await slots.take(place, never);
    slots.give(place, { retryAfter: 0, target });
  };
  // Who answers is known with the first answer.
  await run("a", "slow m");
  let hasRun = false;
  const waiting = run("a", "slow m").then(() => (hasRun = true));
  for (let line = 0; line < 20; line++) await run("b", "fast m");
  await Bun.sleep(200);
  expect(hasRun).toBe(false);
  yields = false;
  await waiting;
});

test("a line whose wait is given up takes no place, and is no obstacle", async () => {
  const slots = slotsOf({ most: 1 });
  await slots.take(PLACE, never);
  const stop = new AbortController();
  const left = slots.take(PLACE, stop.signal);
  const next = slots.take(PLACE, never);
  await Bun.sleep(0);
  stop.abort();
  expect(await left).toBe(false);
  slots.give(PLACE);
  expect(await next).toBe(true);
});

test("a key with one line is not behind a key with a thousand", async () => {
  const slots = slotsOf({ most: 2 });
  const order: string[] = [];
  const run = async (sharer: string) => {
    await slots.take(placeOf(sharer), never);
    order.push(sharer);
    await Bun.sleep(0);
    slots.give(placeOf(sharer));
  };
  const many = Array.from({ length: 1_000 }, () => run("many"));
  await Promise.all([...many, run("one")]);
  expect(order.indexOf("one")).toBeLessThan(10);
});

test("of the batches of a key those with the highest priority go first, and then the oldest", async () => {
  const slots = slotsOf({ most: 1 });
  await slots.take(PLACE, never);
  const order: string[] = [];
  const run = async (name: string, priority: number, since: number) => {
    const place = placeOf("one", { priority, since });
    await slots.take(place, never);
    order.push(name);
    slots.give(place);
  };
  const all = [
    run("a", 0, 1),
    run("b", 0, 1),
    run("c", 9, 2),
    run("d", 5, 0),
    run("e", 9, 1),
    run("f", 0, 0),
  ];
  await Bun.sleep(0);
  slots.give(PLACE);
  await Promise.all(all);
  expect(order).toEqual(["e", "c", "d", "f", "a", "b"]);
});

/** Batches of five keys, and the tokens of their lines. */
const KEYS = [
  { batches: 1, tokens: [50, 400] },
  { batches: 2, tokens: [3_000, 9_000] },
  { batches: 4, tokens: [100, 30_000] },
  { batches: 6, tokens: [1_000, 1_000] },
  { batches: 7, tokens: [20, 2_000] },
] as const;

/** What each key has had when all of them together have had this number of tokens. All batches have lines until then. */
async function sharesOf(seed: number, enough: number): Promise<number[]> {
  const random = seeded(seed);
  const between = (least: number, most: number) => Math.floor(least + random() * (most - least + 1));
  const clock = new VirtualClock();
  const slots = slotsOf({ now: () => clock.now });
  const had = KEYS.map(() => 0);
  let all = 0;
  const batch = async (key: number) => {
    const [least, most] = KEYS[key]!.tokens;
    while (all < enough) {
      // The next line is read.
      await clock.sleep(between(0, 3));
      const place = placeOf(`key ${key}`, { tokens: between(least, most) });
      await slots.take(place, never);
      if (all < enough) {
        had[key]! += place.tokens;
        all += place.tokens;
      }
      void clock.sleep(between(20, 200)).then(() => slots.give(place));
    }
  };
  const running = KEYS.flatMap(({ batches }, key) => Array.from({ length: batches }, () => batch(key)));
  await clock.until(Promise.all(running));
  return had.map((tokens) => tokens / all);
}

test("20 batches of 5 keys, whose lines differ in size, get shares within 5 % of fair", async () => {
  for (const seed of [1, 2, 3, 4, 5])
    for (const share of await sharesOf(seed, 8_000_000)) {
      expect(share).toBeGreaterThan(0.2 * 0.95);
      expect(share).toBeLessThan(0.2 * 1.05);
    }
});

test("a key that had no lines for a while does not get what it has not asked for", async () => {
  const clock = new VirtualClock();
  const slots = slotsOf({ most: 4, now: () => clock.now });
  const begun: string[] = [];
  const lines = async (sharer: string, count: number) => {
    for (let line = 0; line < count; line++) {
      const place = placeOf(sharer, { tokens: 1_000 });
      await slots.take(place, never);
      begun.push(sharer);
      void clock.sleep(50).then(() => slots.give(place));
    }
  };
  await clock.until(lines("late", 1));
  await clock.until(lines("early", 400));
  begun.length = 0;
  await clock.until(Promise.all([lines("late", 100), lines("early", 100)]));
  const first = begun.slice(0, 40).filter((sharer) => sharer === "late").length;
  expect(first).toBeGreaterThanOrEqual(18);
  expect(first).toBeLessThanOrEqual(26);
});

/** Numbers from 0 to 1, the same in each run. */
function seeded(state: number): () => number {
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    return state / 2 ** 31;
  };
}
