/** Which tools of a list a caller may use: by the config, its key and the pins. A list is read once for each kind of caller. */
import type { JsonObject } from "../../../core/json.ts";
import type { Caller } from "../asks.ts";
import { permits } from "../declarations.ts";
import type { Approved } from "../pins/approved.ts";
import type { Server } from "../servers/server.ts";
import { paramHeadersOf } from "../wire/param-headers.ts";
import { fullName } from "./names.ts";
import type { Usable } from "./view.ts";

/** Kinds of callers that are remembered for a list. */
const MOST = 200;

export class UsableTools {
  readonly #approved: Approved;
  #known = new WeakMap<readonly JsonObject[], Map<string, Usable>>();

  constructor(approved: Approved) {
    this.#approved = approved;
  }

  /** Something else is approved. */
  renew(): void {
    this.#known = new WeakMap();
  }

  /** @throws McpError while it is not known what is approved */
  of(server: Server, definitions: readonly JsonObject[], { pin, tools }: Caller): Usable {
    let known = this.#known.get(definitions);
    if (!known || known.size >= MOST) this.#known.set(definitions, (known = new Map()));
    const key = JSON.stringify([pin, tools]);
    let found = known.get(key);
    if (!found) {
      const shown = this.#approved.shown(server.name, definitions, pin);
      const usable = shown.filter((tool) => isUsable(server, tool, tools));
      const byName = new Map(usable.map((tool) => [String(tool["name"]), tool] as const));
      known.set(key, (found = { tools: usable, byName }));
    }
    return found;
  }
}

/** A definition with invalid headers is left out: a client could not call it. */
function isUsable(server: Server, tool: JsonObject, patterns: Caller["tools"]): boolean {
  const own = tool["name"];
  if (typeof own !== "string" || !isPermitted(server, own, patterns)) return false;
  return typeof paramHeadersOf(tool["inputSchema"]) !== "string";
}

/** Whether config and key let a caller use a tool. @param own its name at the server */
export function isPermitted(
  { name, config: { only } }: Server,
  own: string,
  patterns: Caller["tools"],
): boolean {
  if (only.length > 0 && !permits(only, own)) return false;
  return !patterns || permits(patterns, fullName(name, own));
}
