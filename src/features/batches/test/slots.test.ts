/** How many lines run at once, by what providers say. */
import { expect, test } from "bun:test";
import { Slots } from "../run/slots.ts";

const MOST = 16;
const never = new AbortController().signal;

/** Runs lines as fast as places are free, each for one turn. @returns the mean of the limit */
async function meanLimit(slots: Slots, lines: number, isBusy: (line: number) => boolean): Promise<number> {
  let sum = 0;
  await Promise.all(
    Array.from({ length: lines }, async (_, line) => {
      await slots.take("path", never);
      await Bun.sleep(0);
      slots.give("path", isBusy(line));
      sum += slots.limit;
    }),
  );
  return sum / lines;
}

const slotsOf = () => new Slots(MOST, () => Promise.resolve());

test("one busy answer in twenty leaves lines room to run beside each other", async () => {
  const random = seeded(7);
  expect(await meanLimit(slotsOf(), 4_000, () => random() < 0.05)).toBeGreaterThan(5);
});

test("a provider that is always busy gets one line at a time, and all again when it has recovered", async () => {
  const slots = slotsOf();
  await meanLimit(slots, 200, () => true);
  expect(slots.limit).toBe(1);
  await meanLimit(slots, 400, () => false);
  expect(slots.limit).toBe(MOST);
});

test("answers to lines that ran together lower the limit once", async () => {
  const slots = slotsOf();
  for (let line = 0; line < MOST; line++) await slots.take("path", never);
  for (let line = 0; line < MOST; line++) slots.give("path", true);
  expect(slots.limit).toBe(MOST / 2);
});

test("a path with one line is not behind a path with a thousand", async () => {
  const slots = new Slots(2, () => Promise.resolve());
  const order: string[] = [];
  const run = async (path: string) => {
    await slots.take(path, never);
    order.push(path);
    await Bun.sleep(0);
    slots.give(path, false);
  };
  const many = Array.from({ length: 1_000 }, () => run("many"));
  await Promise.all([...many, run("one")]);
  expect(order.indexOf("one")).toBeLessThan(10);
});

/** Numbers from 0 to 1, the same in each run. */
function seeded(state: number): () => number {
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    return state / 2 ** 31;
  };
}
