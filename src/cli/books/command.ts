/** The frame of the commands of the books: they connect, ask, print and close. */
import { type Command, CONNECT_FLAGS, type Context, type Flag, JSON_FLAG, YES_FLAG } from "../command.ts";
import { confirmed } from "../confirm.ts";
import type { AdminApi } from "./api.ts";
import { connect } from "./connect.ts";
import type { Key } from "../../operator/index.ts";

export interface BookContext extends Context {
  api: AdminApi;
  /** Prints the value with `--json`, otherwise the text. */
  show(value: unknown, text: () => string): void;
  /** Prints the warnings of an entry that was changed. */
  warn(entry: Pick<Key, "warnings">): void;
}

interface BookCommand extends Omit<Command, "run" | "words" | "flags"> {
  words?: Command["words"];
  flags?: readonly Flag[];
  /** A question before an action that cannot be undone: `Revoke the key demo?`. In a terminal weir asks it before the command runs. */
  asks?(context: Context): string;
  /** @returns the exit code; 0 if nothing is returned */
  run(context: BookContext): Promise<number | void>;
}

export const DRY_RUN_FLAG: Flag = { name: "--dry-run", help: "only show what would be deleted" };

export function isDryRun(flags: Context["flags"]): boolean {
  return flags[DRY_RUN_FLAG.name] === true;
}

export function bookCommand({ words = [], flags = [], asks, run, ...rest }: BookCommand): Command {
  return {
    ...rest,
    words,
    flags: [...flags, ...(asks ? [YES_FLAG] : []), JSON_FLAG, ...CONNECT_FLAGS],
    async run(context) {
      if (asks && !isDryRun(context.flags) && !(await confirmed(asks(context), context.flags))) {
        context.printError("weir: nothing was changed");
        return 1;
      }
      return runConnected(context, run);
    },
  };
}

/** Connects to the admin API and runs a command. Its flags are at least those of CONNECT_FLAGS. @returns the exit code */
export async function runConnected(context: Context, run: BookCommand["run"]): Promise<number> {
  const api = await connect(context);
  const show = (value: unknown, text: () => string) =>
    context.print(context.flags["--json"] ? JSON.stringify(value, null, 2) : text());
  const warn = ({ warnings = [] }: Pick<Key, "warnings">) => {
    for (const warning of warnings) context.printError(`weir: ${warning}`);
  };
  try {
    return (await run({ ...context, api, show, warn })) ?? 0;
  } finally {
    await api.close();
  }
}
