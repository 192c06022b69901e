import { afterEach, beforeEach, expect, jest, test } from "bun:test";
import { GatewayError } from "../../../src/core/error.ts";
import { Clock, TICK_MS, type Watcher } from "../../../src/gateway/delivery/clock.ts";

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

/** Lets the time of one tick pass. @throws if there was none */
function nextTick(clock: Clock): void {
  let ticks = 0;
  const last: Watcher = {
    tick() {
      ticks++;
      clock.remove(last);
    },
  };
  clock.add(last);
  jest.advanceTimersByTime(TICK_MS);
  expect(ticks).toBe(1);
}

test("every watcher has a tick, also beside those that leave during theirs", () => {
  const clock = new Clock();
  const ticked = new Set<number>();
  const watchers = Array.from({ length: 9 }, (_, number): Watcher => {
    const watcher: Watcher = {
      tick() {
        ticked.add(number);
        if (number % 2 === 0) clock.remove(watcher);
      },
    };
    return watcher;
  });
  for (const watcher of watchers) clock.add(watcher);
  nextTick(clock);
  expect(ticked.size).toBe(9);
  expect(clock.size).toBe(4);
  for (const watcher of watchers) clock.remove(watcher);
  expect(clock.size).toBe(0);
});

test("a watcher that ends others in its tick breaks no tick", () => {
  const clock = new Clock();
  const others = Array.from({ length: 5 }, (): Watcher => ({ tick() {} }));
  const ender: Watcher = {
    tick() {
      for (const other of [...others, ender]) clock.remove(other);
    },
  };
  for (const watcher of [...others, ender]) clock.add(watcher);
  nextTick(clock);
  expect(clock.size).toBe(0);
});

test("a watcher that is added or removed twice counts once", () => {
  const clock = new Clock();
  const watcher: Watcher = { tick() {} };
  clock.add(watcher);
  clock.add(watcher);
  expect(clock.size).toBe(1);
  clock.remove(watcher);
  clock.remove(watcher);
  expect(clock.size).toBe(0);
});

test("a clock that stood still ticks for the next watcher", () => {
  const clock = new Clock();
  nextTick(clock);
  jest.advanceTimersByTime(2 * TICK_MS + 100);
  nextTick(clock);
});

test("the end of the gateway reaches every watcher", () => {
  const clock = new Clock();
  let ended = 0;
  for (let number = 0; number < 5; number++) {
    const watcher: Watcher = {
      tick() {},
      end() {
        ended++;
        clock.remove(watcher);
      },
    };
    clock.add(watcher);
  }
  const reason = new GatewayError("overloaded", "The gateway stops.");
  expect(clock.end(reason, () => true)).toBe(0);
  expect(clock.end(reason)).toBe(5);
  expect(ended).toBe(5);
  expect(clock.size).toBe(0);
});
