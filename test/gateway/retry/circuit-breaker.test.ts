/** The breaker with its time given from outside: what opens it, how long, who may try, and what proves nothing. */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { FailureCause } from "../../../src/core/failure-policy.ts";
import { DEFAULT_CIRCUIT_BREAKER } from "../../../src/core/merge-policies.ts";
import { CircuitBreaker, type Trial } from "../../../src/gateway/retry/circuit-breaker.ts";
import { withinBudget } from "../../helpers/within-budget.ts";

const at = (startedAt: number): Trial => ({ startedAt });

/** Begins and fails a trial at this moment. */
function failAt(breaker: CircuitBreaker, now: number): void {
  const trial = at(now);
  breaker.begin(trial);
  breaker.fail(trial, now);
}

function succeedAt(breaker: CircuitBreaker, now: number): void {
  const trial = at(now);
  breaker.begin(trial);
  breaker.succeed(trial, now);
}

function opened(now = 0): CircuitBreaker {
  const breaker = new CircuitBreaker(() => 0);
  for (let count = 0; count < 3; count++) failAt(breaker, now);
  expect(breaker.state(now)).toBe("failing");
  return breaker;
}

describe("what opens it", () => {
  test("three failures in a row, but not three with a success in between", () => {
    const breaker = new CircuitBreaker();
    for (const now of [0, 1]) failAt(breaker, now);
    succeedAt(breaker, 2);
    for (const now of [3, 4]) failAt(breaker, now);
    expect(breaker.state(4)).toBe("closed");
    failAt(breaker, 5);
    expect(breaker.state(5)).toBe("failing");
  });

  test("more than half of ten calls in half a minute, however they are mixed", () => {
    const alternating = new CircuitBreaker();
    for (let call = 0; call < 20; call++) (call % 2 ? failAt : succeedAt)(alternating, call);
    expect(alternating.state(20)).toBe("closed");
    failAt(alternating, 21);
    expect(alternating.state(21)).toBe("failing");
  });

  test("failures of half a minute ago are forgotten", () => {
    const breaker = new CircuitBreaker();
    for (let call = 0; call < 20; call++) (call % 2 ? failAt : succeedAt)(breaker, call);
    failAt(breaker, 40_000);
    expect(breaker.state(40_000)).toBe("closed");
    expect(breaker.isClean(40_000)).toBe(false);
    expect(breaker.isClean(80_000)).toBe(true);
  });
});

describe("options", () => {
  const fail = (breaker: CircuitBreaker, now: number, options: object, cause?: FailureCause) => {
    const trial = at(now);
    breaker.begin(trial);
    breaker.fail(trial, now, { ...DEFAULT_CIRCUIT_BREAKER, ...options }, cause);
  };

  test("the rule of most calls leaves room for the failures in a row that are allowed", () => {
    const breaker = new CircuitBreaker();
    for (let call = 0; call < 19; call++) fail(breaker, call, { failures: 20 });
    expect(breaker.state(19)).toBe("closed");
    fail(breaker, 19, { failures: 20 });
    expect(breaker.state(19)).toBe("failing");
  });

  test("a cause with a number of its own counts apart from the others", () => {
    const breaker = new CircuitBreaker();
    const options = { policy: { timeout: 12 } };
    for (let call = 0; call < 11; call++) fail(breaker, call, options, "timeout");
    for (let call = 0; call < 2; call++) fail(breaker, 20 + call, options, "overloaded");
    expect(breaker.state(30)).toBe("closed");
    fail(breaker, 31, options, "timeout");
    expect(breaker.state(31)).toBe("failing");
  });

  test("equal times give a fixed one", () => {
    const breaker = new CircuitBreaker(() => 1);
    const options = { failures: 1, cooldownMs: 700, longestCooldownMs: 700 };
    fail(breaker, 0, options);
    expect(breaker.opensAt).toBe(700);
    fail(breaker, 700, options);
    expect(breaker.opensAt).toBe(1400);
  });
});

describe("how long", () => {
  test("5 s, doubled by each probe that fails, up to 5 min; a good one closes it and resets", () => {
    const breaker = opened();
    const periods: number[] = [];
    let now = 0;
    for (let probe = 0; probe < 9; probe++) {
      periods.push(breaker.opensAt - now);
      now = breaker.opensAt;
      expect(breaker.state(now - 1)).toBe("failing");
      expect(breaker.state(now)).toBe("half-open");
      failAt(breaker, now);
    }
    expect(periods).toEqual([5, 10, 20, 40, 80, 160, 300, 300, 300].map((seconds) => seconds * 1000));
    now = breaker.opensAt;
    succeedAt(breaker, now);
    expect(breaker.state(now)).toBe("closed");
    for (let count = 0; count < 3; count++) failAt(breaker, now);
    expect(breaker.opensAt - now).toBe(5_000);
  });

  test("as long as it asks to be left alone, and never shorter than it was open anyway", () => {
    const breaker = new CircuitBreaker(() => 0);
    breaker.pause(at(0), 0, 20_000);
    expect([breaker.state(19_999), breaker.state(20_000)]).toEqual(["paused", "half-open"]);
    breaker.pause(at(1_000), 1_000, 2_000);
    expect(breaker.opensAt).toBe(20_000);
    const endless = new CircuitBreaker();
    endless.pause(at(0), 0, 1e12);
    expect(endless.opensAt).toBe(3_600_000);
  });

  test("without a word of how long, as after a failure", () => {
    const breaker = new CircuitBreaker(() => 0);
    breaker.pause(at(0), 0, undefined);
    for (let late = 0; late < 50; late++) breaker.pause(at(0), 10, undefined);
    expect(breaker.opensAt).toBe(5_000);
    const probe = at(5_000);
    breaker.begin(probe);
    breaker.pause(probe, 5_000, undefined);
    expect(breaker.opensAt).toBe(15_000);
  });
});

describe("who may try", () => {
  test("one at a time; a probe that says nothing for half a minute makes room for the next", () => {
    const breaker = opened();
    breaker.begin(at(5_000));
    expect(breaker.state(5_001)).toBe("failing");
    expect(breaker.state(35_001)).toBe("half-open");
  });

  test("a client that leaves gives its probe back", () => {
    const breaker = opened();
    const probe = at(5_000);
    breaker.begin(probe);
    breaker.release(probe);
    expect(breaker.state(5_001)).toBe("half-open");
  });

  test("the beginning of an answer lets others in", () => {
    const breaker = opened();
    const probe = at(5_000);
    breaker.begin(probe);
    breaker.answered(probe);
    expect(breaker.state(5_001)).toBe("closed");
  });

  test("who began before it opened proves nothing, good or bad", () => {
    const early = at(-10);
    const breaker = opened();
    breaker.begin(early);
    breaker.succeed(early, 1);
    breaker.fail(early, 5_001);
    expect([breaker.state(1), breaker.state(5_001)]).toEqual(["failing", "half-open"]);
  });

  test("called all the same while it is open, a good answer closes it", () => {
    const breaker = opened();
    succeedAt(breaker, 1_000);
    expect(breaker.state(1_000)).toBe("closed");
  });
});

/** One thing that happens, and the milliseconds before it. */
const step = fc.record({
  gap: fc.integer({ min: 0, max: 20_000 }),
  what: fc.constantFrom("fail", "succeed", "release", "limit", "begin") as fc.Arbitrary<
    "fail" | "succeed" | "release" | "limit" | "begin"
  >,
  ms: fc.integer({ min: 1, max: 60_000 }),
});

test("whatever happens: it opens for a bounded time, never early, and lets one in at a time", () => {
  withinBudget(
    fc.property(
      fc.array(step, { maxLength: 60 }),
      fc.double({ min: 0, max: 1, noNaN: true }),
      (steps, dice) => {
        const breaker = new CircuitBreaker(() => dice);
        let now = 1;
        let asked = 0;
        for (const { gap, what, ms } of steps) {
          now += gap;
          const before = breaker.state(now);
          const trial = at(now);
          breaker.begin(trial);
          if (before === "half-open") expect(breaker.state(now)).not.toBe("half-open");
          if (what === "fail") breaker.fail(trial, now);
          if (what === "succeed") breaker.succeed(trial, now);
          if (what === "release") breaker.release(trial);
          if (what === "limit") breaker.pause(trial, now, ms);
          asked = what === "limit" ? Math.max(asked, now + ms) : what === "succeed" ? 0 : asked;
          if (now < asked) expect(breaker.state(now)).not.toBe("half-open");
          expect(breaker.opensAt - now).toBeLessThanOrEqual(300_000);
          if (what === "succeed") expect(breaker.state(now)).toBe("closed");
        }
      },
    ),
  );
});

test("a dead deployment is reached by at most five calls in any half minute", () => {
  withinBudget(
    fc.property(
      fc.array(fc.integer({ min: 1, max: 700 }), { minLength: 200, maxLength: 400 }),
      fc.double({ min: 0, max: 1, noNaN: true }),
      (gaps, dice) => {
        const breaker = new CircuitBreaker(() => dice);
        const reached: number[] = [];
        let now = 0;
        for (const gap of gaps) {
          now += gap;
          if (!["closed", "half-open"].includes(breaker.state(now))) continue;
          failAt(breaker, now);
          reached.push(now);
        }
        for (const [index, moment] of reached.entries())
          expect((reached[index + 5] ?? Infinity) - moment).toBeGreaterThan(30_000);
      },
    ),
  );
});
