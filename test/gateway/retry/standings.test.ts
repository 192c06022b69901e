/** Routing by latency, usage and cost, with time and chance given. */
import { expect, test } from "bun:test";
import { Attempt, Call } from "../../../src/core/call.ts";
import { GatewayError } from "../../../src/core/error.ts";
import type { Target } from "../../../src/core/provider.ts";
import { Standings } from "../../../src/gateway/retry/standings.ts";
import { type Choice, rank } from "../../../src/gateway/routing/plan.ts";
import { tokenPrices } from "../../../src/ledger/prices/token-price.ts";

interface Place {
  by: Choice["by"];
  model?: string;
  priority?: number;
}

function place(name: string, { by, model = "m", priority = 0 }: Place): Choice {
  const timeouts = { connectMs: 1000, firstByteMs: 30_000, gapMs: 1000, totalMs: 60_000 };
  const deployment = { name, baseUrl: "", credentials: {}, weight: 1, priority, timeouts };
  const provider = { name, deployments: [deployment], source: "built-in", patterns: [] };
  const target: Target = { provider, deployment, model, lane: "native", format: "", url: "", reason: "" };
  return { target, weight: 1, priority: [0, priority], by };
}

/** Standings with a clock and a die of the test. */
function makeTable() {
  let passed = 0;
  let chance = 0.99;
  const now = () => performance.now() + passed;
  const table = new Standings({ now, random: () => chance });
  const callOf = (stream = true) => {
    const call = new Call("req_test", "messages", new Headers());
    call.stream = stream;
    return call;
  };
  table.of(callOf());
  const begin = ({ target }: Choice, stream = true) => {
    const attempt = new Attempt(callOf(stream), target);
    attempt.wasSent = true;
    table.begin(attempt);
    return attempt;
  };
  return {
    begin,
    table,
    pass: (ms: number) => void (passed += ms),
    roll: (value: number) => void (chance = value),
    /** One call whose first event came after so many milliseconds. */
    answer(choice: Choice, ms: number, { tokens = 0, stream = true } = {}) {
      const attempt = begin(choice, stream);
      attempt.firstByteAt = attempt.startedAt + ms;
      table.answered(attempt);
      attempt.usage = { ...attempt.usage, input: tokens };
      table.ended(attempt);
    },
    fail: (choice: Choice) => table.failed(begin(choice)),
    order: (choices: readonly Choice[], { stream = true, key = "k", prices = {} } = {}) =>
      rank(choices, () => key, table.of(callOf(stream), tokenPrices(prices))).map(
        ({ target }) => target.deployment.name,
      ),
  };
}

const keys = Array.from({ length: 40 }, (_, index) => `conversation ${index}`);

test("latency: what is not measured is tried first, one call at a time; then the fastest", () => {
  const { answer, begin, order } = makeTable();
  const [a, b] = [place("a", { by: "latency" }), place("b", { by: "latency" })];
  answer(a, 100);
  expect(order([a, b])).toEqual(["b", "a"]);
  begin(b);
  expect(order([a, b])).toEqual(["a", "b"]);
  answer(b, 20);
  expect(order([a, b])).toEqual(["b", "a"]);
  for (let call = 0; call < 20; call++) answer(b, 400);
  expect(order([a, b])).toEqual(["a", "b"]);
});

test("latency: small differences leave a conversation where it is", () => {
  const { answer, order } = makeTable();
  const places = [place("a", { by: "latency" }), place("b", { by: "latency" })];
  for (const one of places) answer(one, one === places[0] ? 101 : 103);
  const firsts = keys.map((key) => order(places, { key })[0]);
  expect(new Set(firsts)).toEqual(new Set(["a", "b"]));
  expect(keys.map((key) => order(places, { key })[0])).toEqual(firsts);
});

test("latency: a host that fails fast is as slow as its deadline, before and within its answers", () => {
  const { answer, fail, begin, order, table } = makeTable();
  const [fast, slow] = [place("fast", { by: "latency" }), place("slow", { by: "latency" })];
  answer(slow, 9000);
  fail(fast);
  expect(order([fast, slow])).toEqual(["slow", "fast"]);
  const breaks = place("breaks", { by: "latency" });
  for (let call = 0; call < 5; call++) {
    const attempt = begin(breaks);
    attempt.firstByteAt = attempt.startedAt + 1;
    table.answered(attempt);
    table.failed(attempt);
  }
  expect(order([breaks, slow])).toEqual(["slow", "breaks"]);
});

test("latency: a client that leaves while it waits tells that its host is slow", () => {
  const { answer, begin, order, pass, table } = makeTable();
  const [hangs, slow] = [place("hangs", { by: "latency" }), place("slow", { by: "latency" })];
  answer(slow, 5000);
  const attempt = begin(hangs);
  pass(20_000);
  attempt.call.abort(new GatewayError("cancelled", "x"));
  table.ended(attempt);
  expect(order([hangs, slow])).toEqual(["slow", "hangs"]);
});

test("latency: a host that has recovered is found by chance, and at once when its mean is old", () => {
  const { answer, fail, order, pass, roll } = makeTable();
  const [a, b] = [place("a", { by: "latency" }), place("b", { by: "latency" })];
  answer(a, 200);
  fail(b);
  expect(keys.map((key) => order([a, b], { key })[0])).not.toContain("b");
  roll(0);
  expect(keys.map((key) => order([a, b], { key })[0])).toContain("b");
  roll(0.99);
  answer(b, 50);
  expect(order([a, b])).toEqual(["a", "b"]);
  pass(61_000);
  answer(b, 50);
  expect(order([a, b])).toEqual(["b", "a"]);
});

test("latency: streams and whole answers are measured apart", () => {
  const { answer, order } = makeTable();
  const [a, b] = [place("a", { by: "latency" }), place("b", { by: "latency" })];
  answer(a, 50);
  answer(b, 500);
  answer(a, 9000, { stream: false });
  answer(b, 5000, { stream: false });
  expect([order([a, b]), order([a, b], { stream: false })]).toEqual([
    ["a", "b"],
    ["b", "a"],
  ]);
});

test("usage: fewest calls in flight, then fewest tokens of the last minute", () => {
  const { answer, begin, order, pass, table } = makeTable();
  const [a, b] = [place("a", { by: "usage" }), place("b", { by: "usage" })];
  answer(a, 5, { tokens: 1000 });
  expect(order([a, b])).toEqual(["b", "a"]);
  const running = begin(b);
  expect(order([a, b])).toEqual(["a", "b"]);
  table.leave(running);
  table.leave(running);
  pass(600_000);
  answer(b, 5, { tokens: 10 });
  expect(order([a, b])).toEqual(["a", "b"]);
});

test("cost: the lowest known price first, no price last, in this order within a priority", () => {
  const { order } = makeTable();
  const by = "cost";
  const choices = ["unknown-model-x", "dear", "cheap"].map((model) => place(model, { by, model }));
  const prices = { dear: { input: 5, output: 20 }, cheap: { input: 6, output: 7 } };
  for (const key of keys)
    expect(order(choices, { key, prices })).toEqual(["cheap", "dear", "unknown-model-x"]);
  const preferred = place("preferred", { by, model: "dear", priority: -1 });
  expect(order([...choices, preferred], { prices })[0]).toBe("preferred");
});

test("many names of models do not fill the memory, and running calls are not forgotten", () => {
  const { answer, begin, order } = makeTable();
  const busy = place("busy", { by: "usage" });
  begin(busy);
  for (let model = 0; model < 5000; model++)
    answer(place("a", { by: "usage", model: `m${model}` }), 5, { tokens: 9 });
  const other = place("b", { by: "usage" });
  answer(other, 5, { tokens: 5 });
  const first = place("a", { by: "usage", model: "m0" });
  const last = place("a", { by: "usage", model: "m4999" });
  expect(order([busy, last])).toEqual(["a", "busy"]);
  expect(order([last, other])).toEqual(["b", "a"]);
  expect(order([first, other])).toEqual(["a", "b"]);
});
