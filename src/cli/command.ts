/** What a command is. */
export interface Flag {
  /** With dashes: `--port`. */
  name: string;
  /** The word for its value in the help (`PORT`); absent for switches. */
  value?: string;
  help: string;
}

export interface Context {
  /** Words that are no flags. */
  words: readonly string[];
  /** Values by name with dashes; `true` for switches. */
  flags: Readonly<Record<string, string | true | undefined>>;
  env: Record<string, string | undefined>;
  cwd: string;
  print(text: string): void;
  printError(text: string): void;
}

export interface Command {
  /** One or two words: `serve`, `plugin new`. */
  name: string;
  summary: string;
  /** What stands behind the name: `[NAME]`. */
  usage: string;
  flags: readonly Flag[];
  /** @returns the exit code. */
  run(context: Context): Promise<number>;
}

/** Flags of every command that reads the config. */
export const CONFIG_FLAGS: readonly Flag[] = [
  { name: "--config", value: "FILE", help: "config file (default: weir.yaml in the working directory)" },
  { name: "--plugins", value: "DIR", help: "folder of dropped plugins (default: plugins/)" },
];

/** Only the flags that have a value, as the config layer takes them. */
export function valueFlags(flags: Context["flags"]): Record<string, string | undefined> {
  const entries = Object.entries(flags).filter(([, value]) => typeof value === "string");
  return Object.fromEntries(entries) as Record<string, string>;
}

/** A mistake in the words of the command line; exit code 2. */
export class UsageError extends Error {}
