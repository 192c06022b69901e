/** Which server has a resource, where several servers are merged. URIs pass unchanged, so that clients can interpret them. */
import { isObject } from "../../../core/json.ts";
import { allPages } from "../servers/pages.ts";
import type { Server } from "../servers/server.ts";
import { CODE, McpError } from "../wire/messages.ts";
import { type Exchange, ownerOf } from "./exchange.ts";
import type { View } from "./view.ts";

/** How long weir remembers which server lists a URI. Milliseconds. */
const KEEP_MS = 60_000;
const MOST_CALLERS = 1_000;

interface Homes {
  readonly byUri: ReadonlyMap<string, readonly Server[]>;
  readonly until: number;
}

export class ResourceHomes {
  readonly #byCaller = new Map<string, Promise<Homes>>();

  /** The caller lists its resources: what was known of them is old. */
  note(caller: string, _view: View): void {
    this.#byCaller.delete(caller);
  }

  /** @param uri as a server lists it, or `SERVER+URI` @throws McpError */
  async of(exchange: Exchange, view: View, uri: unknown): Promise<{ server: Server; uri: string }> {
    if (typeof uri !== "string") throw new McpError(CODE.params, "params.uri must be a string");
    if (!view.isMerged) return { server: view.servers[0]!, uri };
    const plus = uri.indexOf("+");
    const named = plus > 0 ? view.servers.find(({ name }) => name === uri.slice(0, plus)) : undefined;
    if (named) return { server: named, uri: uri.slice(plus + 1) };
    const homes = (await this.#homes(exchange, view)).byUri.get(uri) ?? [];
    if (homes.length === 1) return { server: homes[0]!, uri };
    if (homes.length > 1) throw ambiguous(uri, homes);
    // Templates make URIs that no server lists; with one server there is nothing to choose.
    const able = view.servers.length === 1 ? view.servers[0] : undefined;
    if (able) return { server: able, uri };
    throw new McpError(
      CODE.params,
      `Unknown resource: ${uri}; put the name of its server in front: SERVER+${uri}`,
      {
        data: { uri },
      },
    );
  }

  async #homes(exchange: Exchange, view: View): Promise<Homes> {
    const { id } = exchange.caller;
    const known = await this.#byCaller.get(id)?.catch(() => undefined);
    if (known && known.until > performance.now()) return known;
    if (this.#byCaller.size >= MOST_CALLERS) this.#byCaller.clear();
    const reading = read(exchange, view);
    this.#byCaller.set(id, reading);
    return reading;
  }
}

function ambiguous(uri: string, homes: readonly Server[]): McpError {
  const names = homes.map(({ name }) => `${name}+${uri}`).join(" or ");
  return new McpError(CODE.params, `several servers have the resource ${uri}; ask for ${names}`, {
    data: { uri },
  });
}

async function read(exchange: Exchange, view: View): Promise<Homes> {
  const byUri = new Map<string, Server[]>();
  await Promise.all(
    view.servers.map(async (server) => {
      const held = await server.hold(ownerOf(exchange), exchange.stop).catch(() => undefined);
      if (!held) return;
      try {
        if (held.connection.facts.capabilities["resources"] === undefined) return;
        const { entries } = await allPages(
          server.name,
          held.connection,
          "resources/list",
          "resources",
          exchange.stop,
        );
        for (const entry of entries) {
          const uri = isObject(entry) ? entry["uri"] : undefined;
          if (typeof uri === "string") byUri.set(uri, [...(byUri.get(uri) ?? []), server]);
        }
      } catch {
        // A server that cannot be asked has no resource now.
      } finally {
        held.release();
      }
    }),
  );
  return { byUri, until: performance.now() + KEEP_MS };
}
