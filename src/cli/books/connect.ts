/** Finds the gateway that a command of the books is about, and the credential of its admin API. */
import { chooseRunning } from "../choose-running.ts";
import type { Declared } from "./local.ts";
import type { Context, Flag } from "../command.ts";
import { type RunningGateway, runningGateways } from "../../run/run-file.ts";
import { type AdminApi, HttpApi } from "./api.ts";
import { textOf } from "./values.ts";

type Asked = Pick<Context, "flags" | "env"> & Declared;

/**
 * The gateway of `--url`, that of `--port` or `WEIR_PORT`, the only one that this user runs, or without one the store in the
 * state folder.
 * @throws Error with one sentence
 */
export async function connect({ flags, env, ...declared }: Asked): Promise<AdminApi> {
  const url = textOf(flags, "--url");
  if (url !== undefined) return new HttpApi(baseOf(url), keyFor(url, env));
  const folder = textOf(flags, "--state");
  // Imported by the commands that need it, because it loads the databases.
  if (folder !== undefined) return (await import("./local.ts")).LocalApi.open(folder, declared);
  const entry = findRunning({ flags, env });
  const { admin } = entry;
  if (admin === undefined)
    throw new Error(`the gateway on port ${entry.port} has no admin API; its config says admin: off`);
  return new HttpApi(admin.url, admin.credential, entry.port);
}

function findRunning({ flags, env }: Pick<Context, "flags" | "env">): RunningGateway {
  return chooseRunning(env, {
    port: textOf(flags, "--port") ?? (env["WEIR_PORT"] || undefined),
    forClients: true,
    elsewhere: "start one with weir serve, name one elsewhere with --url, or a state folder with --state",
  });
}

/** The variable, or the credential of the run file if the URL is that of a gateway of this user. */
function keyFor(url: string, env: Context["env"]): string {
  const key = env["WEIR_ADMIN_KEY"];
  if (key) return key;
  const own = runningGateways(env).find(({ admin }) => admin && baseOf(admin.url) === baseOf(url));
  if (own?.admin) return own.admin.credential;
  throw new Error(
    "set WEIR_ADMIN_KEY to an admin key of that gateway; weir admin key create makes one there",
  );
}

function baseOf(url: string): string {
  return url.replace(/\/+$/, "").replace(/\/admin\/v1$/, "");
}
