/** Reads a recorded answer as canonical events. */
import type { ChatRequest } from "../../core/chat.ts";
import { GatewayError } from "../../core/error.ts";
import { type ChatEvent, mergeUsage } from "../../core/events.ts";
import { isObject, parseJson } from "../../core/json.ts";
import { SseParser } from "../../stream/sse.ts";
import type { TapedCall } from "../tape.ts";
import { errorOf, type TapeEntry } from "./entry.ts";
import { contextOf } from "./request.ts";

/** The canonical events of an entry, each with its time. */
interface TimedEvent {
  event: ChatEvent;
  ms: number;
}

/** Ids of the converted answer are the same in each replay. */
export function contextFor(entry: TapeEntry, taped: TapedCall, request?: ChatRequest) {
  return contextOf(taped, `req_tape${entry.call}`, entry.from, request);
}

/** The canonical events of a recorded answer, as far as they can be read. */
export function eventsOf(
  entry: TapeEntry,
  taped: TapedCall,
  request?: ChatRequest,
): { events: TimedEvent[]; failure?: GatewayError } {
  const format = taped.formats.get(entry.format);
  const codec = format?.upstream?.codec ?? format?.client?.codec.reader;
  if (!codec)
    throw new GatewayError(
      "invalid-request",
      `Call ${entry.call} of the tape is in a format that weir cannot read.`,
      {
        code: "not_on_tape",
      },
    );
  const context = contextFor(entry, taped, request);
  if (!entry.ms) {
    const body = parseJson(entry.answer.join(""));
    if (!isObject(body) || entry.error) throw failureOf(entry);
    return { events: codec.readAnswer(body, context).map((event) => ({ event, ms: 0 })) };
  }
  const events: TimedEvent[] = [];
  const parser = new SseParser();
  const reader = codec.readStream(context);
  const isWhole = () => events.at(-1)?.event.type === "message-end";
  try {
    for (const [index, piece] of entry.answer.entries()) {
      const ms = entry.ms[index] ?? 0;
      for (const frame of parser.push(Buffer.from(piece)))
        if (!isWhole())
          for (const event of reader.push(frame)) events.push({ event: counted(event, entry), ms });
    }
    if (entry.error) return { events, failure: failureOf(entry) };
    if (!isWhole())
      for (const event of reader.end())
        events.push({ event: counted(event, entry), ms: entry.ms.at(-1) ?? 0 });
    return { events };
  } catch (thrown) {
    return { events, failure: entry.error ? failureOf(entry) : GatewayError.from(thrown) };
  }
}

/** The last event, with the token counts of the provider. */
function counted(event: ChatEvent, { usage }: TapeEntry): ChatEvent {
  return usage && event.type === "message-end" ? { ...event, usage: mergeUsage(event.usage, usage) } : event;
}

function failureOf({ error, call }: TapeEntry): GatewayError {
  if (error) return errorOf(error);
  return new GatewayError("upstream", `The answer of call ${call} on the tape cannot be read.`, {
    code: "upstream_invalid_answer",
  });
}
