/** The command line: runs a command and turns errors into a sentence and an exit code. */
import { ConfigError, EXIT_CONFIG } from "../config/error.ts";
import { VERSION } from "../version.ts";
import { UsageError } from "./command.ts";
import { COMMANDS } from "./commands.ts";
import { commandHelp, generalHelp, groupHelp } from "./help.ts";
import { parse } from "./parse.ts";

const EXIT_USAGE = 2;

/** Runs the command that the arguments name; without a command, `serve`. @returns the exit code */
export async function run(args: readonly string[]): Promise<number> {
  const print = (text: string) => void process.stdout.write(`${text}\n`);
  const printError = (text: string) => void process.stderr.write(`${text}\n`);
  for (const stream of [process.stdout, process.stderr]) stream.on("error", ignoreClosedPipe);
  try {
    const parsed = parse(args, COMMANDS);
    if (parsed.kind === "version") return (print(VERSION), 0);
    if (parsed.kind === "help") {
      const { command, group } = parsed;
      print(command ? commandHelp(command) : group ? groupHelp(group, COMMANDS) : generalHelp(COMMANDS));
      return 0;
    }
    const { command, words, flags } = parsed;
    return await command.run({ words, flags, env: process.env, cwd: process.cwd(), print, printError });
  } catch (thrown) {
    const message = thrown instanceof Error ? thrown.message : String(thrown);
    printError(`weir: ${message}`);
    return thrown instanceof UsageError ? EXIT_USAGE : thrown instanceof ConfigError ? EXIT_CONFIG : 1;
  }
}

/** `weir models | head -1` closes the pipe early: output after that is discarded without an error. */
function ignoreClosedPipe(fault: Error & { code?: string }): void {
  if (fault.code !== "EPIPE") throw fault;
}
