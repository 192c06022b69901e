/** Runs the codecs of answers as the gateway does. */
import type { ChatEvent } from "../../src/core/events.ts";
import type { AnswerReader, AnswerWriter, Frame } from "../../src/core/format.ts";
import { SseParser, writeFrame } from "../../src/stream/sse.ts";

/** The events of a streamed answer, to `message-end`. @throws what the reader throws */
export function readAll(reader: AnswerReader, frames: Iterable<Frame>): ChatEvent[] {
  const { events, error } = readUntilError(reader, frames);
  if (error !== undefined) throw error;
  return events;
}

/** The events of a streamed answer until the reader throws, and what it throws. */
export function readUntilError(
  reader: AnswerReader,
  frames: Iterable<Frame>,
): { events: ChatEvent[]; error?: unknown } {
  const events: ChatEvent[] = [];
  try {
    for (const frame of frames) {
      events.push(...reader.push(frame));
      if (events.at(-1)?.type === "message-end") return { events };
    }
    events.push(...reader.end());
    return { events };
  } catch (error) {
    return { events, error };
  }
}

/** The same for the frames' bytes, which arrive in chunks of `size`. */
export function readInChunks(reader: AnswerReader, frames: Iterable<Frame>, size: number): ChatEvent[] {
  const bytes = Buffer.from([...frames].map(writeFrame).join(""));
  return readAll(reader, framesIn(bytes, size));
}

function* framesIn(bytes: Uint8Array, size: number): Generator<Frame> {
  const parser = new SseParser();
  for (let at = 0; at < bytes.length; at += size) yield* parser.push(bytes.subarray(at, at + size));
}

/** The frames of a streamed answer. @throws what the writer throws */
export function writeAll(writer: AnswerWriter, events: Iterable<ChatEvent>): Frame[] {
  const frames: Frame[] = [];
  for (const event of events) frames.push(...writer.push(event));
  return [...frames, ...writer.end()];
}
