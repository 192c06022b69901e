/** What weir itself asks of the servers: for the books, for models, for commands. */
import { isObject, type JsonObject } from "../../../core/json.ts";
import type { Caller, CallAsk, ResolveAsk } from "../asks.ts";
import type { OfferedTool, OfferedTools } from "../bench.ts";
import type { Server } from "../servers/server.ts";
import { inTrace } from "../wire/trace.ts";
import { type Context, plainExchange } from "./context.ts";
import { ownerOf } from "./exchange.ts";
import { reasonOf } from "./lists.ts";
import { fullName } from "./names.ts";
import type { Pieces } from "./pieces.ts";
import type { View } from "./view.ts";

export class Inquiries {
  readonly #context: Context;

  constructor(context: Context) {
    this.#context = context;
  }

  /** @returns the whole name of a tool @throws McpError */
  async resolve({ caller, server, name }: ResolveAsk, stop: AbortSignal): Promise<JsonObject> {
    const found = await this.#context.view(caller, server).find(plainExchange(caller, stop), name);
    found.held.release();
    return { name: fullName(found.server.name, String(found.tool["name"])), server: found.server.name };
  }

  async tools(caller: Caller, stop: AbortSignal): Promise<OfferedTools> {
    const view = this.#context.view(caller, undefined);
    const parts = await Promise.allSettled(
      view.servers.map((server) => this.#offered(view, server, caller, stop)),
    );
    const unavailable = parts.flatMap((part, at) =>
      part.status === "rejected" ? [{ server: view.servers[at]!.name, reason: reasonOf(part.reason) }] : [],
    );
    return { tools: parts.flatMap((part) => (part.status === "fulfilled" ? part.value : [])), unavailable };
  }

  async #offered(view: View, server: Server, caller: Caller, stop: AbortSignal): Promise<OfferedTool[]> {
    const held = await server.hold(ownerOf(plainExchange(caller, stop)), stop);
    try {
      const { tools } = await view.tools(server, held, stop);
      return tools.map((tool) => {
        const { name, title, description, inputSchema, outputSchema, annotations } = tool;
        return {
          ...{ name: view.outward(server, String(name)), server: server.name, tool: String(name) },
          ...(typeof title === "string" && { title }),
          ...(typeof description === "string" && { description }),
          inputSchema: isObject(inputSchema) ? inputSchema : { type: "object" },
          ...(isObject(outputSchema) && { outputSchema }),
          ...(isObject(annotations) && { annotations }),
        };
      });
    } finally {
      held.release();
    }
  }

  async call(ask: CallAsk, pieces: Pieces, stop: AbortSignal): Promise<JsonObject> {
    const { caller, name, arguments: args } = ask;
    const sample = this.#context.samples.of(ask, pieces);
    const answered = await this.#context.answers.answer(
      { ...plainExchange(caller, stop), ...(sample && { sample }) },
      this.#context.view(caller, undefined),
      "tools/call",
      inTrace({ name, arguments: args }, ask.trace),
    );
    if ("result" in answered) return { result: answered.result };
    return { fault: { ...answered.error } };
  }
}
