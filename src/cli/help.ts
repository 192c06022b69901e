/** Help texts, made from the command table. */
import { VERSION } from "../version.ts";
import type { Command, Flag } from "./command.ts";
import { GLOBAL_FLAGS } from "./command.ts";
import { table } from "./terminal.ts";

export function generalHelp(commands: readonly Command[]): string {
  return [
    `weir ${VERSION}: a gateway for language-model generation`,
    "",
    "Usage: weir [COMMAND] [FLAGS]",
    "",
    table(
      commands.map((command) => [synopsis(command), command.summary]),
      "  ",
    ),
    "",
    "weir alone serves. weir COMMAND --help tells more about one; --version prints the version.",
  ].join("\n");
}

/** The commands that begin with a word, for `weir plugin`. */
export function groupHelp(group: string, commands: readonly Command[]): string {
  const members = commands.filter(({ name }) => name.startsWith(`${group} `));
  return [
    `Usage: weir ${group} COMMAND [FLAGS]`,
    "",
    table(
      members.map((command) => [synopsis(command), command.summary]),
      "  ",
    ),
    "",
    `weir ${group} COMMAND --help tells more about one.`,
  ].join("\n");
}

export function commandHelp(command: Command): string {
  return [
    `weir ${command.name}: ${command.summary}`,
    "",
    `Usage: weir ${synopsis(command)} [FLAGS]`,
    "",
    table(
      [...command.flags, ...GLOBAL_FLAGS].map((flag) => [labelOf(flag), flag.help]),
      "  ",
    ),
  ].join("\n");
}

/** `plugin new NAME`, `models [NAME]`. */
export function synopsis({ name, words }: Command): string {
  return [name, ...words.map((word) => (word.optional ? `[${word.name}]` : word.name))].join(" ");
}

function labelOf({ name, short, value }: Flag): string {
  return [short && `${short},`, name, value].filter(Boolean).join(" ");
}
