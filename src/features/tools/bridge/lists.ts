/** Lists of tools, prompts and resources over the servers of a caller, in the order of the config, page by page. */
import { isObject, type JsonObject } from "../../../core/json.ts";
import { allPages, type WholeList } from "../servers/pages.ts";
import type { Server } from "../servers/server.ts";
import { CODE, McpError } from "../wire/messages.ts";
import { withMeta } from "../wire/revisions.ts";
import { type Exchange, ownerOf } from "./exchange.ts";
import { fullName } from "./names.ts";
import type { Seal } from "./seal.ts";
import type { View } from "./view.ts";

const PAGE = 500;
/** Longest time that clients may keep a list. Milliseconds. */
const MOST_TTL_MS = 60_000;

/** Member of the result, and the capability that a server needs, by method. */
const KINDS: Readonly<Record<string, { member: string; capability: string }>> = {
  "tools/list": { member: "tools", capability: "tools" },
  "prompts/list": { member: "prompts", capability: "prompts" },
  "resources/list": { member: "resources", capability: "resources" },
  "resources/templates/list": { member: "resourceTemplates", capability: "resources" },
};

export function isList(method: string): boolean {
  return method in KINDS;
}

/** A server whose part is missing in a list. */
export interface Unavailable {
  readonly server: string;
  readonly reason: string;
}

interface Gathered extends WholeList {
  readonly unavailable: readonly Unavailable[];
  /** Names that were shortened, with the whole ones. */
  readonly shortened: JsonObject;
}

/** @throws McpError if all servers fail, or for a cursor that weir has not given to this caller */
export async function listed(
  exchange: Exchange,
  view: View,
  seal: Seal,
  method: string,
  params: JsonObject,
): Promise<JsonObject> {
  const { member } = KINDS[method]!;
  const offset = offsetOf(exchange, seal, method, params["cursor"]);
  const gathered = await gather(exchange, view, method);
  const { entries, unavailable, shortened, ttlMs, isPublic } = gathered;
  const next = offset + PAGE;
  const result: JsonObject = {
    [member]: entries.slice(offset, next),
    ...(entries.length > next && {
      nextCursor: seal.close({ method, caller: exchange.caller.id, offset: next }),
    }),
    ttlMs: unavailable.length > 0 ? 0 : Math.min(ttlMs, MOST_TTL_MS),
    cacheScope: isPublic ? "public" : "private",
  };
  const more = {
    ...(unavailable.length > 0 && { "weir/unavailable": unavailable.map((one) => ({ ...one })) }),
    ...(Object.keys(shortened).length > 0 && { "weir/shortened": shortened }),
  };
  return Object.keys(more).length > 0 ? withMeta(result, more) : result;
}

function offsetOf(exchange: Exchange, seal: Seal, method: string, cursor: unknown): number {
  if (cursor === undefined) return 0;
  const opened = typeof cursor === "string" ? seal.open(cursor) : undefined;
  if (opened?.["method"] !== method || opened["caller"] !== exchange.caller.id)
    throw new McpError(CODE.params, "the cursor is not one of this list");
  return Number(opened["offset"]);
}

async function gather(exchange: Exchange, view: View, method: string): Promise<Gathered> {
  const parts = await Promise.allSettled(
    view.servers.map((server) => partOf(exchange, view, server, method)),
  );
  const entries: JsonObject[] = [];
  const unavailable: Unavailable[] = [];
  const shortened: JsonObject = {};
  let ttlMs = Infinity;
  let isPublic = exchange.caller.id === "anyone";
  parts.forEach((part, at) => {
    const server = view.servers[at]!;
    if (part.status === "rejected")
      return void unavailable.push({ server: server.name, reason: reasonOf(part.reason) });
    if (!part.value) return;
    for (const entry of part.value.entries) entries.push(named(view, server, method, entry, shortened));
    ttlMs = Math.min(ttlMs, part.value.ttlMs);
    isPublic &&= part.value.isPublic;
  });
  const failed = parts.filter(({ status }) => status === "rejected");
  if (failed.length > 0 && failed.length === parts.length) throw (failed[0] as PromiseRejectedResult).reason;
  return { entries, unavailable, shortened, ttlMs: Number.isFinite(ttlMs) ? ttlMs : 0, isPublic };
}

/** @returns undefined for a server that has no such list */
async function partOf(
  exchange: Exchange,
  view: View,
  server: Server,
  method: string,
): Promise<WholeList | undefined> {
  const { member, capability } = KINDS[method]!;
  const held = await server.hold(ownerOf(exchange), exchange.stop);
  try {
    if (view.isMerged && held.connection.facts.capabilities[capability] === undefined) return undefined;
    if (method === "tools/list") {
      const { tools } = await view.tools(server, held, exchange.stop, true);
      return { entries: tools, ttlMs: held.connection.era === "modern" ? held.ttlMs() : 0, isPublic: false };
    }
    return await allPages(server.name, held.connection, method, member, exchange.stop);
  } finally {
    held.release();
  }
}

function named(
  view: View,
  server: Server,
  method: string,
  entry: JsonObject,
  shortened: JsonObject,
): JsonObject {
  const { name } = entry;
  if (!view.isMerged || typeof name !== "string" || method === "resources/list") return entry;
  if (method === "resources/templates/list") return { ...entry, name: `${server.name}: ${name}` };
  const outward = view.outward(server, name);
  const whole = fullName(server.name, name);
  if (outward !== whole) shortened[outward] = whole;
  return { ...entry, name: outward };
}

export function reasonOf(thrown: unknown): string {
  return thrown instanceof Error
    ? thrown.message
    : isObject(thrown)
      ? JSON.stringify(thrown)
      : String(thrown);
}
