/** Long work shows on a terminal how long it runs and how much is done, and nothing elsewhere. */
import { expect, test } from "bun:test";
import { withProgress } from "../../src/cli/books/progress.ts";

function screen(isTTY: boolean) {
  const lines: string[] = [];
  return { isTTY, lines, write: (text: string) => void lines.push(text) };
}

test("a terminal sees the percentage, never that of finished work, and a clear line at the end", async () => {
  const terminal = screen(true);
  const shares = [0.42, 1, 1, 1];
  const share = () => Promise.resolve(shares.shift());
  expect(
    await withProgress(
      "copying",
      Bun.sleep(2_600).then(() => 7),
      share,
      terminal,
    ),
  ).toBe(7);
  const text = terminal.lines.join("");
  expect(text).toContain("copying (42 %, ");
  expect(text).toContain("copying (99 %, ");
  expect(text).not.toContain("100 %");
  expect(terminal.lines.at(-1)).toBe("\r\u001b[K");
});

test("without a figure, or when the question fails, the time alone is shown", async () => {
  const terminal = screen(true);
  await withProgress("copying", Bun.sleep(1_200), () => Promise.reject(new Error("away")), terminal);
  expect(terminal.lines.join("")).toMatch(/copying \(\d s\)/);
});

test("what is no terminal gets nothing, and no question is asked", async () => {
  const pipe = screen(false);
  let asked = 0;
  await withProgress("copying", Bun.sleep(900), () => Promise.resolve(asked++), pipe);
  expect([pipe.lines, asked]).toEqual([[], 0]);
});
