/** A runner is killed at 50 moments: each line has one end, the results are those ends, and the costs are theirs. */
import { expect, onTestFinished, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { recover } from "../journal/recover.ts";
import { resultsIn } from "../journal/results.ts";
import { costOf, LINES } from "./kill-runner.ts";

const KILLS = 50;

/** Runs until it is whole or killed. @param delay milliseconds between its beginning and its end @returns whether it was whole */
async function runUntil(folder: string, fence: number, delay: number): Promise<boolean> {
  const runner = join(import.meta.dir, "kill-runner.ts");
  const child = Bun.spawn([process.execPath, runner, folder, String(fence)], { stderr: "inherit" });
  let text = "";
  let timer: Timer | undefined;
  for await (const chunk of child.stdout) {
    text += Buffer.from(chunk).toString();
    timer ??= setTimeout(() => child.kill("SIGKILL"), delay);
  }
  clearTimeout(timer);
  await child.exited;
  expect(text).toStartWith("took\n");
  return text.endsWith("whole\n");
}

interface Result {
  line: number;
  attempts: number;
  isLost: boolean;
}

async function checkBatch(folder: string, fence: number): Promise<number> {
  const { lines } = await recover(folder);
  const results: Result[] = [];
  for await (const { line, to, bytes } of resultsIn(folder, lines, { of: "all", order: "completion" })) {
    const result = JSON.parse(Buffer.from(bytes).toString()) as Result;
    expect(result.line).toBe(line);
    expect(to).toBe(result.isLost || line % 5 === 0 ? "err" : "out");
    results.push(result);
  }
  const all = Array.from({ length: LINES }, (_, at) => at + 1);
  expect(results.map(({ line }) => line).sort((a, b) => a - b)).toEqual(all);
  expect(lines.ended).toBe(LINES);
  // Each attempt is paid once, also those of runners that were killed.
  const attempts = (n: number) => Array.from({ length: n }, (_, at) => at + 1);
  const cost = results.flatMap(({ line, attempts: n }) => attempts(n).map((a) => costOf(line, a)));
  expect(lines.sums.cost).toBe(cost.reduce((sum, one) => sum + one, 0));
  // A call that went out is in the journal, and went out once.
  const calls = readFileSync(join(folder, "calls"), "utf8").trimEnd().split("\n");
  expect(new Set(calls).size).toBe(calls.length);
  for (const call of calls) {
    const [line, attempt] = call.split(" ").map(Number);
    expect(attempt).toBeLessThanOrEqual(lines.attemptsOf(line!));
  }
  expect((await recover(folder, fence)).lines.ended).toBeLessThanOrEqual(LINES);
  return results.filter(({ isLost, attempts: n, line }) => isLost || n > (line % 7 === 0 ? 2 : 1)).length;
}

test("a runner that is killed at 50 random moments leaves each line with one end", async () => {
  let kills = 0;
  let struck = 0;
  while (kills < KILLS) {
    const folder = mkdtempSync(join(tmpdir(), "weir-kill-"));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    let fence = 1;
    while (!(await runUntil(folder, fence, kills < KILLS ? Math.random() * 80 : 60_000))) {
      kills++;
      fence++;
    }
    struck += await checkBatch(folder, fence);
  }
  // The kills met calls that were running, or they would prove little.
  expect(struck).toBeGreaterThan(KILLS);
  console.log(`${kills} kills struck ${struck} lines.`);
}, 300_000);
