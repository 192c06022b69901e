/** What one caller sees at one endpoint: the servers, and the tools that it may use of them. */
import type { JsonObject } from "../../../core/json.ts";
import type { Caller } from "../asks.ts";
import type { Held, Server } from "../servers/server.ts";
import { CODE, McpError } from "../wire/messages.ts";
import { type Exchange, ownerOf } from "./exchange.ts";
import { mergedName, splitName } from "./names.ts";

/** A tool with its server, while a request uses the connection. */
export interface Found {
  readonly server: Server;
  /** As its server lists it. */
  readonly tool: JsonObject;
  readonly held: Held;
}

/** What a caller may use of a list of a server. */
export interface Usable {
  readonly tools: readonly JsonObject[];
  /** By the name at the server. */
  readonly byName: ReadonlyMap<string, JsonObject>;
}

/** Finds it. */
export type Use = (server: Server, definitions: readonly JsonObject[], caller: Caller) => Usable;

export class View {
  readonly servers: readonly Server[];
  /** Names have the server in front. */
  readonly isMerged: boolean;
  readonly #caller: Caller;
  readonly #use: Use;

  /** @throws McpError for an endpoint that is not the caller's: it looks as if it did not exist */
  constructor(all: ReadonlyMap<string, Server>, caller: Caller, endpoint: string | undefined, use: Use) {
    this.#caller = caller;
    this.#use = use;
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
  async tools(server: Server, held: Held, stop: AbortSignal, fresh = false): Promise<Usable> {
    return this.#use(server, await held.tools(stop, fresh), this.#caller);
  }

  /** @throws McpError the same for a tool that does not exist and for one that the caller may not use */
  async find(exchange: Exchange, name: string): Promise<Found> {
    const { stop } = exchange;
    const split = this.isMerged ? splitName(name) : { server: this.servers[0]!.name, rest: name };
    const server = this.servers.find((one) => one.name === split?.server);
    if (!server || !split) throw unknownTool(name);
    const held = await server.hold(ownerOf(exchange), stop);
    try {
      const { tools, byName } = await this.tools(server, held, stop);
      const tool =
        byName.get(split.rest) ?? tools.find((one) => this.outward(server, String(one["name"])) === name);
      if (tool) return { server, tool, held };
      // Nothing is forbidden here, so that a server which does not list all of its tools may answer itself.
      if (this.isMerged || this.#isRestricted(server)) throw unknownTool(name);
      return { server, tool: { name }, held };
    } catch (thrown) {
      held.release();
      throw thrown;
    }
  }

  #isRestricted({ config: { only } }: Server): boolean {
    const { tools, pin } = this.#caller;
    return only.length > 0 || tools !== undefined || pin === "approve";
  }
}

export function unknownTool(name: string): McpError {
  return new McpError(CODE.params, `Unknown tool: ${name}`);
}

function unknownEndpoint(name: string): McpError {
  return new McpError(CODE.request, `There is no tools server ${name} here.`, { status: 404 });
}
