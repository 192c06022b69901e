/** `weir health`: whether the gateway accepts calls, for the health checks of containers that have no other program. */
import { isObject, parseJson } from "../core/json.ts";
import { type Command, type Context, JSON_FLAG } from "./command.ts";
import { runningGateways } from "../run/run-file.ts";

/** Health checks of containers wait longer. Milliseconds. */
const PATIENCE_MS = 5000;

export const health: Command = {
  name: "health",
  summary: "ask the running gateway whether it accepts calls; exits with 1 if it does not",
  words: [],
  flags: [
    { name: "--url", value: "URL", help: "base URL of the gateway (default: the one that this user runs)" },
    { name: "--port", value: "PORT", help: "its port on this machine (default WEIR_PORT)" },
    JSON_FLAG,
  ],
  async run(context) {
    const urls = addressesIn(context);
    const answer = await healthAt(urls);
    if (answer === undefined)
      throw new Error(`no gateway answers at ${urls.join(" or ")}; start one with weir serve`);
    const { status, text, url } = answer;
    const state = parseJson(text);
    if (!isObject(state) || typeof state.status !== "string")
      throw new Error(`what answers at ${url} is not weir`);
    const line = [state.status, state.version, state.degraded ?? []].flat().join(" ");
    context.print(context.flags["--json"] ? text.trim() : line);
    return status === 200 ? 0 : 1;
  },
};

/** It needs no config: a gateway that flags or another file configured is found too. */
function addressesIn({ flags, env }: Context): string[] {
  const url = flags["--url"];
  if (typeof url === "string") return [url.replace(/\/+$/, "")];
  const running = runningGateways(env).filter(({ isForClient }) => !isForClient);
  const only = running.length === 1 ? running[0]!.port : undefined;
  const port = flags["--port"] ?? env["WEIR_PORT"] ?? only ?? 9347;
  return [`http://127.0.0.1:${port}`, `https://127.0.0.1:${port}`];
}

interface Health {
  url: string;
  status: number;
  /** JSON, if weir answers there. */
  text: string;
}

/** The answer of `/health` at the first address that answers. @returns undefined if none does */
export async function healthAt(urls: readonly string[]): Promise<Health | undefined> {
  for (const url of urls) {
    try {
      const response = await fetch(`${url}/health`, {
        signal: AbortSignal.timeout(PATIENCE_MS),
        // The certificate has the name under which clients know the gateway.
        tls: { rejectUnauthorized: false },
      });
      return { url, status: response.status, text: await response.text() };
    } catch {
      // The next address may answer.
    }
  }
  return undefined;
}
