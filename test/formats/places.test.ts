/** Where the texts of each format are. The tables are compared with the schemas, so that a new member cannot be forgotten. */
import { describe, expect, test } from "bun:test";
import type { ChatEvent } from "../../src/core/events.ts";
import type { ClientCodec } from "../../src/core/format.ts";
import { isObject, type Json, type JsonObject } from "../../src/core/json.ts";
import type { AnswerText, TextPlace } from "../../src/core/text-places.ts";
import { REQUEST as CHAT } from "../../src/formats/chat-completions/client/check.ts";
import { chatCompletionsFormat } from "../../src/formats/chat-completions/index.ts";
import { REQUEST as GEMINI } from "../../src/formats/gemini/client/spelling.ts";
import { geminiFormat } from "../../src/formats/gemini/index.ts";
import { REQUEST as MESSAGES } from "../../src/formats/messages/client/check.ts";
import { messagesFormat } from "../../src/formats/messages/index.ts";
import { GENERATE_REQUEST, REQUEST as OLLAMA } from "../../src/formats/ollama/client/check.ts";
import { ollamaFormat, ollamaGenerateFormat } from "../../src/formats/ollama/index.ts";
import { REQUEST as RESPONSES } from "../../src/formats/responses/client/check.ts";
import { responsesFormat } from "../../src/formats/responses/index.ts";
import { places as chat } from "../../src/formats/chat-completions/client/places.ts";
import { places as gemini } from "../../src/formats/gemini/client/places.ts";
import { places as messages } from "../../src/formats/messages/client/places.ts";
import { REQUEST as INTERACTIONS } from "../../src/formats/gemini/interactions/check.ts";
import { interactionsFormat } from "../../src/formats/gemini/interactions/index.ts";
import { places as interactions } from "../../src/formats/gemini/interactions/places.ts";
import { places as ollama } from "../../src/formats/ollama/client/places.ts";
import { places as responses } from "../../src/formats/responses/client/places.ts";
import type { Rule, TabledPlaces } from "../../src/formats/shared/text-places.ts";
import type { Vocabulary } from "../../src/formats/shared/vocabulary.ts";
import { readUntilError } from "../helpers/answer-codecs.ts";
import { haveRecordings, NO_RECORDINGS, recordings, someOf } from "../helpers/recordings.ts";
import { makeContext } from "../helpers/codec-context.ts";
import { withStrings } from "../../src/stream/json-nodes.ts";

const FORMATS: readonly (readonly [string, ClientCodec, Vocabulary, TabledPlaces])[] = [
  ["chat-completions", chatCompletionsFormat.client, CHAT, chat],
  ["messages", messagesFormat.client, MESSAGES, messages],
  ["responses", responsesFormat.client, RESPONSES, responses],
  ["gemini", geminiFormat.client, GEMINI, gemini],
  ["interactions", interactionsFormat.client, INTERACTIONS, interactions],
  ["ollama", ollamaFormat.client, OLLAMA, ollama],
  ["ollama-generate", ollamaGenerateFormat.client, GENERATE_REQUEST, ollama],
];

const placesOf = (client: ClientCodec) => client.facts.places!;

/** The rule at a path; a rule for all strings of a value is also that of what is below it. */
function ruleAt(rule: Rule, path: readonly string[]): Rule | undefined {
  const [name, ...rest] = path;
  if (name === undefined || !("members" in rule)) return rule;
  return Object.hasOwn(rule.members, name) ? ruleAt(rule.members[name]!, rest) : undefined;
}

/** The members of a JSON schema that may hold strings, at all levels. */
function* membersIn(schema: Json | undefined, path: readonly string[] = []): Generator<readonly string[]> {
  if (!isObject(schema)) return;
  for (const part of [schema.anyOf, schema.oneOf].flatMap((list) => (Array.isArray(list) ? list : [])))
    yield* membersIn(part, path);
  yield* membersIn(schema.items, path);
  for (const [name, member] of Object.entries(isObject(schema.properties) ? schema.properties : {})) {
    yield [...path, name];
    yield* membersIn(member, [...path, name]);
  }
}

describe("each member that a schema names is in the table of texts, or there as none", () => {
  for (const [id, client, vocabulary, { rules }] of FORMATS) {
    const { request, answer } = rules;

    test(`${id}: requests`, () => {
      const named = [...vocabulary.levels()].flatMap(({ path, names }) =>
        names.map((name) => [...(path === "" ? [] : path.split(".")), name]),
      );
      const schemas = [
        client.request.schema,
        client.beside.count?.schemas?.request,
        client.beside.compaction?.schemas.request,
        ...(client.beside.embeds ?? []).map(({ schemas }) => schemas.request),
      ];
      const all = [...named, ...schemas.flatMap((schema) => [...membersIn(schema)])];
      expect(all.length).toBeGreaterThan(25);
      const spelled = (name: string) =>
        id === "gemini" ? name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()) : name;
      expect(all.filter((path) => !ruleAt(request, path.map(spelled))).map((path) => path.join("."))).toEqual(
        [],
      );
    });

    test(`${id}: answers and events`, () => {
      const { answer: whole, event } = client.request.schemas!;
      const all = [...membersIn(whole), ...membersIn(event)];
      expect(all.length).toBeGreaterThan(15);
      expect(all.filter((path) => !ruleAt(answer, path)).map((path) => path.join("."))).toEqual([]);
    });
  }
});

/** Members that a JSON schema says are strings. */
function* stringsIn(schema: Json | undefined, path: readonly string[] = []): Generator<readonly string[]> {
  if (!isObject(schema)) return;
  for (const part of [schema.anyOf, schema.oneOf].flatMap((list) => (Array.isArray(list) ? list : [])))
    yield* stringsIn(part, path);
  yield* stringsIn(schema.items, path);
  if (schema.type === "string" && schema.enum === undefined && schema.const === undefined) yield path;
  for (const [name, member] of Object.entries(isObject(schema.properties) ? schema.properties : {}))
    yield* stringsIn(member, [...path, name]);
}

describe("no member that a schema calls a string is in the table as one that holds none", () => {
  for (const [id, { request, beside }, , { rules }] of FORMATS)
    test(id, () => {
      const { answer, event } = request.schemas!;
      const embedded = (beside.embeds ?? []).map(({ schemas }) => schemas.request);
      const asked = [request.schema, beside.count?.schemas?.request, ...embedded];
      const found = [
        ...asked.flatMap((schema) => [...stringsIn(schema)].map((path) => ruleAt(rules.request, path))),
        ...[answer, event].flatMap((schema) =>
          [...stringsIn(schema)].map((path) => ruleAt(rules.answer, path)),
        ),
      ];
      expect(found.length).toBeGreaterThan(3);
      expect(found.filter((rule) => rule && "none" in rule && rule.none === "no string")).toEqual([]);
    });
});

const bytesOf = (body: JsonObject) => Buffer.from(JSON.stringify(body));

function textsOf(client: ClientCodec, body: JsonObject) {
  return [...placesOf(client).request(bytesOf(body))];
}

/** One line for each text: kind, path, what fixes it, text. */
const line = (text: TextPlace | AnswerText) =>
  [
    text.kind,
    ...("role" in text && text.role ? [`(${text.role})`] : []),
    text.path,
    ...(text.fixed ? [text.fixed] : []),
    ...(text.isJson ? ["json"] : []),
    ...("channel" in text && text.channel !== undefined ? [`<${text.channel}>`] : []),
    "read" in text ? text.read() : text.get(),
  ].join(" ");

const lines = (texts: Iterable<TextPlace | AnswerText>) => [...texts].map(line);

describe("texts of requests", () => {
  test("Messages", () => {
    const body = {
      model: "m",
      system: [{ type: "text", text: "S", cache_control: { type: "ephemeral" } }],
      messages: [
        { role: "user", content: "U" },
        {
          role: "assistant",
          content: [
            { type: "thinking", thinking: "T", signature: "sig" },
            { type: "tool_use", id: "1", name: "n", input: { a: ["A", { b: "B" }], n: 1 } },
          ],
        },
        {
          role: "user",
          content: [
            { type: "tool_result", tool_use_id: "1", content: [{ type: "text", text: "R" }] },
            { type: "document", title: "D", source: { type: "text", media_type: "text/plain", data: "DD" } },
            { type: "image", source: { type: "base64", media_type: "image/png", data: "iVBO" } },
          ],
        },
        { role: "system", content: "later" },
      ],
      tools: [{ name: "n", description: "d", input_schema: { type: "object", description: "x" } }],
      metadata: { user_id: "me" },
      brand_new: { deep: ["N"] },
    };
    expect(lines(textsOf(messagesFormat.client, body))).toEqual([
      "system system[0].text S",
      "text (user) messages[0].content U",
      "reasoning (assistant) messages[1].content[0].thinking signed T",
      "reasoning (assistant) messages[1].content[0].signature encrypted sig",
      "name (assistant) messages[1].content[1].name n",
      "tool-arguments (assistant) messages[1].content[1].input.a[0] A",
      "tool-arguments (assistant) messages[1].content[1].input.a[1].b B",
      "tool-result (user) messages[2].content[0].content[0].text R",
      "document (user) messages[2].content[1].title D",
      "document (user) messages[2].content[1].source.data DD",
      "media (user) messages[2].content[2].source.data iVBO",
      "system (system) messages[3].content later",
      "declaration tools[0].name n",
      "declaration tools[0].description d",
      "declaration tools[0].input_schema.type object",
      "declaration tools[0].input_schema.description x",
      "name metadata.user_id me",
      "other brand_new.deep[0] N",
    ]);
  });

  test("chat-completions", () => {
    const call = { id: "1", type: "function", function: { name: "n", arguments: '{"a":"A"}' } };
    const messages = [
      { role: "developer", content: "S" },
      { role: "user", content: [{ type: "text", text: "U" }], name: "me" },
      { role: "assistant", content: null, reasoning_content: "T", tool_calls: [call] },
      { role: "tool", tool_call_id: "1", content: [{ type: "text", text: "R" }] },
    ];
    expect(lines(textsOf(chatCompletionsFormat.client, { messages, stop: ["x"], input: ["E"] }))).toEqual([
      "system (developer) messages[0].content S",
      "text (user) messages[1].content[0].text U",
      "name (user) messages[1].name me",
      "reasoning (assistant) messages[2].reasoning_content T",
      "name (assistant) messages[2].tool_calls[0].function.name n",
      'tool-arguments (assistant) messages[2].tool_calls[0].function.arguments json {"a":"A"}',
      "tool-result (tool) messages[3].content[0].text R",
      "name stop[0] x",
      "text input[0] E",
    ]);
  });

  test("Responses", () => {
    const input = [
      { role: "user", content: [{ type: "input_text", text: "U" }] },
      { type: "reasoning", summary: [{ type: "summary_text", text: "T" }], encrypted_content: "E" },
      { type: "function_call", call_id: "1", name: "n", arguments: "{}" },
      { type: "function_call_output", call_id: "1", output: "R" },
      { type: "brand_new", text: "N" },
    ];
    expect(lines(textsOf(responsesFormat.client, { instructions: "S", input }))).toEqual([
      "system instructions S",
      "text (user) input[0].content[0].text U",
      "reasoning input[1].summary[0].text signed T",
      "reasoning input[1].encrypted_content encrypted E",
      "name input[2].name n",
      "tool-arguments input[2].arguments json {}",
      "tool-result (tool) input[3].output R",
      "text input[4].text N",
    ]);
    expect(lines(textsOf(responsesFormat.client, { input: "U" }))).toEqual(["text input U"]);
  });

  test("Gemini, in both spellings", () => {
    const body = {
      system_instruction: { parts: [{ text: "S" }] },
      contents: [
        { role: "model", parts: [{ text: "T", thought: true, thought_signature: "sig" }, { text: "A" }] },
        { parts: [{ functionResponse: { name: "n", response: { out: "R" } } }] },
      ],
      generationConfig: { stop_sequences: ["x"] },
      requests: [{ content: { parts: [{ text: "E" }] } }],
    };
    expect(lines(textsOf(geminiFormat.client, body))).toEqual([
      "system system_instruction.parts[0].text S",
      "reasoning (model) contents[0].parts[0].text signed T",
      "reasoning (model) contents[0].parts[0].thought_signature encrypted sig",
      "text (model) contents[0].parts[1].text A",
      "name (user) contents[1].parts[0].functionResponse.name n",
      "tool-result (user) contents[1].parts[0].functionResponse.response.out R",
      "name generationConfig.stop_sequences[0] x",
      "text (user) requests[0].content.parts[0].text E",
    ]);
  });

  test("Ollama", () => {
    const messages = [{ role: "tool", content: "R", tool_name: "n" }];
    expect(lines(textsOf(ollamaFormat.client, { messages }))).toEqual([
      "tool-result (tool) messages[0].content R",
      "name (tool) messages[0].tool_name n",
    ]);
    expect(lines(textsOf(ollamaGenerateFormat.client, { prompt: "U", system: "S" }))).toEqual([
      "text prompt U",
      "system system S",
    ]);
  });
});

describe("ranges", () => {
  const raw =
    '{ "input" : [ "a\\u0040b \\"q\\" \\ud83d\\ude00", "\\\\" ], "stream":true,"n":-1.5e3, "é":"é" }';

  test("a text is read without its escapes, at the range of its string", () => {
    const bytes = Buffer.from(raw);
    const found = [...placesOf(chatCompletionsFormat.client).request(bytes)];
    expect(found.map((text) => text.read())).toEqual(['a@b "q" 😀', "\\", "é"]);
    expect(found.map(({ start, end }) => bytes.toString("utf8", start, end))).toEqual([
      '"a\\u0040b \\"q\\" \\ud83d\\ude00"',
      '"\\\\"',
      '"é"',
    ]);
  });

  test("a replaced text leaves every other byte as it is", () => {
    const bytes = Buffer.from(raw);
    const [first, , last] = placesOf(chatCompletionsFormat.client).request(bytes);
    const edited = withStrings(bytes, [
      { ...first!, text: 'x"\n' },
      { ...last!, text: "y" },
    ]);
    expect(Buffer.from(edited).toString()).toBe(
      raw.replace(/"a\\u[^]*?"(?=, )/, '"x\\"\\n"').replace('"é" }', '"y" }'),
    );
  });
});

if (!haveRecordings) console.log(NO_RECORDINGS);

describe("recorded requests", () => {
  for (const [api, client] of [
    ["chat", chatCompletionsFormat.client],
    ["messages", messagesFormat.client],
    ["responses", responsesFormat.client],
    ["gemini", geminiFormat.client],
  ] as const)
    test(api, () => {
      for (const { request } of someOf(recordings({ api }))) {
        const body = request?.body;
        if (!isObject(body)) continue;
        const bytes = bytesOf(body);
        const texts = [...placesOf(client).request(bytes)];
        // A place is where its text is, and what a vendor has encrypted stays.
        const marked = texts.map((text) => ({ ...text, text: text.fixed ? text.read() : `~${text.read()}` }));
        const edited = withStrings(bytes, marked);
        expect([...placesOf(client).request(edited)].map((text) => text.read())).toEqual(
          marked.map(({ text }) => text),
        );
        const open = texts.filter((text) =>
          /\.(encrypted_content|signature|thoughtSignature)$/.test(text.path),
        );
        expect(open.filter(({ fixed }) => !fixed).map(({ path }) => path)).toEqual([]);
      }
    });
});

describe("texts of events", () => {
  const eventLines = (client: ClientCodec, event: JsonObject) => lines(placesOf(client).event(event));

  test("pieces say their channel", () => {
    const piece = (delta: JsonObject) => ({ type: "content_block_delta", index: 2, delta });
    expect(eventLines(messagesFormat.client, piece({ type: "text_delta", text: "A" }))).toEqual([
      "text delta.text </2/text> A",
    ]);
    expect(eventLines(messagesFormat.client, piece({ type: "thinking_delta", thinking: "T" }))).toEqual([
      "reasoning delta.thinking signed </2/thinking> T",
    ]);
    expect(
      eventLines(messagesFormat.client, piece({ type: "input_json_delta", partial_json: '{"a' })),
    ).toEqual(['tool-arguments delta.partial_json json </2/input> {"a']);
    const delta = { content: "A", tool_calls: [{ index: 3, function: { arguments: '"x' } }] };
    expect(eventLines(chatCompletionsFormat.client, { choices: [{ index: 1, delta }] })).toEqual([
      "text choices[0].delta.content </1/content> A",
      'tool-arguments choices[0].delta.tool_calls[0].function.arguments json </1/call 3/arguments> "x',
    ]);
    const responses = (type: string) => ({ type, output_index: 1, content_index: 2, delta: "A" });
    expect(eventLines(responsesFormat.client, responses("response.output_text.delta"))).toEqual([
      "text delta </1/2/delta> A",
    ]);
    expect(eventLines(responsesFormat.client, responses("response.function_call_arguments.delta"))).toEqual([
      "tool-arguments delta json </1/2/delta> A",
    ]);
    const parts = [{ text: "T", thought: true }, { text: "A" }];
    expect(eventLines(geminiFormat.client, { candidates: [{ content: { parts } }] })).toEqual([
      "reasoning candidates[0].content.parts[0].text signed </0/thought/text> T",
      "text candidates[0].content.parts[1].text </0/text> A",
    ]);
    expect(eventLines(ollamaFormat.client, { message: { content: "A", thinking: "T" } })).toEqual([
      "text message.content </content> A",
      "reasoning message.thinking </thinking> T",
    ]);
    expect(eventLines(ollamaGenerateFormat.client, { response: "A" })).toEqual([
      "text response </content> A",
    ]);
  });

  test("whole texts have no channel, also what an answer repeats of its request", () => {
    const response = {
      instructions: "S",
      output: [{ type: "message", role: "assistant", content: [{ type: "output_text", text: "A" }] }],
    };
    expect(eventLines(responsesFormat.client, { type: "response.completed", response })).toEqual([
      "system response.instructions S",
      "text response.output[0].content[0].text A",
    ]);
    expect(eventLines(responsesFormat.client, { type: "response.output_text.done", text: "A" })).toEqual([
      "text text A",
    ]);
  });

  test("a changed text is in the event", () => {
    const event = { choices: [{ index: 0, delta: { content: "A" } }] };
    const [text] = placesOf(chatCompletionsFormat.client).event(event);
    text!.set("B");
    expect([event, text!.get()]).toEqual([{ choices: [{ index: 0, delta: { content: "B" } }] }, "B"]);
  });

  test("the same text of an answer is whole", () => {
    const choices = [{ index: 0, message: { content: "A" } }];
    expect(lines(placesOf(chatCompletionsFormat.client).answer({ choices }))).toEqual([
      "text choices[0].message.content A",
    ]);
  });
});

describe("a stream that is stopped ends as a refusal, and its open tool call stays cut", () => {
  const BEGUN: readonly ChatEvent[] = [
    { type: "message-start", id: "a_1", model: "m" },
    { type: "block-start", index: 0, block: { type: "text" } },
    { type: "block-delta", index: 0, delta: "Hello" },
    { type: "block-end", index: 0 },
    { type: "block-start", index: 1, block: { type: "tool-call", id: "c1", name: "send", kind: "function" } },
    { type: "block-delta", index: 1, delta: '{"to":' },
  ];
  const READERS = {
    "chat-completions": chatCompletionsFormat.upstream.codec,
    messages: messagesFormat.upstream.codec,
    responses: responsesFormat.upstream.codec,
    gemini: geminiFormat.upstream.codec,
    interactions: interactionsFormat.upstream.codec,
    ollama: ollamaFormat.client.codec.reader!,
    "ollama-generate": ollamaGenerateFormat.client.codec.reader!,
  } as const;
  const stoppedAfter = (id: string, client: ClientCodec, events: readonly ChatEvent[]) => {
    const writer = client.codec.writeStream(makeContext());
    const frames = events.flatMap((event) => writer.push(event));
    const stopped = placesOf(client).stopped("The guard refused it.", { last: frames.at(-1)! });
    expect(JSON.stringify(stopped)).toContain("The guard refused it.");
    const reader = READERS[id as keyof typeof READERS].readStream(makeContext());
    const { events: read, error } = readUntilError(reader, [...frames, ...stopped]);
    return { reason: read.find((event) => event.type === "message-end")?.reason.kind, error };
  };
  for (const [id, client] of FORMATS) {
    test(`${id}: a text`, () => {
      expect(stoppedAfter(id, client, BEGUN.slice(0, 3))).toEqual({
        reason: "content-filter",
        error: undefined,
      });
    });

    // A reader refuses the answer, or ends it as filtered.
    if (id !== "ollama-generate")
      test(`${id}: a tool call`, () => {
        const { reason, error } = stoppedAfter(id, client, BEGUN);
        expect(error === undefined ? reason : "content-filter").toBe("content-filter");
      });
  }
});
