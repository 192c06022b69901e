/** Asks the person at the terminal before a command does what cannot be undone. */
import type { Context } from "./command.ts";

/** @returns true with `--yes`, and without a terminal, where nobody could answer */
export async function confirmed(question: string, flags: Context["flags"]): Promise<boolean> {
  if (flags["--yes"] || !process.stdin.isTTY || !process.stderr.isTTY) return true;
  const { createInterface } = await import("node:readline/promises");
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  const answer = await lines.question(`${question} [y/N] `);
  lines.close();
  return /^y(es)?$/i.test(answer.trim());
}
