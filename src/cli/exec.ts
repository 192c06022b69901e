/** `weir exec -- COMMAND`: runs a client with the gateway in front of it. */
import type { Command, Context } from "./command.ts";
import { UsageError } from "./command.ts";
import { severalRunning } from "./choose-running.ts";
import { type RunningGateway, runningGateways } from "./run-file.ts";
import { SERVE_FLAGS } from "./serve.ts";

/** Flags of a gateway that weir starts. With one of them it does not use a gateway that runs already. */
const OWN_FLAGS = ["--config", "--plugins", "--state", "--log-level"];

export const exec: Command = {
  name: "exec",
  summary: "run a client, such as claude, codex or a program with an SDK, with the gateway in front of it",
  words: [],
  rest: "COMMAND",
  needsRest: true,
  flags: [
    { name: "--model", value: "MODEL", help: "the model that the client asks for (default: its own choice)" },
    {
      name: "--url",
      value: "URL",
      help: "base URL of the gateway (default: WEIR_URL, the gateway that this user runs, or one that ends with the client)",
    },
    {
      name: "--port",
      value: "PORT",
      help: "port of the gateway; weir starts one there if none runs (0: a free port)",
    },
    ...SERVE_FLAGS.filter(({ name }) => OWN_FLAGS.includes(name)),
  ],
  async run(context) {
    const { rest = [], flags, env, cwd } = context;
    const [program] = rest;
    if (program === undefined)
      throw new UsageError("weir exec requires a command behind --: weir exec -- claude");
    const { missingCommand } = await import("./run-client.ts");
    const code = missingCommand(program, { env, cwd }, context.printError);
    if (code !== undefined) return code;
    const url = chooseUrl(context);
    if (url === undefined) return (await import("./exec-own.ts")).runWithOwn(context);
    const running = runningGateways(env).find(({ port }) => isAt(url, port));
    return (await import("./exec-running.ts")).runWith(
      { url, admin: running?.admin },
      context,
      flags["--model"],
    );
  },
};

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
