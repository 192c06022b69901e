/**
 * A runner of 500 invented lines, which a test kills. Arguments: folder, fencing number. It writes `took` when it has begun, and
 * `whole` when all lines have ended. Each call goes to the file `calls`, as it would to a provider.
 */
import { appendFileSync } from "node:fs";
import { join } from "node:path";
import { Journal } from "../journal/journal.ts";

export const LINES = 500;
const CONCURRENCY = 16;

/** What an attempt costs, in nano-dollars. */
export function costOf(line: number, attempt: number): number {
  return line * 1000 + attempt;
}

/** Whether the provider refuses the attempt for now. */
function isRefused(line: number, attempt: number): boolean {
  return line % 7 === 0 && attempt === 1;
}

function resultOf(line: number, attempts: number, isLost = false): Uint8Array {
  return Buffer.from(JSON.stringify({ line, attempts, isLost, text: "x".repeat(line % 300) }));
}

async function runLine(journal: Journal, calls: string, line: number): Promise<void> {
  let attempt = journal.lines.attemptsOf(line);
  if (journal.lines.stateOf(line) === "begun") {
    // Odd lines may not be asked for once more.
    const to = line % 2 === 1 ? "err" : "again";
    const result = to === "err" ? resultOf(line, attempt, true) : new Uint8Array(0);
    await journal.end(line, attempt, to, result, costOf(line, attempt));
  }
  while (journal.lines.stateOf(line) === "fresh") {
    attempt++;
    await journal.start(line, attempt, `call-${line}-${attempt}`);
    appendFileSync(calls, `${line} ${attempt}\n`);
    await Bun.sleep(line % 6);
    if (isRefused(line, attempt))
      await journal.end(line, attempt, "again", new Uint8Array(0), costOf(line, attempt));
    else
      await journal.end(
        line,
        attempt,
        line % 5 === 0 ? "err" : "out",
        resultOf(line, attempt),
        costOf(line, attempt),
      );
  }
}

async function run(folder: string, fence: number): Promise<void> {
  const journal = await Journal.open(folder, fence, { gatherMs: 2 });
  process.stdout.write("took\n");
  let next = 1;
  const runSome = async () => {
    while (next <= LINES) await runLine(journal, join(folder, "calls"), next++);
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, runSome));
  await journal.close();
  process.stdout.write("whole\n");
}

if (import.meta.main) await run(process.argv[2]!, Number(process.argv[3]));
