/** Runs a client of the gateway as a child process, and passes signals on to it. */
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import type { Pointed } from "./clients/index.ts";
import type { Context } from "./command.ts";
import type { RunningClient } from "./serve.ts";

/** Exit codes of shells for a command that does not exist, and for one that cannot be run. */
const EXIT_NO_COMMAND = 127;
const EXIT_CANNOT_RUN = 126;

const NO_COMMAND = "there is no such command";
const NO_PROGRAM = "it is no program, or this user may not execute it";

/** Signals that mean nothing to weir. `SIGINT` and `SIGTERM` come over {@link RunningClient.signal}. */
const PASSED = ["SIGQUIT", "SIGUSR1", "SIGUSR2"] as const;
/** A terminal sends these to every process in its foreground, so that the client has them already. */
const FROM_TERMINAL: readonly string[] = ["SIGINT", "SIGQUIT"];

/**
 * Looks for a program before anything is started for it.
 * @returns the exit code if it does not exist or cannot be run, and says so
 */
export function missingCommand(
  program: string,
  { env, cwd }: Pick<Context, "env" | "cwd">,
  printError: Context["printError"],
): number | undefined {
  if (Bun.which(program, { PATH: env["PATH"] ?? "", cwd }) !== null) return undefined;
  const isThere = program.includes("/") && existsSync(resolve(cwd, program));
  printError(`weir: ${program} cannot be run: ${isThere ? NO_PROGRAM : NO_COMMAND}`);
  return isThere ? EXIT_CANNOT_RUN : EXIT_NO_COMMAND;
}

/**
 * Starts a client, with the input and output of weir. Its exit code is that of a shell: 127 if it does not exist, 126 if it cannot be
 * run, 128 and the number of the signal that ended it.
 */
export function runClient(
  { command, env, cleanup }: Pick<Pointed, "command" | "env" | "cleanup">,
  { cwd, printError }: Pick<Context, "cwd" | "printError">,
): RunningClient {
  try {
    const client = Bun.spawn([...command], { cwd, env, stdio: ["inherit", "inherit", "inherit"] });
    const signal = (name: NodeJS.Signals) => {
      if (!FROM_TERMINAL.includes(name) || !process.stdin.isTTY) client.kill(name);
    };
    for (const name of PASSED) process.on(name, () => signal(name));
    return { exited: client.exited.finally(cleanup), signal };
  } catch (cause) {
    cleanup();
    const isMissing = cause instanceof Error && "code" in cause && cause.code === "ENOENT";
    const why = isMissing ? NO_COMMAND : sentenceOf(cause);
    printError(`weir: ${command[0]} cannot be run: ${why}`);
    return { exited: Promise.resolve(isMissing ? EXIT_NO_COMMAND : EXIT_CANNOT_RUN), signal() {} };
  }
}

function sentenceOf(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause);
}
