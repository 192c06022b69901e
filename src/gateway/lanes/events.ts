/** What the gateway does to every event of a translated or generated answer, on its way from decoder to encoder. */
import type { Call } from "../../core/call.ts";
import { GatewayError } from "../../core/error.ts";
import type { ChatEvent } from "../../core/events.ts";
import { estimateTokens, TextEstimate } from "../../core/estimate.ts";
import type { Usage } from "../../core/events.ts";
import { mergeUsage, NO_USAGE, usageState } from "../../core/events.ts";
import type { Hooks } from "../../core/plugin.ts";

/**
 * Books usage and the reason on the call as the events pass, and holds the promise every encoder relies on: what does
 * not end with `message-end` throws. A provider that counts no tokens is estimated for: the client gets the estimate,
 * the call keeps it apart from what was counted.
 * @param see looks at each event too
 */
export async function* meter(
  events: AsyncIterable<ChatEvent>,
  call: Call,
  hooks: readonly Hooks[],
  see?: (event: ChatEvent) => void,
): AsyncGenerator<ChatEvent> {
  const observers = hooks.filter((hook) => hook.observe);
  const said = new TextEstimate();
  let ended = false;
  for await (const given of events) {
    let event = given;
    call.firstByteAt ??= performance.now();
    see?.(event);
    switch (event.type) {
      case "block-delta":
        said.add(event.delta);
        break;
      case "message-start":
        if (event.usage) call.usage = event.usage;
        break;
      case "usage":
        call.usage = mergeUsage(call.usage, event.usage);
        break;
      case "message-end":
        call.usage = event.usage;
        if (usageState(event.usage) === "absent") event = { ...event, usage: estimateUsage(call, said) };
        call.finish = event.reason.raw ?? event.reason.kind;
        ended = true;
        break;
    }
    for (const hook of observers) hook.observe!(event, call);
    yield event;
  }
  if (ended) return;
  // Whoever gives the events may well stop giving them because it was told to.
  if (call.stop.reason) throw call.stop.reason;
  throw new GatewayError("upstream", "The answer broke off before its end.", { code: "stream_incomplete" });
}

function estimateUsage(call: Call, said: TextEstimate): Usage {
  const { request } = call;
  call.estimated = { input: request ? estimateTokens(request) : 0, output: said.tokens };
  return { ...NO_USAGE, ...call.estimated };
}

/** The events, each looked at in passing. */
export async function* tapEvents(
  events: AsyncIterable<ChatEvent>,
  see: (event: ChatEvent) => void,
): AsyncGenerator<ChatEvent> {
  for await (const event of events) {
    see(event);
    yield event;
  }
}

/** Runs the events through each plugin's `answer` hook, in order. */
export function answerHooks(
  events: AsyncIterable<ChatEvent>,
  call: Call,
  hooks: readonly Hooks[],
): AsyncIterable<ChatEvent> {
  return hooks.reduce((piped, hook) => (hook.answer ? hook.answer(piped, call) : piped), events);
}

/** A list as a stream: a JSON answer is the same events arrived all at once. */
export async function* fromList(events: Iterable<ChatEvent>): AsyncGenerator<ChatEvent> {
  for (const event of events) yield event;
}

/** Most that is gathered of one answer: characters of its text, and some for each event. */
const MAX_GATHERED = 32 * 1024 * 1024;
const EVENT_COST = 64;

/** @throws GatewayError `upstream` for an answer that does not end. */
export async function toList(events: AsyncIterable<ChatEvent>): Promise<ChatEvent[]> {
  const list: ChatEvent[] = [];
  let size = 0;
  for await (const event of events) {
    list.push(event);
    size += EVENT_COST + (event.type === "block-delta" ? event.delta.length : 0);
    if (size > MAX_GATHERED)
      throw new GatewayError("upstream", `The provider's answer is longer than ${MAX_GATHERED} bytes.`, {
        code: "upstream_too_large",
      });
  }
  return list;
}
