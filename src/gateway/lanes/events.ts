/** The steps between decoder and encoder of a translated or generated answer: metering, observers, `answer` hooks. */
import type { Attempt } from "../../core/call.ts";
import { GatewayError } from "../../core/error.ts";
import type { ChatEvent } from "../../core/events.ts";
import { estimateTokens, TextEstimate } from "../../core/estimate.ts";
import type { Usage } from "../../core/events.ts";
import { mergeUsage, NO_USAGE, usageState } from "../../core/events.ts";
import type { AnswerReader, AnswerWriter, Frame } from "../../core/format.ts";
import type { Hooks } from "../../core/plugin.ts";
import { viewOf } from "../plugins/call-view.ts";

/** The events of a stream. @throws what `frames` throws, and a GatewayError if the answer is not complete */
export async function* readEvents(
  frames: AsyncIterable<Frame>,
  reader: AnswerReader,
): AsyncGenerator<ChatEvent> {
  for await (const frame of frames)
    for (const event of reader.push(frame)) {
      yield event;
      if (event.type === "message-end") return;
    }
  for (const event of reader.end()) yield event;
}

/** The frames of a stream for the client. */
export async function* writeFrames(
  events: AsyncIterable<ChatEvent>,
  writer: AnswerWriter,
): AsyncGenerator<Frame> {
  for await (const event of events) for (const frame of writer.push(event)) yield frame;
  for (const frame of writer.end()) yield frame;
}

/**
 * Records usage and finish reason on the attempt as the events pass. If the provider counts no tokens, the client receives an
 * estimate, which the attempt keeps apart from counted tokens.
 * @param onEvent called with each event
 * @throws GatewayError if the events end without `message-end`: every encoder relies on that
 */
export async function* meter(
  events: AsyncIterable<ChatEvent>,
  attempt: Attempt,
  hooks: readonly Hooks[],
  onEvent?: (event: ChatEvent) => void,
): AsyncGenerator<ChatEvent> {
  const observers = hooks.filter((hook) => hook.observe);
  const estimate = new TextEstimate();
  let ended = false;
  for await (const given of events) {
    let event = given;
    attempt.firstByteAt ??= performance.now();
    onEvent?.(event);
    switch (event.type) {
      case "block-delta":
        estimate.add(event.delta);
        break;
      case "message-start":
        if (event.usage) attempt.usage = event.usage;
        break;
      case "usage":
        attempt.usage = mergeUsage(attempt.usage, event.usage);
        break;
      case "message-end":
        attempt.usage = event.usage;
        if (usageState(event.usage) === "absent")
          event = { ...event, usage: estimateUsage(attempt, estimate) };
        attempt.finish = event.reason.raw ?? event.reason.kind;
        ended = true;
        break;
    }
    for (const hook of observers) hook.observe!(event, viewOf(attempt));
    yield event;
  }
  if (ended) return;
  // A source may end its events because the call was aborted.
  if (attempt.stop.reason) throw attempt.stop.reason;
  throw new GatewayError("upstream", "The provider's answer ended before it was complete.", {
    code: "stream_incomplete",
  });
}

function estimateUsage(attempt: Attempt, text: TextEstimate): Usage {
  const { request } = attempt;
  attempt.estimated = { input: request ? estimateTokens(request) : 0, output: text.tokens };
  return { ...NO_USAGE, ...attempt.estimated };
}

/** Passes the events on, and calls `onEvent` with each. */
export async function* tapEvents(
  events: AsyncIterable<ChatEvent>,
  onEvent: (event: ChatEvent) => void,
): AsyncGenerator<ChatEvent> {
  for await (const event of events) {
    onEvent(event);
    yield event;
  }
}

/** Runs the events through each plugin's `answer` hook, in order. */
export function answerHooks(
  events: AsyncIterable<ChatEvent>,
  attempt: Attempt,
  hooks: readonly Hooks[],
): AsyncIterable<ChatEvent> {
  return hooks.reduce((piped, hook) => (hook.answer ? hook.answer(piped, viewOf(attempt)) : piped), events);
}

/** The events of a JSON answer as a stream. */
export async function* fromList(events: Iterable<ChatEvent>): AsyncGenerator<ChatEvent> {
  for (const event of events) yield event;
}

/** Limit of an answer that weir collects into one JSON body: characters of its text, plus a fixed number for each event. */
const MAX_COLLECTED = 32 * 1024 * 1024;
const EVENT_COST = 64;

/** Collects the events of an answer. @throws GatewayError `upstream` if the answer is too long */
export async function toList(events: AsyncIterable<ChatEvent>): Promise<ChatEvent[]> {
  const list: ChatEvent[] = [];
  let size = 0;
  for await (const event of events) {
    list.push(event);
    size += EVENT_COST + (event.type === "block-delta" ? event.delta.length : 0);
    if (size > MAX_COLLECTED)
      throw new GatewayError("upstream", `The provider's answer is longer than ${MAX_COLLECTED} bytes.`, {
        code: "upstream_too_large",
      });
  }
  return list;
}
