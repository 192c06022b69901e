/** When lines of batches leave a provider to the calls of clients, by a clock of the test. */
import { expect, test } from "bun:test";
import type { Attempt } from "../../../core/call.ts";
import { Traffic } from "../run/traffic.ts";

const AT = "p m";
const MINUTE = 60_000;

/** Traffic whose clients have waited `usual` milliseconds for ten minutes. */
function calm(usual: number, calls = 200) {
  const clock = { now: 5_000 };
  const traffic = new Traffic(() => clock.now);
  const call = (ms: number, at = AT) => traffic.answered(at, ms);
  for (let made = 0; made < calls; made++) {
    call(usual);
    clock.now += (10 * MINUTE) / calls;
  }
  return { clock, traffic, call };
}

function slow({ clock, call }: ReturnType<typeof calm>, ms: number, calls: number): void {
  for (let made = 0; made < calls; made++) {
    call(ms);
    clock.now += 25_000 / calls;
  }
}

test("lines wait while the median of 30 s is above 1.5 times that of ten minutes", () => {
  const scene = calm(200);
  expect(scene.traffic.yieldMs(AT)).toBe(0);
  slow(scene, 250, 20);
  expect(scene.traffic.yieldMs(AT)).toBe(0);
  slow(scene, 400, 20);
  expect(scene.traffic.yieldMs(AT)).toBeGreaterThan(0);
  slow(scene, 200, 20);
  expect(scene.traffic.yieldMs(AT)).toBe(0);
});

test("one slow call among many is no slow provider, and neither are a few calls", () => {
  const scene = calm(200);
  for (let call = 0; call < 9; call++) slow(scene, call === 4 ? 20_000 : 200, 2);
  expect(scene.traffic.yieldMs(AT)).toBe(0);
  const rare = calm(200, 19);
  slow(rare, 2_000, 4);
  expect(rare.traffic.yieldMs(AT)).toBe(0);
});

test("a provider that stays slow is as usual after some minutes, and lines go on", () => {
  const scene = calm(200);
  let waited = 0;
  for (let at = 0; at < 24; at++) {
    slow(scene, 500, 20);
    if (scene.traffic.yieldMs(AT) > 0) waited += 25_000;
  }
  expect(waited).toBeGreaterThan(MINUTE);
  expect(waited).toBeLessThan(9 * MINUTE);
  expect(scene.traffic.yieldMs(AT)).toBe(0);
});

test("without calls of clients lines wait for nothing", () => {
  const scene = calm(200);
  slow(scene, 900, 20);
  expect(scene.traffic.yieldMs(AT)).toBeGreaterThan(0);
  scene.clock.now += MINUTE;
  expect([scene.traffic.yieldMs(AT), scene.traffic.yieldMs("another m")]).toEqual([0, 0]);
});

const attempt = (more: object) =>
  ({
    target: { deployment: { name: "p" }, model: "m" },
    ...{ startedAt: 1_000, upstreamStatus: 429, failure: { class: "busy", what: "429", ms: 50 } },
    ...more,
  }) as unknown as Attempt;

test("lines wait until the end of a Retry-After, of any call, and of the target alone", () => {
  const clock = { now: 1_100 };
  const traffic = new Traffic(() => clock.now);
  traffic.ended([attempt({ said: { retryAfter: 4 } })], false);
  expect([traffic.yieldMs(AT), traffic.yieldMs("p other")]).toEqual([3_950, 0]);
  clock.now = 5_051;
  expect(traffic.yieldMs(AT)).toBe(0);
  traffic.ended([attempt({}), attempt({ upstreamStatus: 400, said: { retryAfter: 4 } })], true);
  expect(traffic.yieldMs(AT)).toBe(0);
});

test("times of lines are none of clients", () => {
  const { traffic, clock } = calm(200);
  const of = (ms: number) =>
    attempt({ failure: undefined, startedAt: clock.now, firstByteAt: clock.now + ms });
  for (let line = 0; line < 100; line++) traffic.ended([of(3_000)], false);
  expect(traffic.yieldMs(AT)).toBe(0);
  for (let call = 0; call < 100; call++) traffic.ended([of(3_000)], true);
  clock.now += 1_000;
  expect(traffic.yieldMs(AT)).toBeGreaterThan(0);
});
