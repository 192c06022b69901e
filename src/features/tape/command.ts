/** Parts that `weir record` and `weir replay` share. */
import type { Config } from "../../config/schema.ts";
import { ANY_KEY, pointClient } from "../../cli/clients/index.ts";
import type { Context } from "../../cli/command.ts";
import { runClient } from "../../cli/run-client.ts";
import type { RunningClient } from "../../cli/serve.ts";

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

/** Starts a client of the tape. @param ended turns its exit code into that of weir */
export function runTapeClient(
  { rest = [], env, ...context }: Pick<Context, "rest" | "env" | "cwd" | "printError">,
  url: string,
  ended: (code: number) => number,
): RunningClient {
  const client = runClient(pointClient(rest, { url, key: env["WEIR_API_KEY"] ?? ANY_KEY }, env), context);
  return { ...client, exited: client.exited.then(ended) };
}
