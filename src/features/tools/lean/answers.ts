/** Answers of `/mcp` where its list is lean. */
import type { JsonObject } from "../../../core/json.ts";
import type { Answered } from "../wire/messages.ts";
import { type Defined, innerCall, isLean, LEAN_TOOLS, leanResult } from "./lean.ts";

/** How long clients may keep the list: it changes with the config alone. Milliseconds. */
const KEEP_MS = 60_000;

export interface LeanSource {
  /** All tools that the caller may use. @throws McpError */
  list(cursor: string | undefined): Promise<JsonObject>;
  /** Calls a tool. */
  call(params: JsonObject): Promise<Answered>;
}

/** @returns undefined for a request that lean lists do not change @throws McpError */
export async function leanAnswer(
  method: string,
  params: JsonObject,
  source: LeanSource,
): Promise<Answered | undefined> {
  if (method === "tools/list")
    return { result: { tools: [...LEAN_TOOLS], ttlMs: KEEP_MS, cacheScope: "private" } };
  const { name, arguments: args } = params;
  if (method !== "tools/call" || typeof name !== "string" || !isLean(name)) return undefined;
  const inner = innerCall(name, args);
  if (inner) return source.call({ ...params, ...inner });
  return { result: leanResult(await allTools(source), name, args) };
}

async function allTools(source: LeanSource): Promise<Defined[]> {
  const tools: Defined[] = [];
  for (let cursor: string | undefined; ;) {
    const page = await source.list(cursor);
    tools.push(...(page["tools"] as Defined[]));
    const { nextCursor } = page;
    if (typeof nextCursor !== "string") return tools;
    cursor = nextCursor;
  }
}
