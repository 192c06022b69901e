/** Events that are like the one before are read without parsing: what is read is the same. */
import { expect, test } from "bun:test";
import { isObject, type JsonObject, parseJson } from "../../../core/json.ts";
import { places as chat } from "../../../formats/chat-completions/client/places.ts";
import { places as messages } from "../../../formats/messages/client/places.ts";
import { EventReader } from "../pass/event-texts.ts";
import { StreamEvent } from "../pass/events.ts";

type Places = typeof chat;

/** What guards know of the texts of an event. */
function seen(texts: ReturnType<Places["event"]>) {
  return [...texts].map(({ get, set: _, ...text }) => ({ ...text, text: get() }));
}

/** What a reader sees in each of several events, and what parsing each by itself gives. */
function both(places: Places, events: readonly string[]) {
  const reader = new EventReader(places);
  return events.map((raw) => {
    const read = reader.read(new StreamEvent(raw));
    const data = parseJson(/^data: ([^\r\n]*)/m.exec(raw)?.[1] ?? "");
    const expected = isObject(data)
      ? { texts: seen(places.event(data)), closed: places.closed?.(data) ?? [] }
      : undefined;
    return { read: read && { texts: seen(read.texts), closed: read.closed }, expected };
  });
}

function chunk(delta: JsonObject, more: JsonObject = {}, index = 0): string {
  const choice = { index, delta, finish_reason: null, ...more };
  return `data: ${JSON.stringify({ id: "c", model: "m", choices: [choice] })}\n\n`;
}

const CHAT = [
  chunk({ role: "assistant", content: "" }),
  ...["Hea", "vy", ",", ":", "", "m", "id", "null", "} ]"].map((content) => chunk({ content })),
  ...['a "quoted" word', "C:\\temp", "two\nlines", "\u2028", "ü", "\u{1f600}"].map((content) =>
    chunk({ content }),
  ),
  chunk({ content: "plain" }).replace('"plain"', '"\\u0061"'),
  chunk({ content: "x" }, {}, 1),
  chunk({ content: "y" }, {}, 1),
  chunk({ content: "more", refusal: "no" }),
  chunk({ reasoning: "why" }),
  chunk({ content: "the last" }, { finish_reason: "stop" }),
  chunk({ tool_calls: [{ index: 0, id: "1", function: { name: "find", arguments: "" } }] }),
  chunk({ tool_calls: [{ index: 0, function: { arguments: '{"a":' } }] }),
  chunk({ tool_calls: [{ index: 0, function: { arguments: "17" } }] }),
  chunk({ tool_calls: [{ index: 1, function: { arguments: "18" } }] }),
  ": a comment\n\n",
  "data: [DONE]\n\n",
];

const block = (delta: JsonObject, index = 0) =>
  `event: content_block_delta\ndata: ${JSON.stringify({ type: "content_block_delta", index, delta })}\n\n`;
const MESSAGES = [
  block({ type: "text_delta", text: "Heavy" }),
  block({ type: "text_delta", text: " clay" }),
  block({ type: "text_delta", text: "text_delta" }),
  block({ type: "text_delta", text: "text" }),
  block({ type: "thinking_delta", thinking: "text" }),
  block({ type: "text_delta", text: "x" }, 1),
  block({ type: "input_json_delta", partial_json: "1" }, 1),
  block({ type: "input_json_delta", partial_json: "17" }, 1),
  'event: content_block_stop\ndata: {"type":"content_block_stop","index":1}\n\n',
];

test.each([
  ["chat-completions", chat, CHAT],
  ["messages", messages, MESSAGES],
] as const)("events of %s have the texts that parsing finds, whatever came before", (_, places, events) => {
  for (let turn = 0; turn < events.length; turn++) {
    const order = [...events.slice(turn), ...events.slice(0, turn), ...events.toReversed()];
    for (const { read, expected } of both(places, order)) expect(read).toEqual(expected);
  }
});

test("an event that is like the one before is not parsed", () => {
  const reader = new EventReader(chat);
  const texts = ["Heavy", " clay", " holds"].map((content) => {
    const event = new StreamEvent(chunk({ content }));
    const parsed = { count: 0 };
    const original = event.parsed.bind(event);
    event.parsed = () => (parsed.count++, original());
    const [text] = reader.read(event)!.texts;
    return [text!.get(), parsed.count];
  });
  expect(texts).toEqual([
    ["Heavy", 1],
    [" clay", 0],
    [" holds", 0],
  ]);
});

test("separators of lines that are no line ends of a stream are a part of the text", () => {
  for (const separator of ["\u2028", "\u2029", "\u0085"]) {
    const content = `one${separator}jane@example.org`;
    const raw = chunk({ content });
    expect(raw).toContain(separator);
    const event = new StreamEvent(raw);
    expect(seen(new EventReader(chat).read(event)!.texts)).toMatchObject([{ text: content }]);
    event.changes = new Map([["choices[0].delta.content", "gone"]]);
    expect(event.written()).toBe(chunk({ content: "gone" }));
  }
});
