/** What `weir record` and `weir replay` have in common. */
import type { Config } from "../config/schema.ts";
import type { Context, Word } from "./command.ts";
import type { RunningClient } from "./serve.ts";

export const TAPE_FILE: Word = { name: "FILE", completes: "file" };

/** Exit code of shells for a command that does not exist. */
const EXIT_NO_COMMAND = 127;

/** One process has the tape, because the order of the calls counts. For a client of its own the gateway takes a free port and keeps its log to itself. */
export function adjustForTape(config: Config, { flags, rest = [] }: Pick<Context, "flags" | "rest">): Config {
  const isOwn = rest.length > 0;
  const port = isOwn && flags["--port"] === undefined ? 0 : config.port;
  const level = isOwn && flags["--log-level"] === undefined ? "silent" : config.log.level;
  return { ...config, workers: 1, port, log: { ...config.log, level } };
}

/** The start table with a line for the tape; for a client of its own only the line. */
export function describeTape(table: string, url: string, tape: string, rest: readonly string[]): string {
  return rest.length > 0 ? `weir: ${tape}; weir listens on ${url}` : `${table}\n  tape: ${tape}`;
}

/** Starts a client with the gateway's address in its environment. @param ended turns its exit code into that of weir */
export function runClient(
  command: readonly string[],
  url: string,
  { env, cwd, printError }: Pick<Context, "env" | "cwd" | "printError">,
  ended: (code: number) => number,
): RunningClient {
  try {
    const client = Bun.spawn([...command], {
      cwd,
      env: { ...env, ...clientEnvironment(url, env) },
      stdio: ["inherit", "inherit", "inherit"],
    });
    return {
      exited: client.exited.then(ended),
      signal(name) {
        // A terminal has sent it to the client too.
        if (name !== "SIGINT" || !process.stdin.isTTY) client.kill(name);
      },
    };
  } catch (cause) {
    printError(
      `weir: ${command[0]} cannot be run: ${cause instanceof Error ? cause.message : String(cause)}`,
    );
    return { exited: Promise.resolve(EXIT_NO_COMMAND), signal() {} };
  }
}

/** Where the SDKs of the vendors read the address. They refuse to start without any key. */
function clientEnvironment(url: string, env: Context["env"]): Record<string, string> {
  const key = env["WEIR_API_KEY"] ?? "weir";
  return {
    WEIR_URL: url,
    OPENAI_BASE_URL: `${url}/v1`,
    ANTHROPIC_BASE_URL: url,
    GOOGLE_GEMINI_BASE_URL: url,
    ...(env["OPENAI_API_KEY"] === undefined && { OPENAI_API_KEY: key }),
    ...(env["ANTHROPIC_API_KEY"] === undefined && { ANTHROPIC_API_KEY: key }),
    ...(env["GEMINI_API_KEY"] === undefined && { GEMINI_API_KEY: key }),
  };
}
