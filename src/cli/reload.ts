/** `weir reload`: makes a running gateway reload its config and plugins, and prints the result. */
import { chooseRunning } from "./choose-running.ts";
import { type Command, JSON_FLAG } from "./command.ts";
import { reloadGateway } from "../run/reload-running.ts";

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
