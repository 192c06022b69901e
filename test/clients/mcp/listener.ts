/** Stands between a client and a gateway, and notes which revision of the protocol the client speaks to `/mcp`. */
import { parseJson } from "../../../src/core/json.ts";
import { object } from "../job/language.ts";

export interface Listener {
  readonly url: string;
  /** Each message to `/mcp`: its method, the revision in its header, the status of the answer, and whose tools it lists. */
  readonly seen: readonly string[];
  /** Revisions in the headers, or what a handshake asked for, in order. */
  revisions(): string[];
  stop(): void;
}

export function startListener(gateway: string): Listener {
  const seen: string[] = [];
  const started = performance.now();
  const at = (since: number) =>
    `${Math.round(since - started)} to ${Math.round(performance.now() - started)} ms`;
  const revisions = new Set<string>();
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    idleTimeout: 0,
    async fetch(request) {
      const { pathname, search } = new URL(request.url);
      const headers = new Headers(request.headers);
      headers.set("accept-encoding", "identity");
      headers.delete("host");
      const body = request.method === "POST" ? await request.text() : undefined;
      const { method, signal } = request;
      const since = performance.now();
      const answer = await fetch(gateway + pathname + search, { method, headers, body, signal });
      if (pathname !== "/mcp") seen.push(`${method} ${pathname} from ${at(since)}`);
      else {
        const message = object(parseJson(body ?? ""));
        const asked = message["method"] === "initialize" && object(message["params"])["protocolVersion"];
        const revision = headers.get("mcp-protocol-version") ?? (asked || undefined);
        if (typeof revision === "string") revisions.add(revision);
        seen.push(
          `${method} ${String(message["method"])} ${String(revision)} ${answer.status}, ${at(since)}`,
        );
        if (message["method"] === "tools/list") return listed(answer, seen, at);
      }
      return new Response(answer.body, { status: answer.status, headers: answer.headers });
    },
  });
  return {
    url: `http://127.0.0.1:${server.port}`,
    seen,
    revisions: () => [...revisions],
    stop: () => void server.stop(true),
  };
}

/** Notes the servers whose tools an answer lists, so that a missing one can be told from one that the client lost. */
async function listed(answer: Response, seen: string[], at: (since: number) => string): Promise<Response> {
  const text = await answer.text();
  const servers = [...text.matchAll(/"name":"(\w+)__/g)].map(([, server]) => server);
  seen.push(`tools of ${[...new Set(servers)].join(", ") || text.slice(0, 300)}, ${at(performance.now())}`);
  return new Response(text, { status: answer.status, headers: answer.headers });
}
