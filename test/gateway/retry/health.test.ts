/** What is known of the deployments: bounded, forgotten when it is over, and told to the operator. */
import { expect, test } from "bun:test";
import { isBackground } from "../../../src/core/background.ts";
import { Attempt, Call } from "../../../src/core/call.ts";
import type { ErrorKind } from "../../../src/core/error.ts";
import { GatewayError } from "../../../src/core/error.ts";
import type { Target } from "../../../src/core/provider.ts";
import { readFailure } from "../../../src/gateway/retry/failure.ts";
import { Health } from "../../../src/gateway/retry/health.ts";

function targetOf(model: string): Target {
  const deployment = { name: "a/eu", baseUrl: "", credentials: {}, weight: 1, priority: 0 };
  const provider = { name: "a", deployments: [deployment], source: "built-in", patterns: [] };
  return { provider, deployment, model, lane: "native", format: "", url: "", reason: "" };
}

function beginAt(call: Call, target: Target): Attempt {
  const attempt = new Attempt(call, target);
  call.attempts.push(attempt);
  return attempt;
}

/** One call with one attempt, which fails like this before its first byte, or ends like that. */
function run(health: Health, model: string, how: ErrorKind | "complete" | "broken" | "cancelled"): void {
  const call = new Call("req_test", "messages", new Headers());
  const attempt = beginAt(call, targetOf(model));
  health.begin(call, attempt);
  if (how === "complete" || how === "broken" || how === "cancelled") {
    health.answered(attempt);
    if (how === "cancelled") call.abort(new GatewayError("cancelled", "x"));
    call.outcome = how === "complete" ? "complete" : how === "broken" ? "failed" : "cancelled";
  } else {
    attempt.upstreamStatus = 500;
    const failure = readFailure(new GatewayError(how, "x"), attempt);
    attempt.failure = { class: failure.class, what: failure.what, ms: 1 };
    health.failed(attempt, failure);
    call.outcome = "failed";
  }
  health.settled(call);
}

const stateOf = (health: Health, model: string) => health.outlook(targetOf(model)).state;

test("three failures open it, for this model at this place only, and it is told", () => {
  const told: string[] = [];
  const health = new Health({ onChange: (sentence) => void told.push(sentence), random: () => 0 });
  for (let call = 0; call < 3; call++) run(health, "m", "overloaded");
  expect([stateOf(health, "m"), stateOf(health, "other")]).toEqual(["failing", "closed"]);
  expect(told).toEqual(["a/eu m fails (500); weir skips it for 5 s if another deployment can answer"]);
  run(health, "m", "complete");
  expect(stateOf(health, "m")).toBe("closed");
  expect(told[1]).toBe("a/eu m answers again");
});

test("answers that break in their middle count, clients that leave do not", () => {
  const health = new Health();
  for (let call = 0; call < 9; call++) run(health, "m", "cancelled");
  expect(stateOf(health, "m")).toBe("closed");
  for (let call = 0; call < 3; call++) run(health, "m", "broken");
  expect(stateOf(health, "m")).toBe("failing");
});

test("a request that is wrong says nothing bad of the deployment", () => {
  const health = new Health();
  for (let call = 0; call < 9; call++) run(health, "m", "invalid-request");
  expect(stateOf(health, "m")).toBe("closed");
});

test("a refused credential is told once, until it was tried again", () => {
  const alerts: string[] = [];
  const health = new Health({ onAlert: (sentence) => void alerts.push(sentence) });
  for (let call = 0; call < 5; call++) run(health, "m", "upstream-auth");
  expect(alerts).toEqual([
    "a/eu refuses weir's credential or has no funds (500); weir skips it for 300 s if another deployment can answer",
  ]);
});

test("names that clients make up do not fill the memory", () => {
  const health = new Health();
  for (let name = 0; name < 5_000; name++)
    for (let call = 0; call < 3; call++) run(health, `m${name}`, "upstream");
  expect(stateOf(health, "m4999")).toBe("failing");
  expect(stateOf(health, "m0")).toBe("closed");
});

test("a place with a limit is full, for all models, until a call of any outcome has left", () => {
  const health = new Health();
  const target = targetOf("m");
  const limited = { ...target, deployment: { ...target.deployment, concurrency: 2 } };
  const enter = () => {
    const call = new Call("req_test", "messages", new Headers());
    health.begin(call, beginAt(call, limited));
    return call;
  };
  const other = { ...limited, model: "other" };
  const unsent = new Attempt(new Call("r", "messages", new Headers()), limited);
  const failure = readFailure(new GatewayError("overloaded", "x"), unsent);
  const endings: ((call: Call) => void)[] = [
    (call) => void (call.outcome = "complete"),
    (call) => void (call.outcome = "cancelled"),
    (call) => void (call.outcome = "failed"),
    (call) => {
      const attempt = call.attempts[0]!;
      attempt.failure = { class: failure.class, what: failure.what, ms: 1 };
      health.failed(attempt, failure);
    },
  ];
  const first = enter();
  for (const end of endings) {
    expect(health.isFull(other)).toBe(false);
    const second = enter();
    expect([health.isFull(other), health.outlook(other).state]).toEqual([true, "full"]);
    end(second);
    health.settled(second);
  }
  first.outcome = "complete";
  health.settled(first);
  expect([health.isFull(limited), health.budget.running]).toEqual([false, 0]);
});

test("calls in the background leave a quarter of a limit to others", () => {
  const full = (concurrency: number) => {
    const health = new Health();
    const target = targetOf("m");
    const limited = { ...target, deployment: { ...target.deployment, concurrency } };
    const background = new Call("req_line", "messages", new Headers());
    isBackground.set(background, true);
    let began = 0;
    for (; !health.isFull(limited, background); began++) {
      const call = new Call("req_test", "messages", new Headers());
      health.begin(call, beginAt(call, limited));
    }
    const { state } = health.outlook(limited, performance.now(), background);
    return [began, state, health.isFull(limited), health.outlook(limited).state];
  };
  expect(full(8)).toEqual([6, "full", false, "closed"]);
  expect(full(2)).toEqual([1, "full", false, "closed"]);
  expect(full(1)).toEqual([1, "full", true, "full"]);
});

test("every call that begins leaves the budget", () => {
  const health = new Health();
  for (const how of ["complete", "broken", "cancelled", "upstream", "invalid-request", "quota"] as const)
    run(health, "m", how);
  expect(health.budget.running).toBe(0);
});

test("reports name the deployments that are skipped, and why; a refused credential is before a failure", () => {
  const health = new Health({ random: () => 0 });
  for (let call = 0; call < 3; call++) run(health, "m", "overloaded");
  expect(health.breakers()).toEqual([
    { deployment: "a/eu", state: "open", why: "failing", what: expect.any(String) },
  ]);
  run(health, "limited", "rate-limited");
  run(health, "other", "upstream-auth");
  expect(health.breakers()).toEqual([
    { deployment: "a/eu", state: "open", why: "refused", what: expect.any(String) },
  ]);
  for (const model of ["m", "limited", "other"]) run(health, model, "complete");
  expect(health.breakers()).toEqual([]);
});
