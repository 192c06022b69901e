/** A fake of Google's interactions: each account stores its own. */
import type { JsonObject } from "../../src/core/json.ts";
import { bodyOf } from "./google-caches.ts";
import { type Answer, json, sse, startUpstream, type Upstream, type UpstreamRequest } from "./upstream.ts";

export const USAGE = {
  ...{
    total_input_tokens: 1_000,
    total_cached_tokens: 400,
    total_output_tokens: 50,
    total_thought_tokens: 30,
  },
  total_tokens: 1_080,
};

export interface GoogleInteractions extends Upstream {
  /** What each account stores, by the credential and the id. */
  stored: Map<string, JsonObject>;
}

export function startInteractions(delayMs = 0): GoogleInteractions {
  const stored = new Map<string, JsonObject>();
  const upstream = startUpstream(async (request) => {
    if (delayMs > 0) await Bun.sleep(delayMs);
    return answer(request, stored);
  });
  return Object.assign(upstream, { stored });
}

function answer(request: UpstreamRequest, stored: Map<string, JsonObject>): Answer {
  const account = String(
    new Headers(request.headers as unknown as Record<string, string>).get("x-goog-api-key"),
  );
  const { pathname } = new URL(request.path, "http://google");
  const [id, action] = pathname.slice("/v1beta/interactions".length + 1).split("/") as [string, string?];
  if (id === "") return create(bodyOf(request), account, stored);
  const found = stored.get(`${account} ${id}`);
  if (!found) return refusal(404, "Interaction not found");
  if (request.method === "DELETE") {
    stored.delete(`${account} ${id}`);
    return json({});
  }
  if (action === "cancel") Object.assign(found, { status: "cancelled" });
  else if (found.status === "in_progress") Object.assign(found, finished());
  return json(found);
}

function create(body: JsonObject, account: string, stored: Map<string, JsonObject>): Answer {
  const previous = body.previous_interaction_id;
  if (previous !== undefined && !stored.has(`${account} ${String(previous)}`))
    return refusal(404, "Previous interaction not found");
  const id = `v1_${crypto.randomUUID()}`;
  const head = { id, object: "interaction", model: body.model!, created: new Date().toISOString() };
  const whole = { ...head, ...(body.background === true ? { status: "in_progress" } : finished()) };
  if (body.store !== false) stored.set(`${account} ${id}`, whole);
  return body.stream === true ? stream(whole) : json(whole);
}

function finished(): JsonObject {
  const steps = [
    { type: "thought", signature: "c2lnbmVk", summary: [{ type: "text", text: "Hm." }] },
    { type: "model_output", content: [{ type: "text", text: "A red cat." }] },
  ];
  return { status: "completed", steps, usage: USAGE };
}

function stream(whole: JsonObject): Answer {
  const { steps, usage, ...head } = whole;
  const events: JsonObject[] = [
    { event_type: "interaction.created", interaction: { ...head, status: "in_progress" } },
    { event_type: "step.start", index: 0, step: { type: "model_output" } },
    { event_type: "step.delta", index: 0, delta: { type: "text", text: "A red " } },
    { event_type: "step.delta", index: 0, delta: { type: "text", text: "cat." } },
    { event_type: "step.stop", index: 0 },
    { event_type: "interaction.completed", interaction: { ...head, usage: usage! } },
  ];
  void steps;
  return sse([
    ...events.map((event) => `event: ${String(event.event_type)}\ndata: ${JSON.stringify(event)}\n\n`),
    "event: done\ndata: [DONE]\n\n",
  ]);
}

function refusal(code: number, message: string): Answer {
  return { ...json({ error: { code, message, status: "NOT_FOUND" } }), status: code } as Answer;
}
