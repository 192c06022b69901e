/** Parses arguments into a command with its words and flags. */
import { parseArgs, type ParseArgsConfig } from "node:util";
import { describeLeftOut } from "../core/left-out.ts";
import { didYouMean } from "../core/suggest.ts";
import { type Command, type Context, type Flag, GLOBAL_FLAGS, UsageError } from "./command.ts";

export type Parsed =
  | ({ kind: "run"; command: Command } & Pick<Context, "words" | "flags" | "rest">)
  | { kind: "help"; command?: Command; group?: string }
  | { kind: "version" };

/** One flag as the user wrote it. */
interface Given {
  /** `--port`, or `-p`. */
  written: string;
  name: string;
  value: string | undefined;
  /** The value was written after `=`. */
  inline: boolean;
}

/**
 * Flags may be anywhere, also before the command. Without a command name the first command of the table runs.
 * @throws UsageError for an unknown command or flag, a missing or surplus word, a missing value
 */
export function parse(args: readonly string[], commands: readonly Command[]): Parsed {
  const { given, words: before, rest } = split(args, commands);
  const takesRest = findCommand(before, commands)?.rest !== undefined;
  const words = takesRest ? before : [...before, ...rest];
  const help = words[0] === "help" || given.some(({ name }) => name === "--help");
  const named = words[0] === "help" ? words.slice(1) : words;
  const command = findCommand(named, commands);
  assertKnown(given, command, commands);
  if (help && named.length === 0) return { kind: "help" };
  if (!command && isGroup(named, commands)) return { kind: "help", group: named.join(" ") };
  if (!command) throw unknownCommand(named, commands);
  if (help) return { kind: "help", command };
  if (given.some(({ name }) => name === "--version")) return { kind: "version" };
  const own = named.length === 0 ? [] : named.slice(command.name.split(" ").length);
  const flags = readFlags(given, command.flags);
  assertWords(own, command);
  return { kind: "run", command, words: own, flags, ...(takesRest && { rest }) };
}

/**
 * A flag name takes a value in all commands or in none, so words and values can be told apart before the command is known.
 * @returns `rest`: the arguments behind `--`
 */
function split(
  args: readonly string[],
  commands: readonly Command[],
): { given: Given[]; words: string[]; rest: string[] } {
  const flags = allFlags(commands);
  const options: ParseArgsConfig["options"] = Object.fromEntries(
    flags.map(({ name, short, value }) => [
      name.slice(2),
      { type: value === undefined ? "boolean" : "string", ...(short && { short: short.slice(1) }) },
    ]),
  );
  const { tokens } = parseArgs({
    args: [...args],
    options,
    strict: false,
    allowPositionals: true,
    tokens: true,
  });
  const given: Given[] = [];
  const words: string[] = [];
  const end = tokens.find(({ kind }) => kind === "option-terminator")?.index ?? Infinity;
  for (const token of tokens) {
    if (token.kind === "positional" && token.index < end) words.push(token.value);
    if (token.kind !== "option") continue;
    const isLong = token.rawName.startsWith("--") || flags.some(({ short }) => short === token.rawName);
    given.push({
      written: token.rawName,
      name: isLong ? `--${token.name}` : token.rawName,
      value: token.value,
      inline: token.inlineValue === true,
    });
  }
  return { given, words, rest: args.slice(end + 1) };
}

function allFlags(commands: readonly Command[]): Flag[] {
  return [...GLOBAL_FLAGS, ...commands.flatMap(({ flags }) => flags)];
}

/** Longer names take precedence over shorter ones; without a word the first command of the table. */
function findCommand(words: readonly string[], commands: readonly Command[]): Command | undefined {
  if (words.length === 0) return commands[0];
  const named = (count: number) => commands.find(({ name }) => name === words.slice(0, count).join(" "));
  return named(3) ?? named(2) ?? named(1);
}

/** The name of a command group alone: `plugin`, `admin key`. */
function isGroup(words: readonly string[], commands: readonly Command[]): boolean {
  return words.length > 0 && commands.some(({ name }) => name.startsWith(`${words.join(" ")} `));
}

function unknownCommand(words: readonly string[], commands: readonly Command[]): UsageError {
  const name = words.slice(0, 2).join(" ");
  const leftOut = describeLeftOut("commands", name) ?? describeLeftOut("commands", words[0] ?? "");
  if (leftOut !== undefined) return new UsageError(leftOut);
  const names = commands.map((command) => command.name);
  const hint =
    otherWord(words[0] ?? "", commands) ||
    didYouMean(name, names) ||
    didYouMean(words[0] ?? "", names) ||
    "; see weir --help";
  return new UsageError(`unknown command "${name}"${hint}`);
}

/** Names of other tools for the commands of weir. */
const OTHER_WORDS: readonly (readonly [words: readonly string[], command: string])[] = [
  [["start", "up", "server", "proxy", "gateway"], "weir serve"],
  [["run", "launch"], "weir serve for the gateway"],
  [["down", "kill", "quit", "shutdown"], "weir stop"],
  [["ps", "ls", "list", "info"], "weir status"],
  [["restart"], "weir stop, then weir serve; weir reload reads the config anew"],
  [["init", "setup", "new"], "weir config init"],
  [["validate", "doctor", "test", "lint"], "weir check"],
  [["ui", "dashboard", "open"], "weir console"],
  [["key", "token", "tokens"], "weir keys create NAME"],
  [["spend", "cost", "costs"], "weir usage"],
  [["log", "tail"], "weir logs --follow"],
  [["migrate", "convert"], "weir store migrate for books"],
  [["pull", "show"], "weir models NAME; weir serves models of other hosts"],
];

function otherWord(word: string, commands: readonly Command[]): string {
  const named = commands.flatMap(({ otherWords }) =>
    otherWords?.words.includes(word) ? [otherWords.hint] : [],
  );
  const found = OTHER_WORDS.find(([words]) => words.includes(word));
  const hints = [...named, ...(found ? [found[1]] : [])];
  if (hints.length > 0) return `; weir has ${hints.join(", and ")}`;
  if (!["update", "self-update"].includes(word)) return "";
  return "; install the new version over this one, then weir upgrade";
}

function assertKnown(
  given: readonly Given[],
  command: Command | undefined,
  commands: readonly Command[],
): void {
  const own = command ? [...GLOBAL_FLAGS, ...command.flags] : allFlags(commands);
  const unknown = given.find(({ name }) => !own.some((flag) => flag.name === name));
  if (!unknown) return;
  const others = commands.filter(({ flags }) => flags.some(({ name }) => name === unknown.name));
  if (command && others.length > 0)
    throw new UsageError(
      `weir ${command.name} has no flag ${unknown.written}; the flag belongs to ${others.map(({ name }) => `weir ${name}`).join(", ")}`,
    );
  const near = didYouMean(
    unknown.name,
    own.map(({ name }) => name),
  );
  throw new UsageError(`unknown flag ${unknown.written}${near || "; see --help"}`);
}

function assertWords(words: readonly string[], { name, words: known, rest }: Command): void {
  const missing = known.find((word, index) => !word.optional && words[index] === undefined);
  if (missing) throw new UsageError(`weir ${name} requires ${missing.name}; see weir ${name} --help`);
  const surplus = words[known.length];
  if (surplus === undefined) return;
  if (rest !== undefined)
    throw new UsageError(
      `weir ${name} takes its command behind --: weir ${[name, ...words.slice(0, known.length), "--", ...words.slice(known.length)].join(" ")}`,
    );
  const most = known.length === 0 ? "no arguments" : `only ${known.map((word) => word.name).join(" ")}`;
  throw new UsageError(`weir ${name} takes ${most}; unexpected argument "${surplus}"`);
}

function readFlags(given: readonly Given[], known: readonly Flag[]): Record<string, string | true> {
  const flags: Record<string, string | true> = {};
  for (const { name, value, inline } of given) {
    const flag = known.find((candidate) => candidate.name === name);
    if (!flag) continue;
    if (flag.value === undefined && inline) throw new UsageError(`${name} takes no value`);
    // In `--port --workers 2` the value of --port is missing. A value that begins with a dash needs `=`.
    const isFlag = !inline && value !== undefined && /^-./.test(value);
    if (flag.value !== undefined && (value === undefined || value === "" || isFlag))
      throw new UsageError(
        isFlag && !known.some((one) => one.name === value)
          ? `${name} requires a value; one that begins with a dash needs an equals sign: ${name}=${value}`
          : `${name} requires a value: ${name} ${flag.value}`,
      );
    const before = flag.repeats ? flags[name] : undefined;
    flags[name] =
      flag.value === undefined ? true : [...(before === undefined ? [] : [before]), value ?? ""].join(",");
  }
  return flags;
}
