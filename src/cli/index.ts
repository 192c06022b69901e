/** The command line: runs a command and turns errors into a sentence and an exit code. */
import { OWN_TABLES } from "../keeper/store/own-tables.ts";
import { ConfigError, EXIT_CONFIG } from "../config/error.ts";
import { References } from "../config/references.ts";
import { exitProcess } from "../process/exit.ts";
import { describeFileError, systemCode } from "../core/system-error.ts";
import { assertDistinct } from "../feature/distinct.ts";
import {
  additionsOf,
  checksOf,
  foreseesOf,
  columnsOf,
  type Feature,
  headersOf,
  keyOptionsOf,
  keeperPartsOf,
  operationsOf,
  referencesOf,
  tablesOf,
  pluginsOf,
  workersOf,
} from "../feature/feature.ts";
import type { KeeperHost } from "../keeper/seams.ts";
import { VERSION } from "../process/version.ts";
import { UsageError } from "./command.ts";
import { type Parsed, parse } from "./parse.ts";
import { serve } from "./serve.ts";

const EXIT_USAGE = 2;

/** Runs the command that the arguments name; without a command, `serve`. @returns the exit code */
export async function run(args: readonly string[], features: readonly Feature[]): Promise<number> {
  const print = (text: string) => void process.stdout.write(`${text}\n`);
  const printError = (text: string) => void process.stderr.write(`${text}\n`);
  process.stdout.on("error", endWithoutOutput);
  // Standard error is full or closed too: weir has no other place for the sentence.
  process.stderr.on("error", () => {});
  try {
    assertDistinct(features);
    const parsed = parseServe(args) ?? (await parseAny(args, features));
    if (parsed.kind === "version") return (print(VERSION), 0);
    if (parsed.kind === "help") return (print(await helpText(parsed, features)), 0);
    const { command, words, flags, rest } = parsed;
    const { env } = process;
    const own = { words, flags, rest, env, cwd: process.cwd(), print, printError };
    const kinds = referencesOf(features);
    const parts = {
      references: kinds && new References(kinds),
      ...{ sections: additionsOf(features), columns: columnsOf(features) },
      ...{ keyOptions: keyOptionsOf(features), headers: headersOf(features) },
      tables: async () => [...OWN_TABLES, ...(await tablesOf(features))],
      operations: () => operationsOf(features),
      keeperParts: (host: KeeperHost) => keeperPartsOf(features, host),
      ...{ ownPlugins: pluginsOf(features), workers: workersOf(features), checks: checksOf(features) },
      foresees: foreseesOf(features),
    };
    return await command.run({ ...own, ...parts });
  } catch (thrown) {
    const message = sentenceOf(thrown);
    printError(wantsJson(args) ? JSON.stringify({ error: { message } }) : `weir: ${message}`);
    return thrown instanceof UsageError ? EXIT_USAGE : thrown instanceof ConfigError ? EXIT_CONFIG : 1;
  }
}

/**
 * The start of a gateway, which does not load the other commands: their code takes time and memory.
 * @returns undefined for other commands, and for arguments whose faults only the whole table can describe
 */
function parseServe(args: readonly string[]): Parsed | undefined {
  try {
    const parsed = parse(args, [serve]);
    return parsed.kind === "run" ? parsed : undefined;
  } catch {
    return undefined;
  }
}

async function parseAny(args: readonly string[], features: readonly Feature[]): Promise<Parsed> {
  const { commandsWith } = await import("./commands.ts");
  return parse(args, commandsWith(features));
}

async function helpText(
  { command, group }: Extract<Parsed, { kind: "help" }>,
  features: readonly Feature[],
): Promise<string> {
  const [{ commandsWith }, help] = await Promise.all([import("./commands.ts"), import("./help.ts")]);
  const { columns } = process.stdout;
  if (command) return help.commandHelp(command, columns);
  const commands = commandsWith(features);
  return group === undefined ? help.generalHelp(commands, columns) : help.groupHelp(group, commands, columns);
}

/** The message; for a file that cannot be read or written, its path and the reason. */
function sentenceOf(thrown: unknown): string {
  if (!(thrown instanceof Error)) return String(thrown);
  const isRaw =
    "path" in thrown && "syscall" in thrown && thrown.message.startsWith(`${systemCode(thrown)}: `);
  return isRaw ? `${String(thrown.path)}: ${describeFileError(thrown)}` : thrown.message;
}

/** `--json` is before `--`; behind it is the command of a client. */
function wantsJson(args: readonly string[]): boolean {
  const end = args.indexOf("--");
  return args.slice(0, end === -1 ? undefined : end).includes("--json");
}

/** `weir models | head -1` closes the pipe early: output after that is discarded without an error. A gateway goes on without log. */
function endWithoutOutput(fault: Error & { code?: string }): void {
  const isLog = process.stdout.listenerCount("error") > 1;
  if (fault.code === "EPIPE" || isLog) return;
  process.stderr.write(`weir: the output cannot be written: ${describeFileError(fault)}\n`);
  exitProcess(1);
}
