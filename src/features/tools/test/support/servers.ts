/** Small servers of both eras over HTTP, whose tools tests choose. */
import type { JsonObject } from "../../../../core/json.ts";

/** A call as a tool sees it. */
export interface FakeCall {
  readonly args: JsonObject;
  readonly params: JsonObject;
  readonly headers: Headers;
  /** The connection of the request has ended, or the client has cancelled. */
  readonly stop: AbortSignal;
  notify(method: string, params: JsonObject): void;
  /** Legacy servers: a request to the client. */
  ask(method: string, params: JsonObject): Promise<JsonObject>;
}

/** @returns the result; undefined ends the answer without one */
export type FakeTool = (call: FakeCall) => Promise<JsonObject | undefined> | JsonObject | undefined;

export interface FakeServer {
  readonly url: string;
  /** Requests by method, in order: `tools/call echo`. */
  readonly seen: string[];
  /** Bytes of bodies that have arrived, and headers of the last request. */
  bytes: number;
  headers: Headers;
  tools: JsonObject[];
  /** Entries of a page of lists; default: all. */
  page: number;
  /** Sessions that are known; clearing it expires all. */
  readonly sessions: Set<string>;
  /** Requests that the client cancelled. */
  readonly cancelled: unknown[];
  /** Asks the client on the stream of a session, beside all requests. */
  ask(method: string, params: JsonObject): Promise<JsonObject>;
  /** Tells sessions and listeners. */
  tell(method: string, params?: JsonObject): void;
  stop(): void;
}

export const text = (words: string): JsonObject => ({ content: [{ type: "text", text: words }] });

export const definition = (name: string, more: JsonObject = {}): JsonObject => ({
  name,
  description: `Does ${name}`,
  inputSchema: { type: "object" },
  ...more,
});

/** A server of one era. */
export function fakeServer(
  era: "modern" | "legacy",
  tools: Readonly<Record<string, FakeTool>>,
  more: { resources?: readonly JsonObject[] } = {},
): FakeServer {
  const listeners = new Set<(message: JsonObject) => void>();
  const answers = new Map<unknown, (answer: JsonObject) => void>();
  const running = new Map<unknown, AbortController>();
  let asked = 0;
  const fake: FakeServer = {
    ...{ url: "", seen: [], bytes: 0, headers: new Headers(), page: Infinity },
    tools: Object.keys(tools).map((name) => definition(name)),
    ...{ sessions: new Set<string>(), cancelled: [] },
    ask(method, params) {
      const { promise, resolve } = Promise.withResolvers<JsonObject>();
      answers.set(`s${++asked}`, resolve);
      for (const listener of listeners) listener({ jsonrpc: "2.0", id: `s${asked}`, method, params });
      return promise;
    },
    tell(method, params = {}) {
      for (const listener of listeners) listener({ jsonrpc: "2.0", method, params });
    },
    stop: () => void server.stop(true),
  };
  const complete = (result: JsonObject) =>
    era === "modern" && !("resultType" in result) ? { ...result, resultType: "complete" } : result;
  const paged = (member: string, all: readonly JsonObject[], cursor: unknown): JsonObject => {
    const from = Number(cursor ?? 0);
    const next = from + fake.page;
    return {
      [member]: all.slice(from, next),
      ...(next < all.length && { nextCursor: String(next) }),
      ...(era === "modern" && { ttlMs: 0, cacheScope: "private" }),
    };
  };
  const resultOf = (method: string, params: JsonObject): JsonObject | undefined => {
    const capabilities = {
      tools: { listChanged: true },
      ...(more.resources && { resources: { subscribe: true, listChanged: true } }),
    };
    const serverInfo = { name: `fake-${era}`, version: "1" };
    switch (method) {
      case "initialize":
        return era === "legacy" ? { protocolVersion: "2025-11-25", capabilities, serverInfo } : undefined;
      case "server/discover":
        return era === "modern"
          ? {
              ...{ supportedVersions: ["2026-07-28"], capabilities, ttlMs: 0, cacheScope: "private" },
              _meta: { "io.modelcontextprotocol/serverInfo": serverInfo },
            }
          : undefined;
      case "ping":
      case "logging/setLevel":
      case "resources/subscribe":
        return {};
      case "tools/list":
        return paged("tools", fake.tools, params["cursor"]);
      case "resources/list":
        return paged("resources", more.resources ?? [], params["cursor"]);
      case "resources/read":
        return {
          contents: [{ uri: params["uri"] as string, text: `of ${era}` }],
          ttlMs: 0,
          cacheScope: "private",
        };
      default:
        return undefined;
    }
  };
  const headersOf = (session?: string) => ({
    "content-type": "application/json",
    ...(session !== undefined && { "mcp-session-id": session }),
  });
  const server = Bun.serve({
    ...{ port: 0, hostname: "127.0.0.1", idleTimeout: 0 },
    async fetch(request) {
      fake.headers = request.headers;
      const session = request.headers.get("mcp-session-id");
      if (era === "legacy" && session !== null && !fake.sessions.has(session))
        return Response.json(
          { jsonrpc: "2.0", id: null, error: { code: -32001, message: "Session not found" } },
          { status: 404 },
        );
      if (request.method === "DELETE") {
        fake.sessions.delete(session ?? "");
        return new Response(null, { status: 204 });
      }
      if (request.method === "GET")
        return era === "legacy"
          ? streaming(
              (send) => void listeners.add(send),
              (send) => void listeners.delete(send),
            )
          : new Response(null, { status: 405 });
      const body = await request.text();
      fake.bytes += body.length;
      const message = JSON.parse(body) as JsonObject;
      const {
        id,
        method,
        params = {},
      } = message as { id?: string | number; method?: string; params?: JsonObject };
      if (method === undefined) {
        answers.get(id)?.(message);
        return new Response(null, { status: 202 });
      }
      fake.seen.push(method === "tools/call" ? `${method} ${String(params["name"])}` : method);
      if (id === undefined) {
        if (method === "notifications/cancelled") {
          fake.cancelled.push(params["requestId"]);
          running.get(params["requestId"])?.abort();
        }
        return new Response(null, { status: 202 });
      }
      if (era === "legacy" && method !== "initialize" && session === null)
        return Response.json(
          { jsonrpc: "2.0", id: null, error: { code: -32000, message: "Server not initialized" } },
          { status: 400 },
        );
      if (method === "subscriptions/listen" && era === "modern")
        return streaming(
          (send) => {
            send({
              jsonrpc: "2.0",
              method: "notifications/subscriptions/acknowledged",
              params: { notifications: params["notifications"] },
            });
            listeners.add(send);
          },
          (send) => void listeners.delete(send),
        );
      const respond = (answer: JsonObject) => JSON.stringify({ jsonrpc: "2.0", id, ...answer });
      if (method === "tools/call") {
        const tool = tools[String(params["name"])];
        if (!tool)
          return new Response(respond({ error: { code: -32602, message: "no such tool" } }), {
            headers: headersOf(),
          });
        const stopping = new AbortController();
        running.set(id, stopping);
        request.signal.addEventListener("abort", () => {
          if (era === "modern") fake.cancelled.push(id);
          stopping.abort();
        });
        return streaming(async (send, end) => {
          const result = await tool({
            ...{
              args: (params["arguments"] ?? {}) as JsonObject,
              params,
              headers: request.headers,
              stop: stopping.signal,
            },
            notify: (name, told) => send({ jsonrpc: "2.0", method: name, params: told }),
            ask(name, wanted) {
              const { promise, resolve } = Promise.withResolvers<JsonObject>();
              answers.set(`s${++asked}`, resolve);
              send({ jsonrpc: "2.0", id: `s${asked}`, method: name, params: wanted });
              return promise;
            },
          });
          if (result) send({ jsonrpc: "2.0", id, result: complete(result) });
          running.delete(id);
          end();
        });
      }
      const result = resultOf(method, params);
      if (!result)
        return new Response(respond({ error: { code: -32601, message: "Method not found" } }), {
          status: era === "modern" ? 404 : 200,
          headers: headersOf(),
        });
      const opened = method === "initialize" ? crypto.randomUUID() : undefined;
      if (opened) fake.sessions.add(opened);
      return new Response(respond({ result: complete(result) }), { headers: headersOf(opened) });
    },
  });
  Object.assign(fake, { url: `http://127.0.0.1:${server.port}/mcp` });
  return fake;
}

/** A stream of events. @param ended called when its reader has gone */
function streaming(
  begin: (send: (message: JsonObject) => void, end: () => void) => unknown,
  ended?: (send: (message: JsonObject) => void) => void,
): Response {
  const encoder = new TextEncoder();
  let send: (message: JsonObject) => void;
  let isOver = false;
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      send = (message) => {
        if (!isOver)
          controller.enqueue(encoder.encode(`event: message\ndata: ${JSON.stringify(message)}\n\n`));
      };
      const end = () => {
        if (!isOver) controller.close();
        isOver = true;
      };
      void begin(send, end);
    },
    cancel() {
      isOver = true;
      ended?.(send);
    },
  });
  return new Response(body, { headers: { "content-type": "text/event-stream" } });
}
