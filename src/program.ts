/** How this program is started again, for a process of its own. */
import { fileURLToPath } from "node:url";

/**
 * On Linux the file that this process was started from, also when an upgrade has removed or replaced it since: all
 * processes of a gateway run one version.
 */
const EXECUTABLE = process.platform === "linux" ? "/proc/self/exe" : process.execPath;

export interface ProgramCommand {
  cmd: string[];
  /** What process lists show. */
  argv0: string;
}

/** @param args of the command line, without the program */
export function programCommand(args: readonly string[]): ProgramCommand {
  return { cmd: [EXECUTABLE, ...scriptArgs(), ...args], argv0: process.execPath };
}

/** The compiled binary holds its script. */
export function scriptArgs(): string[] {
  return Bun.isStandaloneExecutable ? [] : [fileURLToPath(new URL("./main.ts", import.meta.url))];
}
