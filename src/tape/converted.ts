/** A recorded answer in another dialect than the one it was recorded in, or streamed where it was not, or the reverse. */
import type { ChatRequest } from "../core/chat.ts";
import { GatewayError } from "../core/error.ts";
import { type ChatEvent, mergeUsage } from "../core/events.ts";
import type { Frame } from "../core/frame.ts";
import { isObject, parseJson } from "../core/json.ts";
import type { TapedCall } from "../gateway/tape.ts";
import { SseParser, writeFrame } from "../stream/sse.ts";
import { errorOf, type TapeEntry } from "./entry.ts";
import type { PlayedPiece } from "./played-source.ts";
import { contextOf } from "./request.ts";

/** The canonical events of an entry, each with its time. */
interface TimedEvent {
  event: ChatEvent;
  ms: number;
}

export interface Converted {
  pieces: PlayedPiece[];
  /** Why the answer ends without its end. */
  failure?: GatewayError;
}

/** @throws GatewayError if the recorded answer is an error or cannot be read */
export function convertedJson(entry: TapeEntry, taped: TapedCall, request?: ChatRequest): string {
  const { events, failure } = eventsOf(entry, taped, request);
  if (failure) throw failure;
  const context = contextFor(entry, taped, request);
  return JSON.stringify(
    taped.client.codec.writeAnswer(
      events.map(({ event }) => event),
      context,
    ),
  );
}

/** @throws GatewayError if the recorded answer is an error before its first event, or cannot be read */
export function convertedStream(entry: TapeEntry, taped: TapedCall, request?: ChatRequest): Converted {
  const { events, failure } = eventsOf(entry, taped, request);
  if (failure && events.length === 0) throw failure;
  const writer = taped.client.codec.writeStream(contextFor(entry, taped, request));
  const pieces: PlayedPiece[] = [];
  const add = (frames: readonly Frame[], ms: number) => {
    if (frames.length > 0) pieces.push({ text: frames.map(writeFrame).join(""), ms });
  };
  for (const { event, ms } of events) add(writer.push(event), ms);
  if (!failure) add(writer.end(), events.at(-1)?.ms ?? 0);
  return { pieces, ...(failure && { failure }) };
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
