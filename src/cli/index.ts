/** The command line: which command was asked for, its flags, its help. */
import { ConfigError } from "../config/error.ts";
import { didYouMean } from "../config/suggest.ts";
import { VERSION } from "../version.ts";
import type { Command, Context, Flag } from "./command.ts";
import { UsageError } from "./command.ts";
import { chat } from "./chat.ts";
import { check } from "./check.ts";
import { configSchemaCommand, configShow } from "./config.ts";
import { explainCommand } from "./explain.ts";
import { models } from "./models.ts";
import { pluginList, pluginNew } from "./plugin.ts";
import { reload } from "./reload.ts";
import { serve } from "./serve.ts";

const COMMANDS: readonly Command[] = [
  serve,
  reload,
  check,
  models,
  explainCommand,
  chat,
  pluginNew,
  pluginList,
  configSchemaCommand,
  configShow,
];

/** Exit code of a wrong config (`EX_CONFIG` of sysexits.h). */
const EXIT_CONFIG = 78;
const EXIT_USAGE = 2;

/** Runs the command the arguments name; `weir` alone serves. @returns the exit code. */
export async function run(args: readonly string[]): Promise<number> {
  const print = (text: string) => void process.stdout.write(`${text}\n`);
  const printError = (text: string) => void process.stderr.write(`${text}\n`);
  try {
    if (args[0] === "--version" || args[0] === "-v") return (print(VERSION), 0);
    if (args[0] === "--help" || args[0] === "-h" || args[0] === "help") return (print(generalHelp()), 0);
    const { command, rest } = findCommand(args);
    if (rest.includes("--help") || rest.includes("-h")) return (print(commandHelp(command)), 0);
    const parsed = parseFlags(rest, command.flags);
    return await command.run({ ...parsed, env: process.env, cwd: process.cwd(), print, printError });
  } catch (thrown) {
    const message = thrown instanceof Error ? thrown.message : String(thrown);
    printError(`weir: ${message}`);
    return thrown instanceof UsageError ? EXIT_USAGE : thrown instanceof ConfigError ? EXIT_CONFIG : 1;
  }
}

function findCommand(args: readonly string[]): { command: Command; rest: readonly string[] } {
  if (args.length === 0 || args[0]!.startsWith("-")) return { command: serve, rest: args };
  for (const words of [2, 1]) {
    const name = args.slice(0, words).join(" ");
    const command = COMMANDS.find((candidate) => candidate.name === name);
    if (command) return { command, rest: args.slice(words) };
  }
  const name = args.slice(0, args[1]?.startsWith("-") ? 1 : 2).join(" ");
  const names = COMMANDS.map((command) => command.name);
  const hint = didYouMean(name, names) || didYouMean(args[0]!, names) || "; see weir --help";
  throw new UsageError(`there is no command "${name}"${hint}`);
}

function parseFlags(args: readonly string[], known: readonly Flag[]): Pick<Context, "words" | "flags"> {
  const words: string[] = [];
  const flags: Record<string, string | true> = {};
  for (let at = 0; at < args.length; at++) {
    const arg = args[at]!;
    if (!arg.startsWith("--")) {
      words.push(arg);
      continue;
    }
    const [name = "", inline] = arg.split(/=(.*)/s, 2);
    const flag = known.find((candidate) => candidate.name === name);
    if (!flag) {
      const hint =
        didYouMean(
          name,
          known.map((candidate) => candidate.name),
        ) || "; see --help";
      throw new UsageError(`there is no flag ${name}${hint}`);
    }
    const value = flag.value === undefined ? true : (inline ?? args[++at]);
    if (value === undefined) throw new UsageError(`${name} needs a value: ${name} ${flag.value}`);
    flags[name] = value;
  }
  return { words, flags };
}

function generalHelp(): string {
  const width = Math.max(...COMMANDS.map((command) => `${command.name} ${command.usage}`.length));
  const rows = COMMANDS.map(
    (command) => `  ${`${command.name} ${command.usage}`.trim().padEnd(width)}  ${command.summary}`,
  );
  return [
    `weir ${VERSION}: a gateway for language-model generation`,
    "",
    "Usage: weir [COMMAND] [FLAGS]",
    "",
    ...rows,
    "",
    "weir alone serves. weir COMMAND --help tells more about one; --version prints the version.",
  ].join("\n");
}

function commandHelp(command: Command): string {
  const labels = command.flags.map((flag) => [flag.name, flag.value].filter(Boolean).join(" "));
  const width = Math.max(0, ...labels.map((label) => label.length));
  const rows = command.flags.map((flag, index) => `  ${labels[index]!.padEnd(width)}  ${flag.help}`);
  const head = `weir ${command.name}: ${command.summary}`;
  const usage = `Usage: weir ${command.name} ${command.usage}`.trim();
  return [head, "", usage + (rows.length > 0 ? " [FLAGS]" : ""), "", ...rows].join("\n").trimEnd();
}
