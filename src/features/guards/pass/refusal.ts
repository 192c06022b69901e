/** The answer in which the model seems to refuse, in place of the one that a guard blocks. */
import type { Call } from "../../../core/call.ts";
import type { ChatEvent } from "../../../core/events.ts";
import { NO_USAGE } from "../../../core/events.ts";
import type { CodecContext } from "../../../core/context.ts";
import { constantHeaders } from "../../../gateway/delivery/response-headers.ts";
import { WrittenSource } from "../../../gateway/delivery/written-source.ts";
import type { Opened } from "../../../gateway/lanes/lane.ts";
import type { Entry } from "../../../gateway/seams.ts";
import { writeFrame } from "../../../stream/sse.ts";

/** @param reason the sentence of the guard */
export function refusedAnswer(entry: Entry, reason: string): Opened {
  const { call } = entry;
  return writtenAnswer(entry, [
    { type: "message-start", id: `guard_${call.id}`, model: call.model },
    {
      type: "message-end",
      reason: { kind: "content-filter", raw: "refusal", explanation: reason },
      usage: NO_USAGE,
    },
  ]);
}

/** An answer in the client's format, whole or as a stream. */
export function writtenAnswer({ call, format }: Entry, events: readonly ChatEvent[]): Opened {
  const { codec } = format.client;
  const context = contextOf(call);
  if (!call.stream) {
    const body = JSON.stringify(codec.writeAnswer(events, context));
    return { kind: "json", status: 200, headers: { ...constantHeaders("json") }, body };
  }
  const writer = codec.writeStream(context);
  const frames = events.flatMap((event) => writer.push(event));
  const text = [...frames, ...writer.end()].map(writeFrame).join("");
  return {
    kind: "stream",
    status: 200,
    headers: { ...constantHeaders("stream") },
    source: new WrittenSource(Buffer.from(text)),
  };
}

/** For codecs while no provider is chosen. */
export function contextOf({ id, startedAt, model, headers }: Call): CodecContext {
  return {
    ...{ id, startedAt, model, headers },
    sameFormat: false,
    target: { provider: "weir", model, traits: {}, isVendor: false },
    toolNames: new Map(),
    reportLoss: () => {},
  };
}
