/** `weir exec -- COMMAND`: runs a client with the gateway in front of it. */
import { severalRunning } from "../../cli/choose-running.ts";
import { type Context, UsageError } from "../../cli/command.ts";
import { missingCommand } from "../../cli/run-client.ts";
import { type RunningGateway, runningGateways } from "../../run/run-file.ts";
import { OWN_FLAGS } from "./flags.ts";
import { runWith } from "./running.ts";

/** @returns the exit code */
export async function run(context: Context): Promise<number> {
  const { rest = [], flags, env, cwd } = context;
  const [program] = rest;
  if (program === undefined)
    throw new UsageError("weir exec requires a command behind --: weir exec -- claude");
  const code = missingCommand(program, { env, cwd }, context.printError);
  if (code !== undefined) return code;
  const url = chooseUrl(context);
  // A client of a gateway that runs needs none of the code that starts one.
  if (url === undefined) return (await import("./own.ts")).runWithOwn(context);
  const running = runningGateways(env).find(({ port }) => isAt(url, port));
  return runWith({ url, admin: running?.admin }, context, flags["--model"]);
}

/** The address of a gateway that runs already. @throws UsageError @throws Error with one sentence */
function chooseUrl({ flags, env }: Context): string | undefined {
  const given = flags["--url"];
  const own = OWN_FLAGS.find((name) => flags[name] !== undefined);
  if (typeof given === "string") {
    if (own !== undefined || flags["--port"] !== undefined)
      throw new UsageError(`--url names a gateway that runs; ${own ?? "--port"} cannot change it`);
    return readUrl(given, "--url");
  }
  if (own !== undefined) return undefined;
  const running = runningGateways(env).filter(({ port, isForClient }) => port !== 0 && !isForClient);
  if (flags["--port"] !== undefined) {
    const port = Number(flags["--port"]);
    return running.some((entry) => entry.port === port) ? urlOf(port) : undefined;
  }
  if (env["WEIR_URL"]) return readUrl(env["WEIR_URL"], "WEIR_URL");
  const entry = onlyOne(running, env["WEIR_PORT"]);
  return entry && urlOf(entry.port);
}

/** @throws Error if several run */
function onlyOne(running: readonly RunningGateway[], wanted: string | undefined): RunningGateway | undefined {
  const [first] = running;
  if (running.length <= 1) return first;
  const named = running.find(({ port }) => port === Number(wanted));
  if (named) return named;
  throw new Error(`${severalRunning(running)}\nor start one for this command with --port 0`);
}

function urlOf(port: number): string {
  return `http://127.0.0.1:${port}`;
}

function readUrl(text: string, name: string): string {
  const url = text.replace(/\/+$/, "").replace(/\/v1$/, "");
  if (!/^https?:\/\/./.test(url) || !URL.canParse(url))
    throw new UsageError(`${name} must be the base URL of a gateway, such as http://127.0.0.1:9347`);
  return url;
}

function isAt(url: string, port: number): boolean {
  const { hostname, port: own } = new URL(url);
  return ["127.0.0.1", "localhost", "[::1]"].includes(hostname) && Number(own) === port;
}
