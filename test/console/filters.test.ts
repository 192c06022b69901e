/** What people type into the filter box of the console. */
import { expect, test } from "bun:test";
import { type Filters, readFilters } from "../../src/console/data/filters.ts";

test.each<[string, Filters]>([
  ["", {}],
  ["   ", {}],
  // The words that the box shows while it is empty.
  [
    "key:ci-bot  model:gpt-5.4  outcome:failed  req_abc",
    { key: "ci-bot", model: "gpt-5.4", outcome: "failed", q: "req_abc" },
  ],
  ["key:my key", { key: "my key" }],
  ["key:my key model:gpt-5.4", { key: "my key", model: "gpt-5.4" }],
  ["key:my key req_abc", { key: "my key", q: "req_abc" }],
  ["model:gpt-5.4 timeout", { model: "gpt-5.4", q: "timeout" }],
  ["timeout model:gpt-5.4", { model: "gpt-5.4", q: "timeout" }],
  ["two words", { q: "two words" }],
  ["status: 500", { status: "500" }],
  ["model:", { q: "model:" }],
  ["nobody:knows", { q: "nobody:knows" }],
  ["session:a:b", { session: "a:b" }],
])("%p is read as %p", (text, filters) => {
  expect(readFilters(text)).toEqual(filters);
});
