/**
 * A command: its name, words and flags as data. Parser, help, completion and the table in README.md of this folder
 * are generated from it.
 */

import type { NamedOperations } from "../admin/operation.ts";
import type { References } from "../config/references.ts";
import type { Addition } from "../config/section.ts";
import type { KeyOption } from "../ledger/keys/option.ts";
import type { CallHeader } from "../core/call-header.ts";
import type { Column } from "../core/column.ts";
import type { CheckHow, PluginFinding } from "../core/plugin.ts";
import type { NamedTables, StartParts } from "../keeper/seams.ts";
import type { LoadOwnPlugin, NamedPart, Seams, Served, WorkerHost, WorkerPart } from "../gateway/seams.ts";

/** Completion of a value in a shell: files, folders, or these words. */
export type Completion = "file" | "folder" | readonly string[];

export interface Flag {
  /** With dashes: `--port`. */
  name: string;
  /** One letter with a dash: `-h`. */
  short?: string;
  /** Placeholder of its value in the help (`PORT`); absent for switches. */
  value?: string;
  help: string;
  completes?: Completion;
  /** The flag may be given several times; the values are joined with commas. */
  repeats?: true;
}

/** A positional argument. */
export interface Word {
  /** Name in the help: `NAME`. */
  name: string;
  optional?: boolean;
  completes?: Completion;
}

/** Loads the code that finds what a feature has to say in `weir check`: faults, which make its exit code 1, and warnings. */
export type LoadCheck = () => Promise<{
  check(served: Served, how: CheckHow): Promise<readonly PluginFinding[]>;
}>;

/** A part that says what it would do with a request that `weir explain` explains. */
export interface NamedForesee {
  readonly name: string;
  load(): Promise<{ foresee(config: object): Promise<Seams["foresee"]> }>;
}

export interface Context {
  /** Positional arguments: at least the required ones of the command, at most all of them. */
  words: readonly string[];
  /** The arguments behind `--`, for commands with {@link Command.rest}. */
  rest?: readonly string[];
  /** Values by name with dashes; `true` for switches. */
  flags: Readonly<Record<string, string | true | undefined>>;
  env: Record<string, string | undefined>;
  cwd: string;
  /** Sections and options of keys that the features of this build add to the config. */
  sections: readonly Addition[];
  /** What this process knows of the secrets to which its config refers; absent in a build without such references. */
  references?: References | undefined;
  /** Options of keys that these features add. */
  keyOptions: readonly KeyOption[];
  /** Members that these features add to the record of a call. */
  columns: readonly Column[];
  /** Headers of calls that these features declare. */
  headers: readonly CallHeader[];
  /** Loads the tables of these features, for commands that open the store of a gateway that does not run. */
  tables(): Promise<readonly NamedTables[]>;
  /** Loads the operations of these features for the admin API, for the same commands. */
  operations(): Promise<readonly NamedOperations[]>;
  /** Starts the parts of these features beside the books, for the same commands. */
  readonly keeperParts: StartParts;
  /** Plugins of these features. */
  ownPlugins: readonly LoadOwnPlugin[];
  /** Parts of these features in a process that serves calls. */
  workers: readonly NamedPart<WorkerHost, WorkerPart>[];
  /** Loads what these features find for `weir check`. */
  checks: readonly LoadCheck[];
  /** Loads what these features would do with a request, for `weir explain`. */
  foresees: readonly NamedForesee[];
  print(text: string): void;
  printError(text: string): void;
}

export interface Command {
  /** One to three words: `serve`, `plugin new`, `admin key create`. */
  name: string;
  summary: string;
  words: readonly Word[];
  /** Name in the help of what may be behind `--`: `COMMAND`. */
  rest?: string;
  /** Something must be there. */
  needsRest?: true;
  flags: readonly Flag[];
  /** Names that other tools have for it; `hint` follows "weir has". */
  otherWords?: { words: readonly string[]; hint: string };
  /** @returns the exit code. */
  run(context: Context): Promise<number>;
}

/** A command of a feature: its code is imported when it runs. */
export interface CommandHead extends Omit<Command, "run"> {
  /** The commands that it follows in the help: the first of them that the build has counts. */
  after: readonly string[];
  run(): Promise<Pick<Command, "run">>;
}

/** A flag that a feature adds to a command of weir. With it, the code of the feature runs in place of the command. */
export interface AddedFlag extends Flag {
  /** Name of the command. */
  readonly of: string;
  /** The flag that it follows in the help. */
  readonly after: string;
  /** `weir logs --call ID` names the flag for a call whose record has this column. */
  readonly shows?: string;
  run(): Promise<Pick<Command, "run">>;
}

/** Flags of every command that reads the config. */
export const CONFIG_FLAGS: readonly Flag[] = [
  {
    name: "--config",
    value: "FILE",
    help: "config file (default: weir.yaml in the working directory)",
    completes: "file",
  },
  {
    name: "--plugins",
    value: "DIR",
    help: "folder of the external plugins (default: plugins/)",
    completes: "folder",
  },
];

/** Flags of every command that starts a gateway. */
export const SERVE_FLAGS: readonly Flag[] = [
  { name: "--host", value: "HOST", help: "address to listen on (default 127.0.0.1)" },
  { name: "--port", value: "PORT", help: "port to listen on (default 9347; 0 chooses a free port)" },
  {
    name: "--names",
    value: "NAMES",
    help: "host names by which clients reach weir, with commas between them",
  },
  {
    name: "--tls",
    value: "ISSUER",
    help: "self: listen with TLS and a certificate of weir's own",
    completes: ["self"],
  },
  ...CONFIG_FLAGS,
  {
    name: "--workers",
    value: "N",
    help: "number of processes that share the port (default: one per core on Linux, otherwise 1)",
  },
  {
    name: "--state",
    value: "DIR",
    help: "folder of the databases; answers are stored there (none: in memory)",
    completes: "folder",
  },
  {
    name: "--log-format",
    value: "FORMAT",
    help: "auto, json or pretty",
    completes: ["auto", "json", "pretty"],
  },
  {
    name: "--log-level",
    value: "LEVEL",
    help: "info, warn, error or silent",
    completes: ["info", "warn", "error", "silent"],
  },
];

/** Flags of every command that asks the admin API. */
export const CONNECT_FLAGS: readonly Flag[] = [
  {
    name: "--url",
    value: "URL",
    help: "base URL of the admin API of a gateway elsewhere (its key: WEIR_ADMIN_KEY)",
  },
  { name: "--port", value: "PORT", help: "port of the gateway, if several are running" },
  {
    name: "--state",
    value: "DIR",
    help: "state folder of a gateway that is not running",
    completes: "folder",
  },
];

/** Flags of commands that add up or list calls. */
export const FILTER_FLAGS: readonly Flag[] = [
  { name: "--key", value: "KEY", help: "only calls of this key" },
  { name: "--path", value: "PATH", help: "only calls of keys on this path and below" },
  { name: "--tag", value: "TAGS", help: "only calls with this tag" },
  { name: "--model", value: "MODEL", help: "only calls that this model answered" },
  { name: "--provider", value: "NAME", help: "only calls that went to this provider" },
];

/** The names of the built-in formats, and of the dialects of embeddings of their clients; plugins may add others. */
export const FORMATS = [
  "chat-completions",
  "messages",
  "responses",
  "gemini",
  "interactions",
  "ollama",
  "ollama-generate",
  "completions",
  "fim",
  "embeddings",
  "gemini-embed",
  "ollama-embed",
];

/** Flags of every command. */
export const GLOBAL_FLAGS: readonly Flag[] = [
  { name: "--help", short: "-h", help: "print this help" },
  { name: "--version", short: "-v", help: "print the version" },
];

/** Makes a command print JSON. */
export const JSON_FLAG: Flag = { name: "--json", help: "print JSON" };

/** Makes a command go on without a question. */
export const YES_FLAG: Flag = { name: "--yes", help: "do not ask; weir asks only in a terminal" };

/** The flags that have a value, as `loadConfig` takes them. */
export function valueFlags(flags: Context["flags"]): Record<string, string | undefined> {
  const entries = Object.entries(flags).filter(([, value]) => typeof value === "string");
  return Object.fromEntries(entries) as Record<string, string>;
}

/** Where a command reads the config from: flags, environment, folder, and the sections of this build. */
export function configOptions({
  flags,
  env,
  cwd,
  sections,
  references,
}: Pick<Context, "flags" | "env" | "cwd" | "sections" | "references">) {
  return { flags: valueFlags(flags), env, cwd, sections, references };
}

/** Invalid use of the command line; exit code 2. */
export class UsageError extends Error {}
