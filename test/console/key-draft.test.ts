/** S11: a key as the texts of its form, and the requests that its changes are. */
import { expect, test } from "bun:test";
import type { Budget, Key, Rate } from "../../src/operator/index.ts";
import {
  type Draft,
  draftOf,
  emptyDraft,
  faultsOf,
  merged,
  newKeyOf,
  stepsOf,
} from "../../src/console/pages/keys/key-draft.ts";

const NOW = Date.parse("2026-11-28T12:00:00Z");
const OPTIONS = [
  { name: "act", label: "Calls on behalf of people", type: "boolean" },
  { name: "tools", label: "Tools", type: "array" },
];

const key = {
  ...{ id: "key_1", name: "ci", kind: "call", path: "/eng", tags: ["bots", "night"], version: "k1" },
  scopes: { models: ["gpt-*"], maxCost: 500_000_000, endpoints: ["chat"], act: true },
  expiresAt: Date.parse("2026-12-31T23:30:00Z"),
} as unknown as Key;
const rate = { id: "rate_1", limits: { rpm: 60, tpd: 9_000 }, version: "r1" } as unknown as Rate;
const budget = {
  ...{ id: "budget_1", limit: 5_000_000_000, window: "day", mode: "hard", version: "b1" },
} as unknown as Budget;
const parts = { key, rate, budget };
const was = draftOf(parts, OPTIONS);
const changed = (change: Partial<Draft>) =>
  stepsOf(parts, { ...was, ...change } as Draft, OPTIONS, NOW).map(({ of, method, to, body, version }) => ({
    ...{ of, method, to },
    ...(body && { body }),
    ...(version !== undefined && { version }),
  }));

test("S11: the form of a key has its texts as people write them", () => {
  expect<unknown>(was).toEqual({
    ...{ name: "ci", path: "/eng", tags: "bots, night", models: "gpt-*", maxCost: "$0.50" },
    ...{ rpm: "60", tpm: "", concurrency: "", amount: "$5.00 a day, hard", ends: "2026-12-31T23:30Z" },
    ...{ "option act": "yes", "option tools": "" },
  });
  expect(changed({})).toEqual([]);
  expect(faultsOf(was, was, NOW + 1e12)).toEqual({});
});

test("S11: only what was changed is sent, each with its own version", () => {
  const of = "key" as const;
  const patch = { of, method: "PATCH" as const, to: "/keys/key_1", version: "k1" };
  expect(changed({ tags: "" })).toEqual([{ ...patch, body: { tags: [] } }]);
  expect(changed({ path: "/eng/ci " })).toEqual([{ ...patch, body: { path: "/eng/ci" } }]);
  expect(changed({ ends: "never" })).toEqual([{ ...patch, body: { expiresAt: null } }]);
  expect(changed({ ends: "1 d" })).toEqual([{ ...patch, body: { expiresAt: NOW + 86_400_000 } }]);
  expect(changed({ models: "gpt-*, claude-*", "option act": "no", "option tools": "web" })).toEqual([
    {
      ...patch,
      body: { scopes: { ...key.scopes, models: ["gpt-*", "claude-*"], act: false, tools: ["web"] } },
    },
  ]);
  const limits = { of: "rate" as const, method: "PATCH" as const, to: "/rates/rate_1", version: "r1" };
  expect(changed({ tpm: "90,000" })).toEqual([
    { ...limits, body: { limits: { tpd: 9_000, rpm: 60, tpm: 90_000 } } },
  ]);
  expect(changed({ amount: "$7 a week" })).toEqual([
    {
      ...{ of: "budget", method: "PATCH", to: "/budgets/budget_1", version: "b1" },
      body: { limit: 7_000_000_000, window: "week", mode: "hard" },
    },
  ]);
  expect(changed({ amount: "" })).toEqual([
    { of: "budget", method: "DELETE", to: "/budgets/budget_1", version: "b1" },
  ]);
});

test("S11: a scope whose field is emptied is gone; a limit in a unit without a field stays", () => {
  const [scopes] = changed({ maxCost: "" });
  expect(JSON.parse(JSON.stringify(scopes!.body))).toEqual({
    scopes: { models: ["gpt-*"], endpoints: ["chat"], act: true },
  });
  expect(changed({ rpm: "" })[0]!.body).toEqual({ limits: { tpd: 9_000 } });
});

test("S11: after a change of another operator what was typed stays, and the rest is theirs", () => {
  const draft = { ...was, models: "claude-*" };
  const theirs = { ...was, models: "o*", tags: "day", amount: "" };
  const { draft: next, changes } = merged(draft, was, theirs);
  expect(next).toEqual({ ...theirs, models: "claude-*" });
  expect(changes).toEqual(["Tags: day", "May use models: o*", "Budget: none"]);
});

test("S11: fields at fault say how they are written", () => {
  const wrong = { ...was, name: "a/b", maxCost: "much", amount: "x", ends: "yesterday", rpm: "1.5" };
  expect(Object.keys(faultsOf(wrong, was, NOW)).sort()).toEqual(["amount", "ends", "maxCost", "name", "rpm"]);
});

test("S11: a new key has tags, and one that makes no calls has no limits", () => {
  const draft = { ...emptyDraft("/"), name: "n", tags: "a b", tpm: "100", maxCost: "$1", amount: "$5 a day" };
  expect<unknown>(newKeyOf(draft, "call", OPTIONS, NOW)).toEqual({
    ...{ name: "n", kind: "call", path: "/", tags: ["a", "b"], scopes: { maxCost: 1_000_000_000 } },
    ...{ budget: { limit: 5_000_000_000, window: "day", mode: "hard" }, rates: { tpm: 100 } },
  });
  expect<unknown>(newKeyOf(draft, "read", OPTIONS, NOW)).toEqual({
    ...{ name: "n", kind: "read", path: "/", tags: ["a", "b"] },
  });
});
