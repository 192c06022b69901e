/** `weir man`: the manual page, generated from the command table. Its language is man(7), which groff and mandoc read. */
import { VERSION } from "../process/version.ts";
import { type Command, type Flag, GLOBAL_FLAGS } from "./command.ts";
import { synopsis } from "./help.ts";

/** @param commands the command table; a function, because the table contains this command too */
export function manCommand(commands: () => readonly Command[]): Command {
  return {
    name: "man",
    summary: "print the manual page: weir man | man -l -",
    words: [],
    flags: [],
    async run({ print }) {
      print(manPage(commands()).trimEnd());
      return 0;
    },
  };
}

/** The manual page, as a text with a newline at its end. */
export function manPage(commands: readonly Command[]): string {
  const sections = [
    [`.TH WEIR 1 "" ${quoted(`weir ${VERSION}`)} ${quoted("User Commands")}`],
    [".SH NAME", `weir ${DASH} a gateway for language-model generation`],
    [".SH SYNOPSIS", ".B weir", `[${italic("COMMAND")}] [${italic("FLAGS")}]`],
    [".SH DESCRIPTION", DESCRIPTION.map(roff).join("\n.PP\n")],
    [".SH COMMANDS", ...commands.flatMap(sectionOf)],
    [".SH GLOBAL FLAGS", ...GLOBAL_FLAGS.flatMap(entryOf)],
    [".SH EXIT STATUS", ...pairs(EXIT_CODES)],
    [".SH FILES", ...pairs(FILES)],
    [".SH EXAMPLES", EXAMPLES.map(exampleOf).join("\n.PP\n")],
  ];
  return `${sections.flat().join("\n")}\n`;
}

const DASH = "\\-";

const DESCRIPTION = [
  "weir stands between clients and providers of language models. Clients use the SDK of OpenAI, Anthropic or Google, or a program such as Claude Code or Codex; weir finds the provider that serves the model name, sends the request in a format that the provider speaks, and answers in the format of the client.",
  "Without a command, weir starts the gateway, on 127.0.0.1:9347 unless the config or a flag says otherwise. A flag overrides an environment variable, a variable overrides weir.yaml, and the file overrides the default. weir config schema prints all options, and weir config show their values.",
];

const EXIT_CODES = [
  ["0", "The command succeeded, or the gateway was stopped."],
  [
    "1",
    "The command failed, the port belongs to another gateway, or a worker that hung had to be killed. The commands that run a client end with the exit code of the client.",
  ],
  ["2", "An unknown command or flag, a surplus or a missing word; nothing was started."],
  ["78", "The config is wrong; another start would change nothing."],
] as const;

const FILES = [
  ["weir.yaml", "The config, in the working directory."],
  ["plugins/", "External plugins, in the working directory."],
  [
    "~/.local/state/weir/",
    "Keys, budgets, records of calls and stored answers. --state names another folder.",
  ],
] as const;

const EXAMPLES = [
  ["Start the gateway. While nothing is configured, the mock answers:", "weir"],
  [
    "Record what a program asks a model, and answer it from the tape later:",
    "weir record job.tape -- npm test",
  ],
  ["Show which provider would get a request, and what would be lost:", "weir explain request.json"],
] as const;

function sectionOf(command: Command): string[] {
  return [`.SS weir ${roff(synopsis(command))}`, roff(command.summary), ...command.flags.flatMap(entryOf)];
}

function entryOf({ name, short, value, help }: Flag): string[] {
  const names = [short, name].filter((one) => one !== undefined).map(bold);
  return [".TP", names.join(", ") + (value === undefined ? "" : ` ${italic(value)}`), roff(help)];
}

function pairs(rows: readonly (readonly [term: string, text: string])[]): string[] {
  return rows.flatMap(([term, text]) => [".TP", bold(term), roff(text)]);
}

function exampleOf([text, line]: readonly [string, string]): string {
  return [roff(text), ".PP", ".EX", roff(line), ".EE"].join("\n");
}

function bold(text: string): string {
  return `\\fB${escaped(text)}\\fR`;
}

function italic(text: string): string {
  return `\\fI${escaped(text)}\\fR`;
}

function quoted(text: string): string {
  return `"${escaped(text).replaceAll('"', '""')}"`;
}

/** A text in lines of at most 80 characters where it has spaces. */
function roff(text: string): string {
  return escaped(text)
    .replace(/(.{1,78})(?: |$)/g, "$1\n")
    .trimEnd()
    .replace(/^(?=[.'])/gm, REQUEST_ESCAPE);
}

/** A point or an apostrophe at the beginning of a line would make it a request. */
const REQUEST_ESCAPE = "\\&";

/** A dash is a hyphen in roff, a backslash begins an escape, and other letters than those of ASCII need not be read as UTF-8. */
function escaped(text: string): string {
  return text
    .replaceAll("\\", "\\e")
    .replaceAll("-", DASH)
    .replace(/[^\0-\x7f]/gu, (letter) => {
      const code = letter.codePointAt(0)!.toString(16).toUpperCase();
      return `\\[u${code.padStart(4, "0")}]`;
    });
}
