/** `weir runs [RUN]`: runs in the state folder, or the entries of one with its forks side by side. */
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
import { tapeFile } from "../../../tapes/kept.ts";
import { folderOf, idOfTape } from "../home.ts";
import { keptRuns, rootOf, withForks } from "./kept.ts";
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
  const tell = (sentence: string) => context.printError(`weir: ${sentence}`);
  const kept = folder === undefined ? [] : keptRuns(folder, { formats, version: VERSION, tell });
  const [word] = words;
  if (word === undefined) {
    if (flags["--json"]) print(JSON.stringify(kept, null, 2));
    else print(kept.length > 0 ? sideBySide(kept) : "there are no runs; weir fork makes one");
    return 0;
  }
  const path = tapeFile(word, resolve(cwd, word), () => folder);
  const read = readRun(path, VERSION);
  // A file that was forked is kept under an id of its own.
  const isFile = path === resolve(cwd, word);
  const own = summaryOf(isFile ? idOfTape(path) : word, read, formats);
  const shownAs = new Map(isFile ? [[own.run, word]] : []);
  const related = withForks(rootOf(own, kept), [own, ...kept.filter(({ run: id }) => id !== own.run)]).map(
    (one) => ({ ...one, run: shownAs.get(one.run) ?? one.run }),
  );
  if (flags["--json"]) {
    const entries = read.entries.filter(counts).map((entry) => rowOf(entry, formats));
    print(JSON.stringify({ entries, runs: related }, null, 2));
    return 0;
  }
  print(
    table([["N", "from", "cost", ""], ...read.entries.filter(counts).map((one) => cellsOf(one, formats))]),
  );
  print("");
  print(sideBySide(related));
  return 0;
}

/** One line for each run. */
export function sideBySide(runs: readonly RunSummary[]): string {
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
      run,
      fork ? `at ${fork.at} with ${fork.model}` : "",
      fork?.tools ?? "",
      all.failed > 0 ? `${all.calls} (${all.failed} failed)` : `${all.calls}`,
      ...[all.tools, all.input, all.output].map(String),
      ...[all, own].map(costOf),
      cut(last.replaceAll(/\s+/g, " ")),
    ]),
  ]);
}

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
