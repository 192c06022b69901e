/** The framings of streamed bodies that weir reads. A plugin may define others. */
import type { Framing } from "../core/frame.ts";
import { EventStreamReader } from "./framing/event-stream.ts";
import { JsonArrayReader } from "./framing/json-array.ts";
import { JsonLinesReader } from "./framing/json-lines.ts";
import { SseParser } from "./sse.ts";

/** Server-sent events: what weir expects of a host without a framing. */
export const sse: Framing = {
  contentType: "text/event-stream",
  reader: () => new SseParser(),
};

/** One JSON value a line (NDJSON). */
export const jsonLines: Framing = {
  contentType: "application/x-ndjson",
  reader: () => new JsonLinesReader(),
};

/** One JSON array, whose elements arrive one by one. */
export const jsonArray: Framing = {
  contentType: "application/json",
  reader: () => new JsonArrayReader(),
};

/**
 * The binary event stream of AWS. Exceptions become frames with the event `exception` and the data `{"type", "message"}`.
 * @param options `unwrap`: the member of each payload that holds the event as base64 text; errors then become frames with the event
 * `error` and the data `{"type": "error", "error": {"type", "message"}}`, which the formats of weir read
 */
export function eventStream(options?: { unwrap?: string }): Framing {
  return {
    contentType: "application/vnd.amazon.eventstream",
    reader: () => new EventStreamReader(options?.unwrap),
  };
}
