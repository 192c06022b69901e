/** What one caller sees at one endpoint: the servers, and the tools that it may use of them. */
import type { JsonObject } from "../../../core/json.ts";
import type { Caller } from "../asks.ts";
import { permits } from "../declarations.ts";
import type { Held, Server } from "../servers/server.ts";
import { CODE, McpError } from "../wire/messages.ts";
import { paramHeadersOf } from "../wire/param-headers.ts";
import { type Exchange, ownerOf } from "./exchange.ts";
import { fullName, mergedName, splitName } from "./names.ts";

/** A tool with its server, while a request uses the connection. */
export interface Found {
  readonly server: Server;
  /** As its server lists it. */
  readonly tool: JsonObject;
  readonly held: Held;
}

/** Which definitions of a server may be shown: pins. */
export type Shown = (server: string, definitions: readonly JsonObject[]) => readonly JsonObject[];

export class View {
  readonly servers: readonly Server[];
  /** Names have the server in front. */
  readonly isMerged: boolean;
  readonly #caller: Caller;
  readonly #shown: Shown;

  /** @throws McpError for an endpoint that is not the caller's: it looks as if it did not exist */
  constructor(all: ReadonlyMap<string, Server>, caller: Caller, endpoint: string | undefined, shown: Shown) {
    this.#caller = caller;
    this.#shown = shown;
    this.isMerged = endpoint === undefined;
    const named =
      endpoint === undefined ? caller.servers : caller.servers.filter((name) => name === endpoint);
    this.servers = named.flatMap((name) => all.get(name) ?? []);
    if (endpoint !== undefined && this.servers.length === 0) throw unknownEndpoint(endpoint);
  }

  /** The name of a tool or prompt at this endpoint. */
  outward({ name }: Server, own: string): string {
    return this.isMerged ? mergedName(name, own) : own;
  }

  /** The tools of a server that the caller may use, as the server lists them. */
  async tools(server: Server, held: Held, stop: AbortSignal, fresh = false): Promise<readonly JsonObject[]> {
    const all = await held.tools(stop, fresh);
    return this.#shown(server.name, all).filter((tool) => this.#permits(server, tool));
  }

  /** @throws McpError the same for a tool that does not exist and for one that the caller may not use */
  async find(exchange: Exchange, name: string): Promise<Found> {
    const { stop } = exchange;
    const split = this.isMerged ? splitName(name) : { server: this.servers[0]!.name, rest: name };
    const server = this.servers.find((one) => one.name === split?.server);
    if (!server || !split) throw unknownTool(name);
    const held = await server.hold(ownerOf(exchange), stop);
    try {
      const tools = await this.tools(server, held, stop);
      const tool =
        tools.find((one) => one["name"] === split.rest) ??
        tools.find((one) => this.outward(server, String(one["name"])) === name);
      if (!tool) throw unknownTool(name);
      return { server, tool, held };
    } catch (thrown) {
      held.release();
      throw thrown;
    }
  }

  #permits({ name, config }: Server, tool: JsonObject): boolean {
    const own = tool["name"];
    if (typeof own !== "string") return false;
    if (config.only.length > 0 && !permits(config.only, own)) return false;
    if (this.#caller.tools && !permits(this.#caller.tools, fullName(name, own))) return false;
    return typeof paramHeadersOf(tool["inputSchema"]) !== "string";
  }
}

export function unknownTool(name: string): McpError {
  return new McpError(CODE.params, `Unknown tool: ${name}`);
}

function unknownEndpoint(name: string): McpError {
  return new McpError(CODE.request, `There is no tools server ${name} here.`, { status: 404 });
}
