/** `weir runs [RUN]`: runs in the state folder, or the entries of one with its forks side by side. */
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { configOptions, type Context } from "../../../cli/command.ts";
import { table } from "../../../cli/terminal.ts";
import { readConfig } from "../../../config/load.ts";
import type { TapeEntry } from "../../../gateway/recording/entry.ts";
import { sayNano } from "../../../ledger/money.ts";
import { VERSION } from "../../../process/version.ts";
import { builtInFormats } from "../../../run/formats.ts";
import { counts } from "../../../tapes/match.ts";
import { readRun } from "../../../tapes/file.ts";
import { keptFile, keptIds, tapeFile } from "../../../tapes/kept.ts";
import { folderOf } from "../home.ts";
import { type Formats, lineOf, type RunSummary, summaryOf } from "./summary.ts";

/** Characters of a line of an entry, and of a last message. */
const MOST_CHARACTERS = 100;

/** @returns the exit code @throws Error with one sentence */
export async function run(context: Context): Promise<number> {
  const { words, flags, cwd, env, print } = context;
  const { config } = await readConfig(configOptions(context));
  const folder = folderOf(config, env);
  const formats: Formats = new Map(
    builtInFormats({ systemTurns: "accept" }).map((format) => [format.id, format]),
  );
  const kept = folder === undefined ? [] : keptRuns(folder, formats, context.printError);
  const [word] = words;
  if (word === undefined) {
    if (flags["--json"]) print(JSON.stringify(kept, null, 2));
    else print(kept.length > 0 ? sideBySide(kept, cwd) : "there are no runs; weir fork makes one");
    return 0;
  }
  const path = tapeFile(word, resolve(cwd, word), () => folder);
  const name = existsSync(resolve(cwd, word)) ? path : word;
  const read = readRun(path, VERSION);
  const related = familyOf(summaryOf(name, read, formats), kept, formats);
  if (flags["--json"]) {
    const entries = read.entries.filter(counts).map((entry) => rowOf(entry, formats));
    print(JSON.stringify({ entries, runs: related }, null, 2));
    return 0;
  }
  print(
    table([["N", "from", "cost", ""], ...read.entries.filter(counts).map((one) => cellsOf(one, formats))]),
  );
  print("");
  print(sideBySide(related, cwd));
  return 0;
}

/** Runs that can be read; the others are named. */
function keptRuns(folder: string, formats: Formats, tell: (text: string) => void): RunSummary[] {
  return keptIds(folder).flatMap((id) => {
    try {
      return [summaryOf(id, readRun(keptFile(folder, id), VERSION), formats)];
    } catch (cause) {
      tell(`weir: ${cause instanceof Error ? cause.message : String(cause)}`);
      return [];
    }
  });
}

/** The run from which this one was forked, and all that were forked from there, with the run itself. */
function familyOf(run: RunSummary, kept: readonly RunSummary[], formats: Formats): RunSummary[] {
  const { fork } = run;
  const parent = fork && (kept.find((one) => one.run === fork.parent) ?? fileOf(fork.parent, formats));
  if (parent) return familyOf(parent, [...kept.filter((one) => one.run !== run.run), run], formats);
  return [run, ...forksOf(run.run, kept)];
}

/** The run in a file, if it is still there. */
function fileOf(path: string, formats: Formats): RunSummary | undefined {
  return existsSync(path) ? summaryOf(path, readRun(path, VERSION), formats) : undefined;
}

/** The forks of a run, and those of its forks. */
function forksOf(run: string, kept: readonly RunSummary[]): RunSummary[] {
  return kept
    .filter(({ fork }) => fork?.parent === run)
    .flatMap((one) => [
      one,
      ...forksOf(
        one.run,
        kept.filter((other) => other !== one),
      ),
    ]);
}

/** One line for each run. */
export function sideBySide(runs: readonly RunSummary[], cwd: string): string {
  const head = [
    "run",
    "goes on",
    "tools",
    "calls",
    "tool calls",
    "tokens in",
    "out",
    "cost",
    "own cost",
    "last message",
  ];
  return table([
    head,
    ...runs.map(({ run, fork, all, own, last }) => [
      shown(run, cwd),
      fork ? `at ${fork.at} with ${fork.model}` : "",
      fork?.tools ?? "",
      all.failed > 0 ? `${all.calls} (${all.failed} failed)` : `${all.calls}`,
      ...[all.tools, all.input, all.output].map(String),
      ...[all, own].map(costOf),
      cut(last.replaceAll(/\s+/g, " ")),
    ]),
  ]);
}

/** A file in the folder of the user is shown by its name. */
const shown = (run: string, cwd: string) => (run.startsWith(`${cwd}/`) ? run.slice(cwd.length + 1) : run);

function costOf({ cost, unknown }: RunSummary["all"]): string {
  return unknown > 0 ? `${sayNano(cost)} + ${unknown} unknown` : sayNano(cost);
}

function rowOf(entry: TapeEntry, formats: Formats): object {
  const { call, operation, from, cost, taped } = entry;
  return {
    ...{ call, operation, line: lineOf(entry, formats) },
    ...(from && { from }),
    ...(cost !== undefined && { cost }),
    ...(taped !== undefined && { taped }),
  };
}

function cellsOf(entry: TapeEntry, formats: Formats): string[] {
  const { call, from, request, cost, taped, tool } = entry;
  const by = from ? `${from.provider}/${from.model}` : request.model;
  return [
    `${call}`,
    taped === undefined ? by : `${by} (tape)`,
    tool || cost === undefined ? "" : sayNano(cost),
    cut(lineOf(entry, formats)),
  ];
}

const cut = (text: string) =>
  text.length > MOST_CHARACTERS ? `${text.slice(0, MOST_CHARACTERS - 1)}…` : text;
