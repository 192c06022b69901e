/** Runs the rows of {@link RUNS} one after the other and writes what each found. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Counts, countTests, type Run } from "./runs.ts";

export type Verdict = "passed" | "FAILED" | "not run";

export interface Row {
  name: string;
  verdict: Verdict;
  seconds: number;
  /** Undefined where its output has no sums. */
  counts?: Counts;
  /** Why it did not run, or how it failed. */
  note: string;
}

export interface NightlyOptions {
  /** Where the commands run. */
  root: string;
  /** Gets `NAME.log` for each run, and `nightly.md`. */
  folder: string;
  /** Prints a line of progress. */
  say(line: string): void;
  /** Time between two lines about a run that lasts. Milliseconds. */
  everyMs?: number;
}

/** Runs them all, whatever fails. The file with the table is written after each, so that it is there if the machine stops. */
export async function runNightly(runs: readonly Run[], options: NightlyOptions): Promise<Row[]> {
  const { folder, say } = options;
  mkdirSync(folder, { recursive: true });
  const rows: Row[] = [];
  for (const [at, run] of runs.entries()) {
    say(`${at + 1} of ${runs.length}  ${run.name}: ${run.about}`);
    const row = await runOne(run, options);
    rows.push(row);
    say(`${at + 1} of ${runs.length}  ${describeRow(row)}`);
    writeFileSync(join(folder, "nightly.md"), writeTable(rows));
  }
  return rows;
}

async function runOne(run: Run, { root, folder, say, everyMs = 60_000 }: NightlyOptions): Promise<Row> {
  const why = await run.missing?.();
  if (why !== undefined) return { name: run.name, verdict: "not run", seconds: 0, note: why };
  const began = performance.now();
  const seconds = () => Math.round((performance.now() - began) / 1_000);
  const file = Bun.file(join(folder, `${run.name}.log`)).writer();
  const child = Bun.spawn([process.execPath, ...run.command], {
    cwd: root,
    env: { ...process.env, ...run.env },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  let output = "";
  const read = async (stream: ReadableStream<Uint8Array>) => {
    const decoder = new TextDecoder();
    for await (const bytes of stream) {
      file.write(bytes);
      await file.flush();
      output += decoder.decode(bytes, { stream: true });
    }
  };
  const lastLine = () => output.trimEnd().split("\n").at(-1)?.slice(0, 100) ?? "";
  const timer = setInterval(() => say(`  ${run.name}, ${seconds()} s: ${lastLine()}`), everyMs);
  await Promise.all([read(child.stdout), read(child.stderr)]);
  const code = await child.exited;
  clearInterval(timer);
  await file.end();
  const counts = (run.count ?? countTests)(output);
  return { name: run.name, seconds: seconds(), ...judge(code, counts, run.count === undefined) };
}

/**
 * What an exit code and the counts say together: a failed test fails a run that exits with 0, and a run of tests of which
 * none passed has shown nothing.
 */
export function judge(
  code: number,
  counts: Counts | undefined,
  hasTests: boolean,
): Pick<Row, "verdict" | "counts" | "note"> {
  if (code !== 0) return { verdict: "FAILED", counts, note: `exit code ${code}` };
  if (counts && counts.failed > 0) return { verdict: "FAILED", counts, note: `${counts.failed} failed` };
  if (hasTests && !counts) return { verdict: "FAILED", note: "it printed no sums" };
  if (hasTests && !counts?.passed) return { verdict: "not run", counts, note: "every test was skipped" };
  return { verdict: "passed", counts, note: counts?.skipped ? `${counts.skipped} skipped` : "" };
}

function describeRow({ name, verdict, seconds, counts, note }: Row): string {
  const sums = counts ? `, ${counts.passed} passed, ${counts.failed} failed` : "";
  return `${name}: ${verdict}${sums}, ${seconds} s${note === "" ? "" : ` (${note})`}`;
}

/** The table as Markdown, with columns of one width. */
export function writeTable(rows: readonly Row[]): string {
  const cells = [
    ["name", "passed", "failed", "seconds", "verdict", "note"],
    ...rows.map(({ name, verdict, seconds, counts, note }) => [
      name,
      counts ? String(counts.passed) : "-",
      counts ? String(counts.failed) : "-",
      String(seconds),
      verdict,
      note.replaceAll("|", "\\|"),
    ]),
  ];
  const widths = cells[0]!.map((_, column) => Math.max(3, ...cells.map((row) => row[column]!.length)));
  const line = (row: readonly string[]) =>
    `| ${row.map((cell, column) => cell.padEnd(widths[column]!)).join(" | ")} |`;
  const rule = line(widths.map((width) => "-".repeat(width)));
  return `${[line(cells[0]!), rule, ...cells.slice(1).map(line)].join("\n")}\n`;
}
