/** `weir reload`: makes a running gateway reload its config and plugins, and prints the result. */
import { signalProcess } from "../exit.ts";
import type { Command } from "./command.ts";
import { readRunFile, type RunningGateway, runningGateways } from "./run-file.ts";

/** Maximum time for a reload, in which plugins pass the preflight and models are checked. Milliseconds. */
const RELOAD_TIMEOUT_MS = 60_000;

export const reload: Command = {
  name: "reload",
  summary: "reload the config and plugins of the running gateway",
  words: [],
  flags: [{ name: "--port", value: "PORT", help: "port of the gateway, if several are running" }],
  async run({ flags, env, print, printError }) {
    // A gateway that runs for a client passes the signal on to it.
    const running = runningGateways(env).filter(({ isForClient }) => !isForClient);
    const port = flags["--port"] === undefined ? undefined : Number(flags["--port"]);
    const found = port === undefined ? running : running.filter((entry) => entry.port === port);
    const [entry] = found;
    if (!entry) {
      const where = port === undefined ? "" : ` on port ${port}`;
      printError(
        `weir: no gateway of this user is running${where}; if one runs elsewhere, reload it with kill -HUP PID`,
      );
      return 1;
    }
    if (found.length > 1) {
      const ports = found.map((one) => one.port).join(", ");
      printError(`weir: several gateways are running; choose one with --port (${ports})`);
      return 1;
    }
    const outcome = await reloadGateway(entry);
    if (outcome?.ok) print(outcome.message);
    else printError(`weir: ${outcome?.message ?? UNKNOWN}`);
    return outcome?.ok ? 0 : 1;
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
