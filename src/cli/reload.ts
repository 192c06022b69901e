/** `weir reload`: has a running gateway read its config and plugins again, and says what came of it. */
import type { Command } from "./command.ts";
import { readRunFile, runningGateways } from "./run-file.ts";

/** Plugins are rehearsed and models checked in that time. Milliseconds. */
const PATIENCE_MS = 60_000;

export const reload: Command = {
  name: "reload",
  summary: "have the running gateway read its config and plugins again",
  words: [],
  flags: [{ name: "--port", value: "PORT", help: "which gateway, where several run" }],
  async run({ flags, env, print, printError }) {
    const running = runningGateways(env);
    const port = flags["--port"] === undefined ? undefined : Number(flags["--port"]);
    const found = port === undefined ? running : running.filter((entry) => entry.port === port);
    const [entry] = found;
    if (!entry) {
      const where = port === undefined ? "" : ` on port ${port}`;
      printError(`weir: no gateway of yours runs${where}; kill -HUP PID reloads one that is not found here`);
      return 1;
    }
    if (found.length > 1) {
      const ports = found.map((one) => one.port).join(", ");
      printError(`weir: several gateways run; name one with --port (${ports})`);
      return 1;
    }
    const before = entry.reload?.count ?? 0;
    process.kill(entry.pid, "SIGHUP");
    for (const until = performance.now() + PATIENCE_MS; performance.now() < until; await Bun.sleep(25)) {
      const now = readRunFile(entry.path);
      if (!now) {
        printError("weir: the gateway has ended; see its log");
        return 1;
      }
      const outcome = now.reload;
      if (!outcome || outcome.count === before) continue;
      if (outcome.ok) print(outcome.message);
      else printError(`weir: ${outcome.message}`);
      return outcome.ok ? 0 : 1;
    }
    printError("weir: the gateway has not said what came of it; see its log");
    return 1;
  },
};
