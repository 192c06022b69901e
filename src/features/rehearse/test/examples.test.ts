/** Examples of changed calls: one of each group, bounded in size. */
import { expect, test } from "bun:test";
import type { Outline } from "../outline/outline.ts";
import { Rehearsal } from "../run/rehearsal.ts";
import { reportJson } from "../run/report.ts";

const outlineOf = (call: string) =>
  ({
    ...{ v: 1, at: 0, call, operation: "generate", format: "chat-completions", model: "m" },
    ...{ stream: false, headers: {}, bytes: 1, body: {} },
  }) as Outline;

const bodyOf = (member: string, text: string) => ({ body: JSON.stringify({ [member]: text }) });

function examplesOf(texts: readonly (readonly [member: string, text: string])[]) {
  const rehearsal = new Rehearsal();
  for (const [at, [member, text]] of texts.entries())
    rehearsal.add(outlineOf(`req_${at + 1}`), bodyOf(member, "old"), bodyOf(member, text));
  return reportJson(rehearsal.result)["examples"] as Record<
    string,
    { call: string; differences: { before: string; after: string }[] }
  >;
}

test("each group has its first changed call", () => {
  const examples = examplesOf([
    ["a", "new"],
    ["a", "new"],
    ["b", "new"],
  ]);
  expect(Object.entries(examples).map(([number, { call }]) => [number, call])).toEqual([
    ["1", "req_1"],
    ["3", "req_3"],
  ]);
  expect(examples["1"]!.differences).toEqual([
    expect.objectContaining({ cause: "body", what: "a", before: "old", after: "new" }),
  ]);
});

test("a long value is cut, and says how long it is", () => {
  const [difference] = examplesOf([["a", "x".repeat(10_000)]])["1"]!.differences;
  expect(difference!.after).toBe(`${"x".repeat(4_000)}… (10000 characters)`);
  expect(difference!.before).toBe("old");
});

test("all examples together stay within two million characters, and the first ones are there", () => {
  const texts = Array.from({ length: 1_000 }, (_, at) => [`member${at}`, "x".repeat(10_000)] as const);
  const examples = examplesOf(texts);
  expect(JSON.stringify(examples).length).toBeLessThan(2_100_000);
  expect(Object.keys(examples).length).toBeGreaterThan(300);
  expect(examples["1"]!.call).toBe("req_1");
});
