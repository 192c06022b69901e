/** `weir stop`: ends a running gateway as a service manager does, and waits until its answers have ended. */
import { signalProcess } from "../process/exit.ts";
import { chooseRunning } from "./choose-running.ts";
import { type Command, JSON_FLAG } from "./command.ts";
import { readRunFile } from "../run/run-file.ts";

/** `graceMs` is 30 s unless the config says otherwise, and at most ten minutes. Milliseconds. */
const PATIENCE_MS = 11 * 60_000;
/** When the command says what it waits for. Milliseconds. */
const TELL_MS = 1_000;

export const stop: Command = {
  name: "stop",
  summary: "stop the running gateway; answers that run may end first",
  words: [],
  flags: [{ name: "--port", value: "PORT", help: "port of the gateway, if several are running" }, JSON_FLAG],
  async run({ flags, env, print, printError }) {
    const port = typeof flags["--port"] === "string" ? flags["--port"] : undefined;
    const entry = chooseRunning(env, { port, elsewhere: "if one runs elsewhere, stop it with kill PID" });
    signalProcess(entry.pid, "SIGTERM");
    const beganAt = performance.now();
    let hasTold = false;
    while (readRunFile(entry.path) !== undefined) {
      const waited = performance.now() - beganAt;
      if (waited > PATIENCE_MS)
        throw new Error(
          `the gateway (pid ${entry.pid}) did not end in time; end it with kill -KILL ${entry.pid}`,
        );
      if (!hasTold && waited > TELL_MS) {
        hasTold = true;
        printError(`waiting for the answers that the gateway (pid ${entry.pid}) still sends …`);
      }
      await Bun.sleep(25);
    }
    const { pid, folder } = entry;
    if (flags["--json"]) print(JSON.stringify({ stopped: { port: entry.port, pid, folder } }));
    else
      print(
        `stopped the gateway on ${entry.port === 0 ? "its unix socket" : `port ${entry.port}`} (pid ${pid})`,
      );
    return 0;
  },
};
