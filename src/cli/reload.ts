/** `weir reload`: makes a running gateway reload its config and plugins, and prints the result. */
import { signalProcess } from "../process/exit.ts";
import { chooseRunning } from "./choose-running.ts";
import { type Command, JSON_FLAG } from "./command.ts";
import { readRunFile, type RunningGateway } from "./run-file.ts";

/** Maximum time for a reload, in which plugins pass the preflight and models are checked. Milliseconds. */
const RELOAD_TIMEOUT_MS = 60_000;

export const reload: Command = {
  name: "reload",
  summary: "reload the config and plugins of the running gateway",
  words: [],
  flags: [{ name: "--port", value: "PORT", help: "port of the gateway, if several are running" }, JSON_FLAG],
  async run({ flags, env, print }) {
    // A gateway that runs for a client passes the signal on to it.
    const port = typeof flags["--port"] === "string" ? flags["--port"] : undefined;
    const entry = chooseRunning(env, {
      port,
      elsewhere: "if one runs elsewhere, reload it with kill -HUP PID",
    });
    const outcome = await reloadGateway(entry);
    if (!outcome?.ok) throw new Error(outcome?.message ?? UNKNOWN);
    print(flags["--json"] ? JSON.stringify(outcome) : outcome.message);
    return 0;
  },
};

const UNKNOWN = "the gateway did not report the result of the reload in time; see its log";

/** Makes a gateway reload, and waits for the result. @returns undefined if it does not come in time */
export async function reloadGateway(
  entry: RunningGateway,
): Promise<{ ok: boolean; message: string } | undefined> {
  const before = entry.reload?.count ?? 0;
  signalProcess(entry.pid, "SIGHUP");
  for (const until = performance.now() + RELOAD_TIMEOUT_MS; performance.now() < until; await Bun.sleep(25)) {
    const now = readRunFile(entry.path);
    if (!now) return { ok: false, message: "the gateway has ended; see its log" };
    if (now.reload && now.reload.count !== before) return now.reload;
  }
  return undefined;
}
