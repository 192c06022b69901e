/** Differences of JSON values, as the console shows them. */
import { expect, test } from "bun:test";
import { type DiffLine, diffJson } from "../../../src/console/parts/diff-lines.ts";

const show = (lines: readonly DiffLine[]) => lines.map(({ sign, text }) => `${sign}${text}`);

test("equal values are one folded line", () => {
  expect(show(diffJson({ a: [1] }, { a: [1] }))).toEqual([" {…}"]);
  expect(show(diffJson([], []))).toEqual([" []"]);
});

test("a changed member stands as removed and added, and unchanged ones are folded", () => {
  const before = { model: "smart", max_completion_tokens: 400, messages: [{ role: "user" }] };
  const after = { model: "claude-sonnet-5", max_tokens: 400, messages: [{ role: "user" }] };
  expect(show(diffJson(before, after))).toEqual([
    " {",
    '-  "model": "smart",',
    '+  "model": "claude-sonnet-5",',
    '-  "max_completion_tokens": 400,',
    '+  "max_tokens": 400,',
    '   "messages": […]',
    " }",
  ]);
});

test("the order of members makes no difference", () => {
  expect(show(diffJson({ a: 1, b: 2 }, { b: 2, a: 1 }))).toEqual([" {…}"]);
});

test("items in the middle of a list are compared in pairs", () => {
  expect(show(diffJson([1, 2, 3, 4], [1, 2, 5, 6, 4]))).toEqual([
    " [",
    "   … 2 items unchanged,",
    "-  3,",
    "+  5,",
    "+  6,",
    "   … 1 item unchanged",
    " ]",
  ]);
});

test("a new value of another type is shown whole", () => {
  expect(show(diffJson({ content: "hi" }, { content: [{ type: "text", text: "hi" }] }))).toEqual([
    " {",
    '-  "content": "hi"',
    '+  "content": [',
    "+    {",
    '+      "type": "text",',
    '+      "text": "hi"',
    "+    }",
    "+  ]",
    " }",
  ]);
});

test("deep values do not exhaust the stack", () => {
  const nested = (depth: number, leaf: number): unknown => (depth === 0 ? leaf : [nested(depth - 1, leaf)]);
  expect(diffJson(nested(500, 1), nested(500, 2)).length).toBeGreaterThan(80);
});
