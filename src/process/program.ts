/** The command line with which weir starts another process of itself. */

/** First argument of a preflight process; a token and the files follow. */
export const PREFLIGHT_FLAG = "--rehearse-plugins";

/** First argument of a keeper process; the path of its socket follows. */
export const KEEPER_FLAG = "--keeper";

/** First argument of the process of a feature; its name and the path of its socket follow. */
export const SERVICE_FLAG = "--service";

/**
 * On Linux this is the file that the process was started from, even if an upgrade removed or replaced it since: all processes
 * of a gateway run the same version.
 */
const EXECUTABLE = process.platform === "linux" ? "/proc/self/exe" : process.execPath;

export interface ProgramCommand {
  cmd: string[];
  /** The program name in process lists. */
  argv0: string;
}

/** @param args arguments without the program itself */
export function programCommand(args: readonly string[]): ProgramCommand {
  return { cmd: [EXECUTABLE, ...scriptArgs(), ...args], argv0: process.execPath };
}

/** The compiled binary contains its script. */
export function scriptArgs(): string[] {
  return Bun.isStandaloneExecutable ? [] : [mainModule()];
}

/** The path of the entry point, which is also that of a thread. */
export function mainModule(): string {
  return Bun.isStandaloneExecutable ? Bun.main : Bun.fileURLToPath(new URL("../main.ts", import.meta.url));
}
