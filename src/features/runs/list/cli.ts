/** `weir runs [RUN]`. */
import type { Context } from "../../../cli/command.ts";

/** @returns the exit code */
export async function run(context: Context): Promise<number> {
  context.print("");
  return 0;
}
