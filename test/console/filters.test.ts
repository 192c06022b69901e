/** What people type into the filter box of the console. */
import { expect, test } from "bun:test";
import { type Filters, readFilters, typedPart } from "../../src/console/data/filters.ts";

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
  ['model:claude* -model:"gpt 5" late', { model: "claude*", "-model": "gpt 5", q: "late" }],
  ['key:"my key" other', { key: "my key", q: "other" }],
  ['"two words"', { q: "two words" }],
  ["status:5xx|429 cost:>0.1 took:>5s", { status: "5xx|429", cost: ">0.1", took: ">5s" }],
  ["-status:429 id:req_ab tokens:>50k", { "-status": "429", id: "req_ab", tokens: ">50k" }],
])("%p is read as %p", (text, filters) => {
  expect(readFilters(text)).toEqual(filters);
});

test.each([
  ["mo", "", "mo"],
  ["key:ci-bot mo", "", "key:ci-bot mo"],
  ["model:a -key:my b", "model:a ", "-key:my b"],
  ["model:a ke", "model:a ", "ke"],
  ['key:"my key" mo', 'key:"my key" ', "mo"],
])("of %p the part that is typed is behind %p", (text, before, part) => {
  expect(typedPart(text)).toEqual([before, part]);
});
