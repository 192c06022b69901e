/** Which streams of responses and messages are right. */
import { expect, test } from "bun:test";
import type { JsonObject } from "../../../core/json.ts";
import { streamFault } from "../streams.ts";

const place = { output_index: 0, content_index: 0, item_id: "msg_1" };
const created = { type: "response.created", response: {} };
const delta = { type: "response.output_text.delta", ...place, delta: "hi" };
const completed = { type: "response.completed", response: {} };
const start = { type: "message_start", message: {} };
const text = { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "hi" } };
const stop = { type: "message_stop" };

const rows: [path: "/responses" | "/messages", events: JsonObject[], fault: string | undefined][] = [
  ["/responses", [created, delta, completed], undefined],
  ["/responses", [created, { type: "response.incomplete", response: {} }], undefined],
  ["/responses", [created, completed], "no event has text"],
  ["/responses", [delta, completed], "its first event is no response.created"],
  ["/responses", [created, delta], "it ends without response.completed or response.incomplete"],
  [
    "/responses",
    [created, { type: "response.output_text.delta", output_index: 0, item_id: "m", delta: "hi" }, completed],
    "response.output_text.delta has no content_index",
  ],
  ["/responses", [], "it has no events"],
  ["/messages", [start, text, stop], undefined],
  [
    "/messages",
    [start, { type: "content_block_delta", delta: {} }, stop],
    "content_block_delta has no index",
  ],
  ["/messages", [start, text], "it ends without message_stop"],
];

test.each(rows)("%s %j", (path, events, fault) => {
  const lines = events.map((event) => `event: ${String(event["type"])}\ndata: ${JSON.stringify(event)}\n\n`);
  expect(streamFault(path, lines.join(""))).toBe(fault);
});
