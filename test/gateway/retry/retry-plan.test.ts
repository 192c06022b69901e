/** The order of attempts, with health and time given: who is asked first, who next, and when it is enough. */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { FailureClass } from "../../../src/core/call.ts";
import type { ByCause } from "../../../src/core/failure-policy.ts";
import { GatewayError } from "../../../src/core/error.ts";
import type { Target } from "../../../src/core/provider.ts";
import { fullJitter, pause } from "../../../src/gateway/retry/backoff.ts";
import type { Failure } from "../../../src/gateway/retry/failure.ts";
import type { Outlook } from "../../../src/gateway/retry/health.ts";
import { RetryBudget, type RetrySlot } from "../../../src/gateway/retry/limits.ts";
import { type Choice, rank } from "../../../src/gateway/routing/plan.ts";
import { RetryPlan } from "../../../src/gateway/retry/retry-plan.ts";
import { withinBudget } from "../../helpers/within-budget.ts";

function place(name: string, more: { weight?: number; priority?: number; model?: string } = {}): Choice {
  const { weight = 1, priority = 0, model = "m" } = more;
  const deployment = { name, baseUrl: "", credentials: {}, weight, priority };
  const provider = { name, deployments: [deployment], source: "built-in", patterns: [] };
  const target: Target = { provider, deployment, model, lane: "native", format: "", url: "", reason: "" };
  return { target, weight, priority: [0, priority] };
}

function failed(kind: FailureClass, more: Partial<Failure> = {}): Failure {
  const error = new GatewayError("upstream", "x");
  return {
    class: kind,
    what: "500",
    error,
    repeatable: true,
    stale: false,
    tooLong: false,
    verdict: "failing",
    ...more,
  };
}

interface Setting {
  choices: Choice[];
  fallbacks?: Choice[][];
  larger?: Choice[][];
  state?: Record<string, Outlook["state"]>;
  opensAt?: Record<string, number>;
  attempts?: number;
  maybeSent?: boolean;
  policy?: ByCause;
  key?: string;
  clientRetries?: boolean;
}

function walk({
  choices,
  fallbacks = [],
  larger = [],
  state = {},
  opensAt = {},
  attempts = 3,
  maybeSent = true,
  policy,
  key = "k",
  clientRetries = false,
}: Setting): RetryPlan {
  return new RetryPlan({
    plan: { choices, fallbacks, larger },
    affinity: () => key,
    outlook: ({ deployment: { name } }) => ({
      state: state[name] ?? "closed",
      opensAt: opensAt[name] ?? 0,
    }),
    retries: { attempts, maybeSent, policy },
    clientRetries,
    random: () => 0.5,
  });
}

/** The names of the places that are asked when every attempt fails like this. */
function order(setting: Setting, failure: Failure = failed("status"), left = 60_000): string[] {
  const walking = walk(setting);
  const asked = [walking.first(0)];
  for (let next = walking.next(failure, 0, left); next; next = walking.next(failure, 0, left))
    asked.push(next);
  return asked.map(
    ({ target, wait }) => target.deployment.name + (wait > 0 ? ` after ${Math.round(wait)}` : ""),
  );
}

const [a, b, c, d] = ["a", "b", "c", "d"].map((name, priority) => place(name, { priority })) as [
  Choice,
  Choice,
  Choice,
  Choice,
];

const ORDERS: readonly [why: string, setting: Setting, failure: Failure, order: string[]][] = [
  ["one place: once more after a pause", { choices: [a] }, failed("status"), ["a", "a after 125"]],
  ["a client that repeats by itself does so", { choices: [a], clientRetries: true }, failed("status"), ["a"]],
  [
    "but what was not sent costs nothing",
    { choices: [a], clientRetries: true },
    failed("not-sent"),
    ["a", "a after 125"],
  ],
  [
    "and it cannot go elsewhere",
    { choices: [a], fallbacks: [[b]], clientRetries: true },
    failed("status"),
    ["a", "a after 125", "b"],
  ],
  [
    "a policy: as often as it says, and for a client that repeats by itself, too",
    { choices: [a], attempts: 9, policy: { serverError: 3 }, clientRetries: true },
    failed("status", { cause: "serverError" }),
    ["a", "a after 125", "a after 250", "a after 500"],
  ],
  [
    "a policy of another cause changes nothing",
    { choices: [a, b], policy: { timeout: 0 } },
    failed("status", { cause: "serverError" }),
    ["a", "b", "b after 250"],
  ],
  [
    "a policy of none: the fallback at once",
    { choices: [a, b], fallbacks: [[c]], policy: { serverError: 0 } },
    failed("status", { cause: "serverError" }),
    ["a", "c"],
  ],
  [
    "a policy counts all places of the model, and the last attempt stays the fallback's",
    { choices: [a, b], fallbacks: [[c]], attempts: 4, policy: { serverError: 3 } },
    failed("status", { cause: "serverError" }),
    ["a", "b", "b after 250", "c"],
  ],
  [
    "a policy waits for an open circuit breaker",
    { choices: [a], policy: { rateLimited: 1 }, state: { a: "paused" }, opensAt: { a: 5000 } },
    failed("status", { cause: "rateLimited" }),
    ["a", "a after 5125"],
  ],
  [
    "but not for minutes",
    { choices: [a], policy: { rateLimited: 1 }, state: { a: "failing" }, opensAt: { a: 60_000 } },
    failed("status", { cause: "rateLimited" }),
    ["a"],
  ],
  [
    "what may cost twice is sent twice and not three times, whatever the policy says",
    { choices: [a], attempts: 9, policy: { timeout: 5 } },
    failed("no-bytes", { cause: "timeout" }),
    ["a", "a after 125"],
  ],
  ["other places first", { choices: [a, b, c, d] }, failed("status"), ["a", "b", "c"]],
  ["two places: the last once more", { choices: [a, b] }, failed("status"), ["a", "b", "b after 250"]],
  [
    "a fallback behind one place",
    { choices: [a], fallbacks: [[b]] },
    failed("status"),
    ["a", "a after 125", "b"],
  ],
  [
    "the last attempt is the fallback's",
    { choices: [a, b, c], fallbacks: [[d]] },
    failed("status"),
    ["a", "b", "d"],
  ],
  ["attempts: 1", { choices: [a, b], attempts: 1 }, failed("status"), ["a"]],
  ["what may cost twice goes elsewhere, once", { choices: [a, b, c] }, failed("no-bytes"), ["a", "b"]],
  [
    "unless the config says that nothing may cost twice",
    { choices: [a, b, c], maybeSent: false },
    failed("no-bytes"),
    ["a"],
  ],
  ["and never to the same place", { choices: [a] }, failed("no-bytes"), ["a"]],
  ["what was not sent may go anywhere", { choices: [a, b, c] }, failed("not-sent"), ["a", "b", "c"]],
  [
    "a kept connection that was closed without an answer: at once, and once",
    { choices: [a] },
    failed("no-bytes", { stale: true }),
    ["a", "a"],
  ],
  ["the request's own fault", { choices: [a, b], fallbacks: [[c]] }, failed("never"), ["a"]],
  [
    "a prompt that does not fit goes to the larger model, and nowhere else",
    { choices: [a, b], fallbacks: [[c]], larger: [[d]] },
    failed("never", { tooLong: true }),
    ["a", "d"],
  ],
  [
    "and to none without one",
    { choices: [a, b], fallbacks: [[c]] },
    failed("never", { tooLong: true }),
    ["a"],
  ],
  ["part of the answer is out", { choices: [a, b], fallbacks: [[c]] }, failed("started"), ["a"]],
  ["a refused credential: not there again", { choices: [a] }, failed("status", { repeatable: false }), ["a"]],
  ["retry-after wins", { choices: [a] }, failed("status", { retryAfterMs: 1000 }), ["a", "a after 1026"]],
  ["over 30 s the client waits itself", { choices: [a] }, failed("status", { retryAfterMs: 31_000 }), ["a"]],
  [
    "nobody waits long beside a fallback",
    { choices: [a], fallbacks: [[b]] },
    failed("status", { retryAfterMs: 5000 }),
    ["a", "b", "b after 5126"],
  ],
  [
    "open ones are passed over",
    { choices: [a, b], state: { a: "failing" } },
    failed("status"),
    ["b", "b after 125"],
  ],
  [
    "all open: the one that opens first, once",
    { choices: [a, b], state: { a: "failing", b: "paused" }, opensAt: { a: 9000, b: 5000 } },
    failed("status"),
    ["b"],
  ],
  [
    "a fallback before one that is open",
    { choices: [a], fallbacks: [[b]], state: { a: "failing" } },
    failed("status"),
    ["b", "b after 125"],
  ],
  [
    "no more than half are left out, though not first",
    { choices: [a, b, c], state: { a: "failing", b: "failing" }, opensAt: { a: 9, b: 5 } },
    failed("status"),
    ["c", "b"],
  ],
  [
    "where there is no room nobody is sent",
    { choices: [a, b, c], state: { a: "full", c: "full" }, opensAt: { a: Infinity, c: Infinity } },
    failed("status"),
    ["b", "b after 125"],
  ],
  [
    "one that fails before one that is full",
    { choices: [a, b], state: { a: "full", b: "failing" }, opensAt: { a: Infinity, b: 5 } },
    failed("status"),
    ["b"],
  ],
  [
    "a rate limit is no failure that could be overruled",
    { choices: [a, b, c], state: { a: "paused", b: "paused" } },
    failed("status", { repeatable: false }),
    ["c"],
  ],
];

describe("the order of attempts", () => {
  for (const [why, setting, failure, wanted] of ORDERS)
    test(why, () => {
      expect(order(setting, failure)).toEqual(wanted);
    });

  test("nothing begins that could not end in time", () => {
    expect(order({ choices: [a] }, failed("status", { retryAfterMs: 5_000 }), 4_000)).toEqual(["a"]);
    expect(order({ choices: [a, b] }, failed("status"), 0)).toEqual(["a"]);
  });

  test("what was passed over is named", () => {
    const walking = walk({ choices: [a, b], state: { a: "failing" } });
    walking.first(0);
    expect(walking.skipped).toEqual(["a"]);
  });

  test("whatever fails: no more than three attempts, and no place that may have answered is asked again", () => {
    const kinds = fc.constantFrom<FailureClass>("not-sent", "no-bytes", "status", "never", "started");
    const states = fc.constantFrom<Outlook["state"]>("closed", "half-open", "failing", "paused", "full");
    withinBudget(
      fc.property(
        fc.array(kinds, { minLength: 8, maxLength: 8 }),
        fc.array(states, { minLength: 4, maxLength: 4 }),
        fc.integer({ min: 1, max: 4 }),
        fc.boolean(),
        (failures, [sa, sb, sc, sd], count, withFallback) => {
          const walking = walk({
            choices: [a, b, c].slice(0, count),
            fallbacks: withFallback ? [[d]] : [],
            state: { a: sa!, b: sb!, c: sc!, d: sd! },
          });
          const doubled = new Set<string>();
          let step: ReturnType<RetryPlan["next"]> = walking.first(0);
          let asked = 0;
          for (const kind of failures) {
            if (!step) break;
            asked++;
            const { name } = step.target.deployment;
            expect(doubled.has(name)).toBe(false);
            if (kind === "no-bytes") doubled.add(name);
            step = walking.next(failed(kind), 0, 60_000);
            if (kind === "never" || kind === "started") expect(step).toBeUndefined();
          }
          expect(asked).toBeLessThanOrEqual(3);
          expect(doubled.size).toBeLessThanOrEqual(2);
        },
      ),
    );
  });
});

describe("shares", () => {
  const names = (choices: readonly Choice[], key: string) =>
    rank(choices, () => key).map(({ target }) => target.deployment.name);

  test("by weight, within a priority", () => {
    const choices = [place("x", { weight: 3 }), place("y"), place("z", { priority: 1, weight: 100 })];
    const first = { x: 0, y: 0, z: 0 };
    for (let call = 0; call < 8_000; call++) first[names(choices, `session ${call}`)[0] as "x" | "y" | "z"]++;
    expect(first.z).toBe(0);
    expect(first.x / 8_000).toBeCloseTo(0.75, 1);
  });

  test("a conversation stays, and one place less moves only its own conversations", () => {
    const choices = ["x", "y", "z"].map((name) => place(name));
    for (let call = 0; call < 500; call++) {
      const [first, second] = names(choices, `session ${call}`);
      expect(names([...choices].reverse(), `session ${call}`)[0]).toBe(first!);
      const without = choices.filter(({ target }) => target.deployment.name !== "x");
      expect(names(without, `session ${call}`)[0]).toBe(first === "x" ? second! : first!);
    }
  });

  test("a single place needs no key", () => {
    expect(
      rank([a], () => {
        throw new Error("asked");
      }),
    ).toEqual([a]);
  });
});

describe("pauses", () => {
  test("full jitter: 250 ms doubled, up to 8 s, anything below", () => {
    const longest = [1, 2, 3, 4, 5, 6, 7].map((retry) => fullJitter(retry, () => 1));
    expect(longest).toEqual([250, 500, 1000, 2000, 4000, 8000, 8000]);
    expect(fullJitter(3, () => 0)).toBe(0);
  });

  test("who leaves does not wait", async () => {
    const controller = new AbortController();
    setTimeout(() => controller.abort(), 5);
    const before = performance.now();
    await pause(60_000, controller.signal);
    expect(performance.now() - before).toBeLessThan(5_000);
  });
});

describe("the budget", () => {
  /** How many slots there are now. */
  function slots(budget: RetryBudget, waitMs: number): number {
    const taken: RetrySlot[] = [];
    for (let slot = budget.take(waitMs); slot; slot = budget.take(waitMs)) taken.push(slot);
    for (const slot of taken) budget.release(slot);
    return taken.length;
  }

  test("a fifth of what runs, and never less than three", () => {
    const budget = new RetryBudget();
    expect(slots(budget, 0)).toBe(3);
    for (let call = 0; call < 100; call++) budget.enter();
    expect(slots(budget, 0)).toBe(20);
    for (let call = 0; call < 90; call++) budget.leave();
    expect(slots(budget, 0)).toBe(3);
  });

  test("those that wait long take no slot from those that go elsewhere at once", () => {
    const budget = new RetryBudget();
    while (budget.take(20_000));
    expect([slots(budget, 20_000), slots(budget, 100)]).toEqual([0, 3]);
  });
});
