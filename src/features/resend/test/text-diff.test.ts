import { expect, test } from "bun:test";
import { diffText } from "../console/text-diff.ts";

const signs = (before: string, after: string) => diffText(before, after).map(({ sign, text }) => sign + text);

test("change 9: answers are compared by lines and sentences", () => {
  expect(signs("", "")).toEqual([]);
  expect(signs("A. B. C.", "A. X. C.")).toEqual([" A.", "-B.", "+X.", " C."]);
  expect(signs("A.\nB.", "B.\nC.")).toEqual(["-A.", " B.", "+C."]);
  expect(signs("one", "")).toEqual(["-one"]);
  expect(signs("A. B. C. D.", "D. C. B. A.").filter((line) => line.startsWith(" ")).length).toBe(1);
});

test("change 9: long answers are compared within bounds, and nothing of either is lost", () => {
  const [before, after] = ["a", "b"].map((word) =>
    Array.from({ length: 20_000 }, (_, at) => `${word} ${at}`).join("\n"),
  ) as [string, string];
  const began = performance.now();
  const lines = diffText(before, after);
  expect(performance.now() - began).toBeLessThan(1_000);
  expect(
    lines
      .filter(({ sign }) => sign !== "+")
      .map(({ text }) => text)
      .join("\n"),
  ).toBe(before);
  expect(
    lines
      .filter(({ sign }) => sign !== "-")
      .map(({ text }) => text)
      .join("\n"),
  ).toBe(after);
});
