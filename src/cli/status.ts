/** `weir status`: the gateways that this user runs. */
import { isObject, parseJson } from "../core/json.ts";
import { listRunning } from "./choose-running.ts";
import { type Command, JSON_FLAG } from "./command.ts";
import { healthAt } from "./health.ts";
import type { RunningGateway } from "../run/run-file.ts";
import { table } from "./terminal.ts";

interface Status {
  port: number;
  pid: number;
  /** The working directory in which it was started. */
  folder?: string;
  /** Base URL of the admin API. */
  admin?: string;
  /** It ends with the client for which it runs. */
  forClient: boolean;
  /** The answer of `/health`; `no answer` if nothing answers there, `unknown` for a gateway on a unix socket. */
  status: string;
  version?: string;
  /** Parts that do not work at the moment. */
  degraded: string[];
}

export const status: Command = {
  name: "status",
  summary: "list the gateways that this user runs; exits with 1 if there is none",
  words: [],
  flags: [JSON_FLAG],
  async run({ flags, env, print }) {
    const found = await Promise.all(listRunning(env).map(statusOf));
    if (flags["--json"]) print(JSON.stringify({ gateways: found }, null, 2));
    else if (found.length === 0)
      throw new Error("no gateway of this user is running; start one with weir serve");
    else print(table([HEAD, ...found.map(rowOf)]));
    return found.length > 0 ? 0 : 1;
  },
};

const HEAD = ["port", "pid", "status", "version", "admin", "folder"];

function rowOf({ port, pid, folder, admin, forClient, status: state, version, degraded }: Status): string[] {
  const remarks = [...degraded.map((part) => `no ${part}`), ...(forClient ? ["for a client"] : [])];
  const said = remarks.length > 0 ? `${state} (${remarks.join(", ")})` : state;
  return [
    port === 0 ? "socket" : String(port),
    String(pid),
    said,
    version ?? "-",
    admin ?? "off",
    folder ?? "-",
  ];
}

async function statusOf({ port, pid, folder, admin, isForClient }: RunningGateway): Promise<Status> {
  const health =
    port === 0 ? undefined : await healthAt([`http://127.0.0.1:${port}`, `https://127.0.0.1:${port}`]);
  const said = health && parseJson(health.text);
  const { status: state, version, degraded } = isObject(said) ? said : {};
  return {
    ...{ port, pid, forClient: isForClient === true },
    ...(folder !== undefined && { folder }),
    ...(admin && { admin: admin.url }),
    status: typeof state === "string" ? state : port === 0 ? "unknown" : "no answer",
    ...(typeof version === "string" && { version }),
    degraded: Array.isArray(degraded) ? degraded.map(String) : [],
  };
}
