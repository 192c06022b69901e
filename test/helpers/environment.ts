/** The environment of the programs that tests start. */
import { join } from "node:path";

/** weir keeps its state and its run files in the folder, and not where the user who runs the tests has them. */
export function environmentIn(folder: string, more: Record<string, string> = {}): Record<string, string> {
  return {
    PATH: process.env["PATH"] ?? "",
    HOME: folder,
    XDG_RUNTIME_DIR: join(folder, "run"),
    ...more,
  };
}
