/** `weir upgrade`: the executable that is on the disk now takes the place of the running gateway, without an outage. */
import { resolve } from "node:path";
import { loadConfig } from "../../config/load.ts";
import { signalProcess } from "../../process/exit.ts";
import { readRunFile, type RunningGateway } from "../../run/run-file.ts";
import { chooseRunning } from "../choose-running.ts";
import { type Command, configOptions, type Context, type Flag, JSON_FLAG, SERVE_FLAGS } from "../command.ts";
import { writeOrder } from "./order.ts";

/** Maximum time until the next gateway serves, or has failed. It has 75 s to load plugins, and 60 s to serve. Milliseconds. */
const PATIENCE_MS = 11 * 60_000;

/** A config with this port may well not say one. */
const DEFAULT_PORT = 9347;

/** Flags that name the gateway, or what an upgrade cannot change. */
const FIXED_FLAGS = ["--port", "--host", "--state"];

const OWN_FLAGS: readonly Flag[] = [
  { name: "--port", value: "PORT", help: "port of the gateway, if several are running (default WEIR_PORT)" },
  {
    name: "--executable",
    value: "FILE",
    help: "start this one (default: the file of the running gateway, as it is now)",
    completes: "file",
  },
];

const NEXT_FLAGS = SERVE_FLAGS.filter(({ name }) => !FIXED_FLAGS.includes(name));

export const upgrade: Command = {
  name: "upgrade",
  summary: "replace the running gateway by the executable that is on the disk now; no call is lost",
  words: [],
  flags: [...OWN_FLAGS, ...NEXT_FLAGS, JSON_FLAG],
  async run(context) {
    const { flags, print } = context;
    const entry = running(context);
    const next = await replace(entry, {
      flags: NEXT_FLAGS.flatMap(({ name, completes }) => flagOf(name, completes, context)),
      executable: pathIn(flags["--executable"], context),
    });
    if (flags["--json"])
      print(JSON.stringify({ upgraded: { port: next.port, pid: next.pid, before: entry.pid } }));
    else print(`the gateway on port ${next.port} was replaced (pid ${entry.pid}, now ${next.pid})`);
    return 0;
  },
};

/** The gateway on the port of the flag, of `WEIR_PORT` or of the config; the only one, where these name none. */
function running(context: Context): RunningGateway {
  const { flags, env } = context;
  const wanted =
    typeof flags["--port"] === "string" ? flags["--port"] : env["WEIR_PORT"] || portOfConfig(context);
  return chooseRunning(env, {
    ...(wanted !== undefined && { port: wanted }),
    elsewhere: "if one runs elsewhere, upgrade it with kill -USR2 PID",
  });
}

/** @returns undefined without a config that names one; a faulty config is for the gateway to report */
function portOfConfig(context: Context): string | undefined {
  try {
    const { port } = loadConfig(configOptions(context)).config;
    return port === DEFAULT_PORT || port === 0 ? undefined : String(port);
  } catch {
    return undefined;
  }
}

/** @returns the flag as the next gateway gets it: its folder may be another one than that of the command */
function flagOf(name: string, completes: Flag["completes"], context: Context): string[] {
  const value = context.flags[name];
  if (typeof value !== "string") return [];
  return [`${name}=${completes === "file" || completes === "folder" ? pathIn(value, context) : value}`];
}

function pathIn(value: string | true | undefined, { cwd }: Context): string | undefined {
  return typeof value === "string" ? resolve(cwd, value) : undefined;
}

/** @returns the entry of the next gateway @throws Error with one sentence */
async function replace(
  entry: RunningGateway,
  { flags, executable }: { flags: string[]; executable: string | undefined },
): Promise<{ pid: number; port: number }> {
  const before = entry.upgrade?.count ?? 0;
  writeOrder(entry.path, { flags, ...(executable !== undefined && { executable }) });
  signalProcess(entry.pid, "SIGUSR2");
  for (const until = performance.now() + PATIENCE_MS; performance.now() < until; await Bun.sleep(25)) {
    const now = readRunFile(entry.path);
    if (!now) throw new Error("the gateway has ended; see its log");
    if (now.pid !== entry.pid) return now;
    if (now.upgrade && now.upgrade.count !== before) throw new Error(now.upgrade.message);
  }
  throw new Error("the gateway did not report the result of the upgrade in time; see its log");
}
