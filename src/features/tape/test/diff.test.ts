/** What the diff of two requests shows. */
import { expect, test } from "bun:test";
import { diffLines } from "../../../tapes/diff.ts";

const numbered = (count: number) => Array.from({ length: count }, (_, index) => `line ${index}`);

test("equal lines have no diff", () => {
  expect(diffLines(numbered(5), numbered(5))).toEqual([]);
  expect(diffLines([], [])).toEqual([]);
});

test("a changed line is shown with the lines around it, and the others are counted", () => {
  const before = numbered(10);
  const after = before.with(5, "changed");
  expect(diffLines(before, after)).toEqual([
    "  [3 equal lines]",
    "  line 3",
    "  line 4",
    "- line 5",
    "+ changed",
    "  line 6",
    "  line 7",
    "  [2 equal lines]",
  ]);
});

test("inserted and removed lines do not hide that the rest is equal", () => {
  const before = ["a", "b", "c", "d"];
  expect(diffLines(before, ["a", "x", "b", "d"])).toEqual(["  a", "+ x", "  b", "- c", "  d"]);
  expect(diffLines(before, [])).toEqual(["- a", "- b", "- c", "- d"]);
});

test("a long line is cut around its first difference", () => {
  const before = `${"a".repeat(1000)}old${"b".repeat(1000)}`;
  const [removed = "", added = ""] = diffLines([before], [before.replace("old", "new")]);
  expect(removed).toContain("old");
  expect(added).toContain("new");
  expect(removed.length).toBeLessThan(200);
});

test("lists whose comparison would take too long are shown as replaced", () => {
  const before = Array.from({ length: 3000 }, (_, index) => `before ${index}`);
  const after = Array.from({ length: 3000 }, (_, index) => `after ${index}`);
  const diff = diffLines(before, after);
  expect(diff.length).toBe(6000);
  expect([diff[0], diff[3000]]).toEqual(["- before 0", "+ after 0"]);
});
