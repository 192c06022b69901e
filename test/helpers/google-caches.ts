/** A fake of Google that keeps contents: each account has its own, and serves every name of its own. */
import type { JsonObject } from "../../src/core/json.ts";
import { json, startUpstream, type Upstream, type UpstreamRequest } from "./upstream.ts";

/** Tokens of everything that it keeps. */
export const KEPT_TOKENS = 4_000;

export interface Google extends Upstream {
  /** What each account keeps, by the credential and the name. */
  kept: Map<string, JsonObject>;
  /** How long it takes for a request. Milliseconds. */
  delayMs: number;
}

export function startGoogle(): Google {
  const kept = new Map<string, JsonObject>();
  const google = startUpstream(async (request) => {
    if (state.delayMs > 0) await Bun.sleep(state.delayMs);
    return answer(request, kept);
  });
  const state: Google = Object.assign(google, { kept, delayMs: 0 });
  return state;
}

export function bodyOf(request: UpstreamRequest): JsonObject {
  const text = Buffer.from(request.body).toString();
  return text === "" ? {} : (JSON.parse(text) as JsonObject);
}

function answer(request: UpstreamRequest, kept: Map<string, JsonObject>) {
  const account = String(
    new Headers(request.headers as unknown as Record<string, string>).get("x-goog-api-key"),
  );
  const { pathname } = new URL(request.path, "http://google");
  const body = bodyOf(request);
  if (pathname === "/v1beta/cachedContents") return json(create(body, account, kept));
  const name = pathname.slice("/v1beta/".length);
  if (pathname.endsWith(":generateContent")) return generate(body, account, kept);
  const found = kept.get(`${account} ${name}`);
  if (!found) return refusal(403, "CachedContent not found (or permission denied)");
  if (request.method === "DELETE") kept.delete(`${account} ${name}`);
  if (request.method === "DELETE") return json({});
  if (request.method === "PATCH") Object.assign(found, times(body, new Date()));
  return json(found);
}

function create(body: JsonObject, account: string, kept: Map<string, JsonObject>): JsonObject {
  const now = new Date();
  const name = `cachedContents/${crypto.randomUUID()}`;
  const made = {
    ...{ name, model: body["model"]!, displayName: body["displayName"] ?? "", createTime: now.toISOString() },
    ...{ usageMetadata: { totalTokenCount: KEPT_TOKENS }, ...times(body, now) },
  };
  kept.set(`${account} ${name}`, made);
  return made;
}

function times({ ttl, expireTime }: JsonObject, now: Date): JsonObject {
  const expires =
    expireTime ?? new Date(now.getTime() + parseFloat(String(ttl ?? "3600s")) * 1_000).toISOString();
  return { updateTime: now.toISOString(), expireTime: expires };
}

function generate(body: JsonObject, account: string, kept: Map<string, JsonObject>) {
  const name = body["cachedContent"];
  if (name !== undefined && !kept.has(`${account} ${String(name)}`))
    return refusal(403, "CachedContent not found (or permission denied)");
  const cached = name === undefined ? 0 : KEPT_TOKENS;
  return json({
    candidates: [{ content: { role: "model", parts: [{ text: "yes" }] }, finishReason: "STOP", index: 0 }],
    usageMetadata: {
      ...{ promptTokenCount: cached + 10, candidatesTokenCount: 5, totalTokenCount: cached + 15 },
      ...(cached > 0 && { cachedContentTokenCount: cached }),
    },
  });
}

function refusal(code: number, message: string) {
  return { ...json({ error: { code, message, status: "PERMISSION_DENIED" } }), status: code };
}
