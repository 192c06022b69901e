import { expect, test } from "bun:test";
import fc from "fast-check";
import { isWrapped, unwrap, wrap } from "../../src/core/provenance.ts";
import { withinBudget } from "../helpers/within-budget.ts";

test("what is wrapped comes out whole, with its maker", () => {
  withinBudget(
    fc.property(
      fc.stringMatching(/^[a-z][a-z0-9-]{0,20}$/),
      fc.string({ unit: "grapheme" }),
      (origin, payload) => {
        const sealed = wrap(origin, payload);
        expect(sealed).toMatch(/^weir1\.[a-z0-9-]+\.[A-Za-z0-9_-]*$/);
        expect(unwrap(sealed)).toEqual({ origin, payload });
      },
    ),
  );
});

test("a vendor's own value is not mistaken for a wrapped one", () => {
  for (const value of [
    "",
    "EqQBCgIYAhIkMWI3",
    "weir1.",
    "weir1.gemini",
    "weir2.gemini.YQ",
    "weir1.Gemini.YQ",
    "xweir1.gemini.YQ",
  ]) {
    expect(unwrap(value)).toBeUndefined();
    expect(isWrapped(value)).toBeFalse();
  }
  expect(isWrapped(wrap("gemini", ""))).toBeTrue();
});
