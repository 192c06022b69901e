/** Deployments in words, and the commands of the first run. */
import { describe, expect, test } from "bun:test";
import { lacks, readiness, stepsOf } from "../../src/console/pages/first-steps.ts";
import {
  axisTop,
  byTrouble,
  deploymentName,
  errorGroups,
  sayState,
} from "../../src/console/pages/providers/words.ts";
import { clock, minute } from "../../src/console/numbers/times.ts";

const NOW = Date.UTC(2026, 10, 20, 12, 41);
type Told = Parameters<typeof sayState>[0];
type Entry = Parameters<typeof byTrouble>[0];

const told = (more: Partial<Told>): Told => ({
  state: "healthy",
  breakers: [],
  calls: 10,
  ...more,
});

describe("the state of a deployment", () => {
  test("M13: that is skipped has its reason, its models, its workers, and its end", () => {
    const breaker = {
      model: "claude-sonnet-5",
      state: "failing",
      since: NOW - 60_000,
      until: NOW + 38_000,
      reason: "status 529",
      workers: 2,
    } as const;
    expect(sayState(told({ state: "left-alone", breakers: [breaker] }), NOW)).toBe(
      `Skipped until ${clock(NOW + 38_000)} (529: the provider is overloaded) for claude-sonnet-5, in 2 workers. Then one call tries it.`,
    );
  });

  test("M13: of a refused credential says so, with the minute of its end", () => {
    const until = NOW + 5 * 60_000;
    const breaker = { model: "m", state: "paused", until, reason: "401", workers: 1 } as const;
    expect(sayState(told({ state: "left-alone", breakers: [breaker] }), NOW)).toBe(
      `Skipped until ${minute(until, NOW)} (401: the provider refused the credential) for m. Then one call tries it.`,
    );
  });

  test("that is on trial says what happens next", () => {
    const breaker = { model: "m", state: "half-open", workers: 1 } as const;
    expect(sayState(told({ state: "on-trial", breakers: [breaker] }), NOW)).toBe(
      "One call tries it for m. If it is answered, all may come.",
    );
  });

  test("without a key names the variable", () => {
    expect(sayState(told({ state: "no-key", keyVariable: "GROQ_API_KEY" }), NOW)).toBe(
      "No key: GROQ_API_KEY is not set.",
    );
  });

  test("that is healthy does not claim health without calls", () => {
    expect(sayState(told({}), NOW)).toBeUndefined();
    expect(sayState(told({ calls: 0 }), NOW)).toBe("No call in this time.");
  });
});

test("trouble stands first, then the busiest", () => {
  const entry = (name: string, state: Entry["state"], calls = 0) => ({ name, state, calls }) as Entry;
  const all = [
    entry("a", "healthy", 1),
    entry("b", "no-key"),
    entry("c", "left-alone"),
    entry("d", "healthy", 9),
  ];
  expect(all.sort(byTrouble).map(({ name }) => name)).toEqual(["c", "d", "a", "b"]);
});

test("S3: failures are in exactly one group, by what the provider answered", () => {
  const errors = [
    { class: "status 429", group: "429", status: 429, calls: 14 },
    { class: "status 529", group: "5xx", status: 529, calls: 6 },
    { class: "no-bytes", group: "broken", calls: 1 },
    { class: "status 400", group: "request", status: 400, calls: 2 },
  ] as const;
  const groups = errorGroups({ name: "openai/eu", errors: [...errors] });
  expect(groups.map(({ calls }) => calls)).toEqual([14, 6, 1, 0, 2]);
  expect(groups[1]!.filter).toEqual({ tried: "5xx@openai/eu" });
});

test("S3: the axis of all providers ends at a round time", () => {
  expect([1, 7, 130, 480, 2_100].map(axisTop)).toEqual([1, 10, 200, 500, 5_000]);
});

test("a deployment is named without its provider", () => {
  expect(deploymentName({ name: "anthropic/eu" }, "anthropic")).toBe("eu");
  expect(deploymentName({ name: "openai" }, "openai")).toBe("default");
});

describe("the first steps", () => {
  test("work as they stand while calls need no key", () => {
    for (const { command } of stepsOf("http://127.0.0.1:9347", true)) {
      expect(command).toContain("http://127.0.0.1:9347");
      expect(command).not.toContain("WEIR_API_KEY");
    }
  });

  test("send the key once calls need one", () => {
    for (const { command } of stepsOf("http://10.0.0.5:9347", false))
      expect(command).toContain("$WEIR_API_KEY");
  });

  test("a provider says which variable gives it its key, or would", () => {
    const deployments = [{ keyVariable: "OPENAI_API_KEY" }];
    expect(readiness({ on: true, deployments })).toBe("key from OPENAI_API_KEY");
    const off = { on: false, deployments: [{ why: "set AWS_REGION to the AWS region; set AWS_PROFILE" }] };
    expect(readiness(off)).toBe("set AWS_REGION to the AWS region; set AWS_PROFILE, and start weir again");
    expect(lacks(off)).toBe("AWS_REGION, AWS_PROFILE");
    const either = { on: false, deployments: [{ why: "set A_URL or B_URL to the address; set A_KEY" }] };
    expect(lacks(either)).toBe("A_URL or B_URL, A_KEY");
    expect(readiness({ on: true, deployments: [{}] })).toBe("needs no key");
  });
});
