import { expect, test } from "bun:test";
import { GatewayError } from "../../../src/core/error.ts";
import { Clock, type Watcher } from "../../../src/gateway/delivery/clock.ts";

/** Resolves after the watchers that are in the clock now have had a tick. */
function nextTick(clock: Clock): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const last: Watcher = {
    tick() {
      clock.remove(last);
      setImmediate(resolve);
    },
  };
  clock.add(last);
  return promise;
}

test("every watcher has a tick, also beside those that leave during theirs", async () => {
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
  await nextTick(clock);
  expect(ticked.size).toBe(9);
  expect(clock.size).toBe(4);
  for (const watcher of watchers) clock.remove(watcher);
  expect(clock.size).toBe(0);
});

test("a watcher that ends others in its tick breaks no tick", async () => {
  const clock = new Clock();
  const others = Array.from({ length: 5 }, (): Watcher => ({ tick() {} }));
  const ender: Watcher = {
    tick() {
      for (const other of [...others, ender]) clock.remove(other);
    },
  };
  for (const watcher of [...others, ender]) clock.add(watcher);
  await nextTick(clock);
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

test("a clock that stood still ticks for the next watcher", async () => {
  const clock = new Clock();
  await nextTick(clock);
  await Bun.sleep(600);
  await nextTick(clock);
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
  clock.endAll(new GatewayError("overloaded", "The gateway stops."));
  expect(ended).toBe(5);
  expect(clock.size).toBe(0);
});
