/** The judge of streamed responses accepts right streams, and finds each fault that is planted into one. */
import { describe, expect, test } from "bun:test";
import type { Frame } from "../../src/core/frame.ts";
import type { JsonObject } from "../../src/core/json.ts";
import { parseFrames, writeFrame } from "../../src/stream/sse.ts";
import { judgeResponses, judgeWritten, readBySdk } from "./judge-responses.ts";
import { answerBytes, haveRecordings, NO_RECORDINGS, recordings } from "./recordings.ts";
import { type ScriptedAnswer, responsesError, responsesStream } from "./responses-events.ts";

const ANNOTATION = { type: "url_citation", start_index: 0, end_index: 5, title: "T", url: "https://e.org/" };

/** Everything that a stream can hold. */
const WHOLE: ScriptedAnswer = {
  interleaved: true,
  items: [
    { type: "reasoning", summary: ["First thought.", "Second thought."], encrypted: "c2VhbGVk" },
    { type: "reasoning", text: "Open thought." },
    { type: "message", text: "Hello, you.", annotations: [ANNOTATION], phase: "commentary" },
    { type: "message", refusal: "I do not." },
    { type: "function_call", name: "read", arguments: '{"path":"a.txt"}' },
    { type: "function_call", name: "list", arguments: "{}" },
    { type: "custom_tool_call", name: "patch", input: "*** Begin\n+a\n*** End" },
  ],
};

const bytesOf = (answer: ScriptedAnswer) => Buffer.from(responsesStream(answer).join(""));
const eventsOf = (answer: ScriptedAnswer) =>
  parseFrames(bytesOf(answer)).map(({ data }) => JSON.parse(data) as JsonObject);

/** The events as frames. */
const framed = (events: readonly JsonObject[]): Frame[] =>
  events.map((event) => ({ event: String(event["type"]), data: JSON.stringify(event) }));

/** The events with the numbers of their places. */
const renumbered = (events: readonly JsonObject[]) =>
  events.map((event, index) => ({ ...event, sequence_number: index }));

describe("a right stream has no fault", () => {
  const answers: Record<string, ScriptedAnswer> = {
    "with everything, interleaved": WHOLE,
    "with everything, one item after the other": { ...WHOLE, interleaved: false },
    "without items": { items: [] },
    "that is incomplete": { items: [{ type: "message", text: "Hel" }], status: "incomplete" },
    "that failed": { items: [{ type: "message", text: "Hel" }], status: "failed" },
  };
  for (const [name, answer] of Object.entries(answers))
    test(name, async () => expect(await judgeWritten(bytesOf(answer))).toEqual([]));

  test("that ends with an error event", async () => {
    const frames = [responsesStream(WHOLE)[0]!, responsesError("flat", "server_error", "No.")].join("");
    expect(await judgeWritten(Buffer.from(frames))).toEqual([]);
  });
});

type Edit = (events: JsonObject[]) => JsonObject[];

const without =
  (type: string, count = 1): Edit =>
  (events) => {
    let left = count;
    return renumbered(events.filter((event) => event["type"] !== type || left-- <= 0));
  };

/** Changes the first event of a type. */
const change =
  (type: string, edit: (event: JsonObject) => JsonObject): Edit =>
  (events) => {
    const at = events.findIndex((event) => event["type"] === type);
    return events.map((event, index) => (index === at ? { ...event, ...edit(event) } : event));
  };

const inResponse = (type: string, members: JsonObject): Edit =>
  change(type, (event) => ({ response: { ...(event["response"] as JsonObject), ...members } }));

const inItem = (type: string, members: JsonObject): Edit =>
  change(type, (event) => ({ item: { ...(event["item"] as JsonObject), ...members } }));

const twice =
  (type: string): Edit =>
  (events) => {
    const at = events.findIndex((event) => event["type"] === type);
    return renumbered([...events.slice(0, at + 1), ...events.slice(at)]);
  };

const moved =
  (type: string, to: (events: readonly JsonObject[], at: number) => number): Edit =>
  (events) => {
    const at = events.findIndex((event) => event["type"] === type);
    const rest = events.filter((_, index) => index !== at);
    return renumbered(rest.toSpliced(to(events, at), 0, events[at]!));
  };

const ITEM = "response.output_item";
const PART = "response.content_part";
const SUMMARY = "response.reasoning_summary";
const TEXT = "response.output_text";
const ARGUMENTS = "response.function_call_arguments";
const INPUT = "response.custom_tool_call_input";
const USAGE = {
  input_tokens: 1,
  input_tokens_details: { cached_tokens: 0 },
  output_tokens: 1,
  output_tokens_details: { reasoning_tokens: 0 },
  total_tokens: 2,
};

const FAULTS: readonly [name: string, plant: Edit, found: string][] = [
  ["an event left out", (events) => events.toSpliced(3, 1), "has the sequence number 4"],
  ["the same number twice", change(`${ITEM}.done`, () => ({ sequence_number: 3 })), "sequence number 3"],
  ["no number", change(`${ITEM}.done`, () => ({ sequence_number: undefined })), "sequence number undefined"],
  [
    "an unknown type",
    change(`${TEXT}.delta`, () => ({ type: "response.reasoning_part.added" })),
    "do not know",
  ],
  [
    "an event of a hosted tool",
    change(`${TEXT}.delta`, () => ({ type: "response.mcp_call.failed" })),
    "do not know",
  ],
  ["no response.created", without("response.created"), "instead of response.created"],
  ["no response.in_progress", without("response.in_progress"), "never in progress"],
  ["response.in_progress between items", moved("response.in_progress", () => 12), "out of place"],
  ["no terminal event", without("response.completed"), "no terminal event"],
  ["two terminal events", twice("response.completed"), "comes after the end"],
  [
    "an event behind the terminal one",
    moved(`${ITEM}.done`, (events) => events.length),
    "comes after the end",
  ],
  ["another response id", inResponse("response.completed", { id: "resp_2" }), "another response id"],
  [
    "another status",
    inResponse("response.completed", { status: "in_progress" }),
    'says status "in_progress"',
  ],
  [
    "a member left out",
    inResponse("response.created", { parallel_tool_calls: undefined }),
    '"parallel_tool_calls"',
  ],
  ["output_text", inResponse("response.completed", { output_text: "Hello" }), "output_text"],
  ["a fraction of a second", inResponse("response.completed", { created_at: 1.5 }), "created_at"],
  ["another object", inResponse("response.completed", { object: "chat" }), '"object"'],
  ["an error of a complete response", inResponse("response.completed", { error: {} }), "without failure"],
  ["incomplete_details", inResponse("response.completed", { incomplete_details: {} }), "complete response"],
  ["output at the start", inResponse("response.created", { output: [{}] }), "output before there is any"],
  ["usage at the start", inResponse("response.created", { usage: USAGE }), "counts tokens before the end"],
  ["no usage at the end", inResponse("response.completed", { usage: null }), "no token counts"],
  [
    "usage without details",
    inResponse("response.completed", { usage: { ...USAGE, input_tokens_details: null } }),
    "no input_tokens_details",
  ],
  [
    "a wrong total",
    inResponse("response.completed", { usage: { ...USAGE, total_tokens: 3 } }),
    "not the sum",
  ],
  [
    "more cached than input",
    inResponse("response.completed", { usage: { ...USAGE, input_tokens_details: { cached_tokens: 2 } } }),
    "no part of its count",
  ],
  ["an empty terminal output", inResponse("response.completed", { output: [] }), "another item 0"],
  ["an item that was never added", without(`${ITEM}.added`), "was not added"],
  ["an item added twice", twice(`${ITEM}.added`), "the id of another"],
  ["an item that never ends", without(`${ITEM}.done`), "open"],
  ["an item that ends twice", twice(`${ITEM}.done`), "ends an item again"],
  ["another id at the end of an item", inItem(`${ITEM}.done`, { id: "x" }), 'as "x"'],
  ["another type at the end of an item", inItem(`${ITEM}.done`, { type: "message" }), "as another type"],
  ["an item in progress at its end", inItem(`${ITEM}.done`, { status: "in_progress" }), "still in progress"],
  [
    "an incomplete item in a complete response",
    inItem(`${ITEM}.done`, { status: "incomplete" }),
    "completes with the incomplete",
  ],
  ["an item that starts completed", inItem(`${ITEM}.added`, { status: "completed" }), "not in progress"],
  ["an item without id", inItem(`${ITEM}.added`, { id: undefined }), "without id"],
  [
    "a gap in output_index",
    change(`${ITEM}.added`, () => ({ output_index: 7 })),
    "output_index 7 instead of 0",
  ],
  ["an item that starts with summary", inItem(`${ITEM}.added`, { summary: [{}] }), "already has summary"],
  ["another item_id in a delta", change(`${TEXT}.delta`, () => ({ item_id: "msg_x" })), 'about "msg_x"'],
  ["no item_id in a delta", change(`${ARGUMENTS}.delta`, () => ({ item_id: undefined })), "about undefined"],
  [
    "a delta of another item",
    change(`${TEXT}.delta`, () => ({ output_index: 4, item_id: "fc_up_4" })),
    "part that was not added",
  ],
  [
    "a delta behind the end of its item",
    moved(`${TEXT}.delta`, (events) => events.length - 2),
    "after its item ended",
  ],
  ["a delta without text", change(`${TEXT}.delta`, () => ({ delta: undefined })), "no delta"],
  ["no content_part.added", without(`${PART}.added`), "part that was not added"],
  ["no content_part.done", without(`${PART}.done`), "open part of its content"],
  ["content_part.done twice", twice(`${PART}.done`), "ends a part again"],
  [
    "another content_index",
    change(`${PART}.added`, () => ({ content_index: 1 })),
    "content_index 1 instead of 0",
  ],
  [
    "a part that begins with text",
    change(`${PART}.added`, (event) => ({ part: { ...(event["part"] as JsonObject), text: "x" } })),
    "other text than its deltas",
  ],
  [
    "a part that ends with other text",
    change(`${PART}.done`, (event) => ({ part: { ...(event["part"] as JsonObject), refusal: "x" } })),
    "other text than its deltas",
  ],
  ["a delta lost", without(`${TEXT}.delta`), "other text than its deltas"],
  ["no output_text.done", without(`${TEXT}.done`), "before its text"],
  [
    "other text in output_text.done",
    change(`${TEXT}.done`, () => ({ text: "x" })),
    "other text than its deltas",
  ],
  [
    "a delta behind output_text.done",
    moved(`${TEXT}.delta`, (events) => 1 + events.findIndex(({ type }) => type === `${TEXT}.done`)),
    "after the text of its part ended",
  ],
  [
    "a text delta for reasoning",
    change("response.reasoning_text.delta", () => ({ type: `${TEXT}.delta` })),
    "part of type reasoning_text",
  ],
  ["an annotation lost", without(`${TEXT}.annotation.added`), "other annotations"],
  [
    "another annotation_index",
    change(`${TEXT}.annotation.added`, () => ({ annotation_index: 1 })),
    "annotation_index",
  ],
  ["no summary part", without(`${SUMMARY}_part.added`), "part that was not added"],
  [
    "another summary_index",
    change(`${SUMMARY}_part.added`, () => ({ summary_index: 1 })),
    "summary_index 1 instead of 0",
  ],
  ["no summary text end", without(`${SUMMARY}_text.done`), "before its text"],
  ["arguments lost", without(`${ARGUMENTS}.delta`), "other input than its deltas"],
  ["no end of arguments", without(`${ARGUMENTS}.done`), "ends a call before its arguments"],
  ["the end of arguments twice", twice(`${ARGUMENTS}.done`), "after the input of its call ended"],
  [
    "a custom tool's input as arguments",
    change(`${INPUT}.delta`, () => ({ type: `${ARGUMENTS}.delta` })),
    "item of type custom_tool_call",
  ],
];

const CALL_FAULTS: typeof FAULTS = [
  ["a call without name", inItem(`${ITEM}.added`, { name: "" }), "without name"],
  ["a call without call_id", inItem(`${ITEM}.added`, { call_id: undefined }), "without call_id"],
  ["a call that starts with arguments", inItem(`${ITEM}.added`, { arguments: "{" }), "already has arguments"],
  ["a call that ends with other arguments", inItem(`${ITEM}.done`, { arguments: "{}" }), "other arguments"],
];

describe("each planted fault is found", () => {
  const tables: [ScriptedAnswer, typeof FAULTS][] = [
    [WHOLE, FAULTS],
    [{ items: [{ type: "function_call", name: "f", arguments: '{"a":1}' }] }, CALL_FAULTS],
  ];
  for (const [answer, faults] of tables)
    for (const [name, plant, found] of faults)
      test(name, () => expect(judgeResponses(framed(plant(eventsOf(answer)))).join("\n")).toContain(found));

  test("an event name that is not the type", () => {
    const frames = framed(eventsOf(WHOLE)).map((frame) => ({ ...frame, event: "message" }));
    expect(judgeResponses(frames)[0]).toContain('event name "message"');
  });

  test("a record that is no JSON", () =>
    expect(judgeResponses([{ event: "x", data: "[DONE]" }])[0]).toContain("no JSON object"));

  test("what only the SDK sees: an item that its events do not add up to", async () => {
    const edited = inItem(`${ITEM}.done`, { encrypted_content: "other" })(eventsOf(WHOLE));
    const faults = await judgeWritten(Buffer.from(framed(edited).map(writeFrame).join("")));
    expect(faults.at(-1)).toContain("SDK accumulates another output");
  });

  test("an event of a hosted tool that weir passes on is none", () => {
    const events = eventsOf({ items: [{ type: "whole", item: { type: "mcp_call", id: "mcp_1" } }] });
    const progress = { type: "response.mcp_call.in_progress", output_index: 0, item_id: "mcp_1" };
    const frames = framed(renumbered(events.toSpliced(3, 0, progress)));
    expect(judgeResponses(frames, { isRelayed: true })).toEqual([]);
    expect(judgeResponses(frames).join("\n")).toContain("do not know");
  });
});

if (!haveRecordings) console.log(NO_RECORDINGS);

describe.skipIf(!haveRecordings)("recorded streams", () => {
  const streams = recordings({ api: "responses" }).filter(
    ({ framing, response }) => framing === "sse" && response.status === 200,
  );

  test("the SDK accepts all but those with an error, changing ids, an unknown event, or two answers in one", async () => {
    const refused: string[] = [];
    for (const recording of streams)
      await readBySdk(parseFrames(answerBytes(recording))).catch((error: Error) =>
        refused.push(`${recording.vendor}: ${error.message.slice(0, 44)}`),
      );
    expect(streams.length).toBe(191);
    expect(refused.sort()).toEqual([
      "bedrock: Unhandled response stream event: unknown",
      "copilot: Lifecycle response identity changed.",
      "copilot: Lifecycle response identity changed.",
      "openai: Foobar",
      "openai: Lifecycle response identity changed.",
      "openai: Lifecycle response identity changed.",
      "openai: You exceeded your current quota, please chec",
    ]);
  });

  // The others leave out members or numbers, or end with another output than that of their items.
  test("the judge has nothing against 110 of them", () => {
    const isRight = (bytes: Uint8Array) =>
      judgeResponses(parseFrames(bytes), { isRelayed: true }).length === 0;
    expect(streams.filter((recording) => isRight(answerBytes(recording))).length).toBe(110);
  });
});
