/** A recorded answer in another dialect than the one it was recorded in, or streamed where it was not, or the reverse. */
import type { ChatRequest } from "../core/chat.ts";
import type { GatewayError } from "../core/error.ts";
import type { Frame } from "../core/frame.ts";
import type { TapeEntry } from "../gateway/recording/entry.ts";
import { contextFor, eventsOf } from "../gateway/recording/events.ts";
import type { TapedCall } from "../gateway/tape.ts";
import { writeFrame } from "../stream/sse.ts";
import type { PlayedPiece } from "./played-source.ts";

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
