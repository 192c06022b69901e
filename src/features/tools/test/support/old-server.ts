/** A server of the transport HTTP+SSE (revision 2024-11-05). */
import type { JsonObject } from "../../../../core/json.ts";
import { definition, text } from "./servers.ts";

export interface OldServer {
  readonly url: string;
  /** Where its first event sends the client; default: its own. */
  endpoint: string;
  /** Ends all streams. */
  cut(): void;
  stop(): void;
}

export function oldServer(): OldServer {
  const encoder = new TextEncoder();
  const streams = new Map<string, ReadableStreamDefaultController<Uint8Array>>();
  const asked = new Map<unknown, (answer: JsonObject) => void>();
  const send = (stream: string, message: JsonObject) =>
    streams.get(stream)?.enqueue(encoder.encode(`event: message\ndata: ${JSON.stringify(message)}\n\n`));
  const resultOf = async (stream: string, method: string, params: JsonObject): Promise<JsonObject> => {
    if (method === "initialize")
      return {
        protocolVersion: "2024-11-05",
        capabilities: { tools: {} },
        serverInfo: { name: "old", version: "1" },
      };
    if (method === "tools/list") return { tools: [definition("echo"), definition("ask")] };
    if (params["name"] === "echo") return text(JSON.stringify(params["arguments"]));
    const { promise, resolve } = Promise.withResolvers<JsonObject>();
    asked.set("q1", resolve);
    send(stream, { jsonrpc: "2.0", id: "q1", method: "elicitation/create", params: { message: "?" } });
    return text(JSON.stringify((await promise)["result"]));
  };
  const server = Bun.serve({
    ...{ port: 0, hostname: "127.0.0.1", idleTimeout: 0 },
    async fetch(request) {
      const { pathname, searchParams } = new URL(request.url);
      if (pathname === "/sse" && request.method === "GET") {
        const id = crypto.randomUUID();
        const body = new ReadableStream<Uint8Array>({
          start(controller) {
            streams.set(id, controller);
            const endpoint = old.endpoint === "" ? `/messages?session=${id}` : old.endpoint;
            controller.enqueue(encoder.encode(`event: endpoint\ndata: ${endpoint}\n\n`));
          },
          cancel: () => void streams.delete(id),
        });
        return new Response(body, { headers: { "content-type": "text/event-stream" } });
      }
      if (pathname !== "/messages")
        return new Response("<h1>Not Found</h1>", { status: 404, headers: { "content-type": "text/html" } });
      const stream = searchParams.get("session")!;
      const {
        id,
        method,
        params = {},
        ...answer
      } = (await request.json()) as { id?: number; method?: string; params?: JsonObject };
      if (method === undefined) asked.get(id)?.(answer as JsonObject);
      else if (id !== undefined)
        void resultOf(stream, method, params).then((result) => send(stream, { jsonrpc: "2.0", id, result }));
      return new Response("Accepted", { status: 202 });
    },
  });
  const old: OldServer = {
    ...{ url: `http://127.0.0.1:${server.port}/sse`, endpoint: "" },
    cut() {
      for (const controller of streams.values()) controller.close();
      streams.clear();
    },
    stop: () => void server.stop(true),
  };
  return old;
}
