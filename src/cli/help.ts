/** Help texts, generated from the command table. */
import { VERSION } from "../process/version.ts";
import { type Command, type Flag, GLOBAL_FLAGS } from "./command.ts";
import { wrap, wrappedTable } from "./terminal.ts";

/** Characters of a line where no terminal has a width. */
const DEFAULT_WIDTH = 100;

/** @param width characters of a line */
export function generalHelp(commands: readonly Command[], width = DEFAULT_WIDTH): string {
  return [
    `weir ${VERSION}: a gateway for language-model generation`,
    "",
    "Usage: weir [COMMAND] [FLAGS]",
    "",
    wrappedTable(generalRows(commands), width, "  "),
    "",
    ...wrap(
      "Without a command, weir starts the gateway (same as weir serve). weir COMMAND --help prints the flags of a command; --version prints the version.",
      width,
    ),
  ].join("\n");
}

/** One row for each command; groups of more than three commands have one row with the names of their commands. */
function generalRows(commands: readonly Command[]): string[][] {
  const groupOf = ({ name }: Command) => name.split(" ")[0]!;
  const groups = Map.groupBy(commands, groupOf);
  return [...groups].flatMap(([group, members]) => {
    if (members.length <= MOST_ROWS) return members.map((command) => [synopsis(command), command.summary]);
    return [[`${group} COMMAND`, members.map(({ name }) => name.slice(group.length + 1)).join(", ")]];
  });
}

/** Most commands of a group that the general help lists one by one. */
const MOST_ROWS = 3;

/** The help of a command group such as `weir plugin`. */
export function groupHelp(group: string, commands: readonly Command[], width = DEFAULT_WIDTH): string {
  const members = commands.filter(({ name }) => name.startsWith(`${group} `));
  return [
    `Usage: weir ${group} COMMAND [FLAGS]`,
    "",
    wrappedTable(
      members.map((command) => [synopsis(command), command.summary]),
      width,
      "  ",
    ),
    "",
    `weir ${group} COMMAND --help prints the flags of a command.`,
  ].join("\n");
}

export function commandHelp(command: Command, width = DEFAULT_WIDTH): string {
  return [
    ...wrap(`weir ${command.name}: ${command.summary}`, width),
    "",
    `Usage: weir ${[front(command), "[FLAGS]", ...behind(command)].join(" ")}`,
    "",
    wrappedTable(
      [...command.flags, ...GLOBAL_FLAGS].map((flag) => [labelOf(flag), flag.help]),
      width,
      "  ",
    ),
  ].join("\n");
}

/** `plugin new NAME`, `models [NAME]`, `record FILE [-- COMMAND]`. */
export function synopsis(command: Omit<Command, "run">): string {
  return [front(command), ...behind(command)].join(" ");
}

function front({ name, words }: Omit<Command, "run">): string {
  return [name, ...words.map((word) => (word.optional ? `[${word.name}]` : word.name))].join(" ");
}

/** Words behind the flags: they would belong to the command there. */
function behind({ rest, needsRest }: Omit<Command, "run">): string[] {
  if (rest === undefined) return [];
  return [needsRest ? `-- ${rest}` : `[-- ${rest}]`];
}

function labelOf({ name, short, value }: Flag): string {
  return [short && `${short},`, name, value].filter(Boolean).join(" ");
}
