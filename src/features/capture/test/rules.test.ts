/** Which calls are captured. */
import { describe, expect, test } from "bun:test";
import { type CaptureRules, isCaptured } from "../rules.ts";
import { capturesAny } from "../section.ts";

const OFF: CaptureRules = { keys: [], header: false, share: 0 };

function captured(
  rules: Partial<CaptureRules>,
  call: { wish?: string; key?: string; path?: string },
  chance = 0.5,
) {
  const headers = new Headers(call.wish === undefined ? {} : { "x-weir-capture": call.wish });
  const principal = call.path === undefined ? undefined : ({ path: call.path } as never);
  return isCaptured({ headers, key: call.key, principal }, { ...OFF, ...rules }, chance);
}

test("nothing is captured unless the config asks for it", () => {
  expect(capturesAny(OFF)).toBe(false);
  expect(captured({}, { wish: "yes", key: "alice", path: "/" }, 0)).toBe(false);
  for (const rules of [{ keys: ["a"] }, { header: true }, { share: 0.1 }])
    expect(capturesAny({ ...OFF, ...rules })).toBe(true);
});

describe("a call is captured", () => {
  const rows: [
    what: string,
    is: boolean,
    rules: Partial<CaptureRules>,
    call: Parameters<typeof captured>[1],
  ][] = [
    ["of a key by its name", true, { keys: ["alice"] }, { key: "alice" }],
    ["of another key", false, { keys: ["alice"] }, { key: "bob" }],
    ["of a key on a path", true, { keys: ["/eng"] }, { key: "bob", path: "/eng/search" }],
    ["of a key on the path itself", true, { keys: ["/eng"] }, { key: "bob", path: "/eng" }],
    ["of a key beside the path", false, { keys: ["/eng"] }, { key: "bob", path: "/engine" }],
    ["whose client asks for it", true, { header: true }, { wish: "yes" }],
    ["whose client asks for it where the config has no header", false, { keys: ["alice"] }, { wish: "yes" }],
    ["in the share", true, { share: 0.6 }, {}],
    ["beyond the share", false, { share: 0.4 }, {}],
    [
      "whose client forbids it",
      false,
      { share: 1, keys: ["alice"], header: true },
      { wish: "No", key: "alice" },
    ],
  ];
  for (const [what, is, rules, call] of rows)
    test(`${what}: ${is ? "yes" : "no"}`, () => {
      expect(captured(rules, call)).toBe(is);
    });
});
