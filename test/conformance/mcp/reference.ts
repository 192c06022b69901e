/**
 * A server of both eras of the Model Context Protocol, with the tools, resources and prompts that the official suite calls: what
 * a gateway is judged against.
 *
 * `bun test/conformance/mcp/reference.ts [--port N] [--era modern|legacy]` serves `/mcp` on 127.0.0.1 and prints its URL;
 * `--stdio` serves the standard input and output instead.
 */
import { parseArgs } from "node:util";
import {
  createMcpHandler,
  type EventStore,
  fromJsonSchema,
  hostHeaderValidationResponse,
  isLegacyRequest,
  type JSONRPCMessage,
  localhostAllowedHostnames,
  localhostAllowedOrigins,
  McpServer,
  originValidationResponse,
  WebStandardStreamableHTTPServerTransport,
} from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { addCompletion, addPrompts, addResources, CACHE } from "./reference-lists.ts";
import { STATE } from "./reference-rounds.ts";
import { TOOLS } from "./reference-tools.ts";

export type ReferenceEra = "both" | "modern" | "legacy";

/** Hears that a list has changed, beside the servers of sessions. */
type Changed = (list: "tools" | "prompts") => void;

/** A server for one session, or for one request of the modern era. */
function makeServer(isModern: boolean, changed: Changed): McpServer {
  const server = new McpServer(
    { name: "weir-reference", version: "1.0.0" },
    {
      capabilities: {
        tools: { listChanged: true },
        prompts: { listChanged: true },
        resources: { subscribe: true, listChanged: true },
        logging: {},
        completions: {},
      },
      requestState: { verify: STATE.verify },
      cacheHints: {
        "tools/list": CACHE,
        "prompts/list": CACHE,
        "resources/list": CACHE,
        "resources/templates/list": CACHE,
      },
    },
  );
  for (const { name, description, schema, run } of TOOLS)
    server.registerTool(
      name,
      { description, inputSchema: fromJsonSchema<Record<string, unknown>>(schema) },
      (args, ctx) =>
        run(args, ctx, { client: server.server.getClientCapabilities() ?? {}, isModern, changed }),
    );
  addResources(server);
  addPrompts(server);
  addCompletion(server);
  return server;
}

/** Events of streams, so that a client that comes back gets what it missed. */
function eventStore(): EventStore {
  const events: { id: string; stream: string; message: JSONRPCMessage }[] = [];
  return {
    async storeEvent(stream, message) {
      const id = `${stream}.${events.length}`;
      events.push({ id, stream, message });
      return id;
    },
    async replayEventsAfter(lastEventId, { send }) {
      const index = events.findIndex(({ id }) => id === lastEventId);
      const stream = events[index]?.stream ?? "";
      for (const event of events.slice(index + 1))
        // The first event of a stream only gives the client an id to come back with.
        if (event.stream === stream && "jsonrpc" in event.message) await send(event.id, event.message);
      return stream;
    },
  };
}

/** Serves the revisions with sessions. */
class Sessions {
  readonly #open = new Map<
    string,
    { server: McpServer; transport: WebStandardStreamableHTTPServerTransport }
  >();
  readonly #changed: Changed;

  constructor(changed: Changed) {
    this.#changed = changed;
  }

  async fetch(request: Request): Promise<Response> {
    const id = request.headers.get("mcp-session-id");
    const known = id === null ? undefined : this.#open.get(id);
    if (known) return known.transport.handleRequest(request);
    if (id !== null) return new Response("Session not found", { status: 404 });
    const server = makeServer(false, this.#changed);
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => crypto.randomUUID(),
      eventStore: eventStore(),
      retryInterval: 500,
      onsessioninitialized: (session) => void this.#open.set(session, { server, transport }),
      onsessionclosed: (session) => void this.#open.delete(session),
    });
    await server.connect(transport);
    return transport.handleRequest(request);
  }

  tell(list: "tools" | "prompts"): void {
    for (const { server } of this.#open.values())
      if (list === "tools") server.sendToolListChanged();
      else server.sendPromptListChanged();
  }
}

/** Serves `/mcp` on a port of 127.0.0.1; 0 takes a free one. */
export function serveReference({ port = 0, era = "both" }: { port?: number; era?: ReferenceEra } = {}) {
  const changed: Changed = (list) => {
    sessions.tell(list);
    if (list === "tools") modern.notify.toolsChanged();
    else modern.notify.promptsChanged();
  };
  const sessions = new Sessions(changed);
  const modern = createMcpHandler(() => makeServer(true, changed), { legacy: "reject" });
  const server = Bun.serve({
    port,
    hostname: "127.0.0.1",
    idleTimeout: 0,
    async fetch(request) {
      const refused =
        hostHeaderValidationResponse(request, localhostAllowedHostnames()) ??
        originValidationResponse(request, localhostAllowedOrigins());
      if (refused) return refused;
      if (new URL(request.url).pathname !== "/mcp") return new Response("Not found", { status: 404 });
      if (era === "legacy") return sessions.fetch(request);
      if (era === "both" && (await isLegacyRequest(request))) return sessions.fetch(request);
      return modern.fetch(request);
    },
  });
  return { url: `http://127.0.0.1:${server.port}/mcp`, stop: () => server.stop(true) };
}

if (import.meta.main) {
  const { values } = parseArgs({
    options: {
      port: { type: "string", default: "0" },
      era: { type: "string", default: "both" },
      stdio: { type: "boolean", default: false },
    },
  });
  if (values.stdio)
    serveStdio(({ era }) => makeServer(era === "modern", () => {}), {
      legacy: values.era === "modern" ? "reject" : "serve",
    });
  else console.log(serveReference({ port: Number(values.port), era: values.era as ReferenceEra }).url);
}
