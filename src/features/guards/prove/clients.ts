/** Requests of the client formats with texts at the places where a value can travel, and what their answers say. */
import { isObject, type Json, type JsonObject, parseJson } from "../../../core/json.ts";

export const PLACES = ["text", "history", "system", "tool-arguments", "tool-result", "document"] as const;
export type ProvedPlace = (typeof PLACES)[number];

/** What the texts of a request are. */
export interface Asked {
  readonly model: string;
  readonly stream: boolean;
  readonly place: ProvedPlace;
  readonly texts: readonly string[];
  /** Tells the provider which cell asks. */
  readonly mark: string;
}

/** What a client reads. */
export interface Read {
  readonly text: string;
  /** `to` of the arguments of a tool call. */
  readonly args: string;
}

export interface Client {
  readonly name: string;
  /** Providers speak the format too. */
  readonly isSpoken: boolean;
  /** Answers are streams as well. */
  readonly streams: boolean;
  readonly places: readonly ProvedPlace[];
  /** Documents are texts, which every provider accepts. */
  readonly hasTextDocuments?: true;
  /** Texts are lists of blocks, at these places. */
  readonly blocksAt: readonly ProvedPlace[];
  path(asked: Asked): string;
  body(asked: Asked): JsonObject;
  /** @param events one answer, or the events of a stream */
  read(events: readonly JsonObject[]): Read;
}

const CALL_ID = "call_0";
const PARAMETERS = { type: "object", properties: { to: { type: "string" } } };
const FUNCTION = { name: "send", description: "Sends something.", parameters: PARAMETERS };
const PDF = "JVBERi0xLjQKJUVPRgo=";

/** The texts of a request, each with its place; what is not planted is the same in all. */
class Texts {
  readonly #asked: Asked;

  constructor(asked: Asked) {
    this.#asked = asked;
  }

  at(place: ProvedPlace, usual: string): readonly string[] {
    return this.#asked.place === place ? this.#asked.texts : [usual];
  }

  one(place: ProvedPlace, usual: string): string {
    return this.at(place, usual).join("\n");
  }

  get hasTools(): boolean {
    return this.#asked.place.startsWith("tool-");
  }

  /** Several texts, or one where a format allows both. */
  blocks(place: ProvedPlace, usual: string, block: (text: string) => JsonObject): Json {
    const texts = this.at(place, usual);
    return texts.length === 1 ? texts[0]! : texts.map(block);
  }
}

/** All values at a path with `*` for each item. */
export function valuesAt(value: Json | undefined, path: string): Json[] {
  return path
    .split(".")
    .reduce<(Json | undefined)[]>(
      (values, name) =>
        values.flatMap((one) => {
          if (name === "*") return Array.isArray(one) ? one : [];
          return isObject(one) ? [one[name]] : [];
        }),
      [value],
    )
    .filter((one) => one !== undefined);
}

const joined = (events: readonly JsonObject[], ...paths: string[]) =>
  events
    .flatMap((event) => paths.flatMap((path) => valuesAt(event, path)))
    .filter((one) => typeof one === "string")
    .join("");

function toOf(args: Json | undefined): string {
  const value = typeof args === "string" ? parseJson(args) : args;
  if (isObject(value) && typeof value.to === "string") return value.to;
  return args === undefined || args === "" ? "" : `no arguments: ${JSON.stringify(args)}`;
}

const textPart = (text: string) => ({ type: "text", text });
const FUNCTION_CALLS = "tool_calls.*.function.arguments";

/** @param asJson arguments are a text, and not a value */
function chatTurns(texts: Texts, mark: string, asJson: boolean, documents: boolean): JsonObject[] {
  const args = { to: texts.one("tool-arguments", "nobody") };
  const call = { name: "send", arguments: asJson ? JSON.stringify(args) : args };
  const several = (place: ProvedPlace, usual: string): Json =>
    asJson ? texts.blocks(place, usual, textPart) : texts.one(place, usual);
  const file = {
    type: "file",
    file: { filename: texts.one("document", "a.pdf"), file_data: `data:application/pdf;base64,${PDF}` },
  };
  return [
    { role: "system", content: several("system", "Be brief.") },
    { role: "user", content: mark },
    { role: "assistant", content: several("history", "Fine.") },
    ...(texts.hasTools
      ? [
          { role: "user", content: "Go on." },
          { role: "assistant", content: "", tool_calls: [{ id: CALL_ID, type: "function", function: call }] },
          {
            role: "tool",
            tool_call_id: CALL_ID,
            tool_name: "send",
            content: several("tool-result", "Done."),
          },
        ]
      : []),
    { role: "user", content: documents ? [textPart("Read it."), file] : several("text", "Go on.") },
  ];
}

const chat: Client = {
  ...{ name: "chat-completions", isSpoken: true, streams: true, places: PLACES },
  blocksAt: ["text", "history", "system", "tool-result"],
  path: () => "/v1/chat/completions",
  body(asked) {
    const texts = new Texts(asked);
    const { model, stream, mark, place } = asked;
    return {
      ...{ model, stream, messages: chatTurns(texts, mark, true, place === "document") },
      ...(texts.hasTools && { tools: [{ type: "function", function: FUNCTION }] }),
    };
  },
  read: (events) => ({
    text: joined(events, "choices.*.delta.content", "choices.*.message.content"),
    args: toOf(joined(events, `choices.*.delta.${FUNCTION_CALLS}`, `choices.*.message.${FUNCTION_CALLS}`)),
  }),
};

const messages: Client = {
  ...{ name: "messages", isSpoken: true, streams: true, places: PLACES, hasTextDocuments: true as const },
  blocksAt: ["text", "history", "system", "tool-result"],
  path: () => "/v1/messages",
  body(asked) {
    const texts = new Texts(asked);
    const { model, stream, mark, place } = asked;
    const source = { type: "text", media_type: "text/plain", data: texts.one("document", "Nothing.") };
    const use = {
      type: "tool_use",
      id: "toolu_0",
      name: "send",
      input: { to: texts.one("tool-arguments", "nobody") },
    };
    const result = {
      type: "tool_result",
      tool_use_id: "toolu_0",
      content: texts.blocks("tool-result", "Done.", textPart),
    };
    return {
      ...{ model, stream, max_tokens: 500, system: texts.blocks("system", "Be brief.", textPart) },
      messages: [
        { role: "user", content: mark },
        { role: "assistant", content: texts.blocks("history", "Fine.", textPart) },
        ...(texts.hasTools
          ? [
              { role: "user", content: "Go on." },
              { role: "assistant", content: [use] },
              { role: "user", content: [result] },
            ]
          : [
              {
                role: "user",
                content:
                  place === "document"
                    ? [{ type: "document", source }, textPart("Read it.")]
                    : texts.blocks("text", "Go on.", textPart),
              },
            ]),
      ],
      ...(texts.hasTools && {
        tools: [{ name: "send", description: FUNCTION.description, input_schema: PARAMETERS }],
      }),
    };
  },
  read: (events) => ({
    text: joined(events, "delta.text", "content.*.text"),
    args: toOf(joined(events, "delta.partial_json") || valuesAt(events[0], "content.*.input")[0]),
  }),
};

const responses: Client = {
  ...{ name: "responses", isSpoken: true, streams: true, places: PLACES },
  blocksAt: ["text"],
  path: () => "/v1/responses",
  body(asked) {
    const texts = new Texts(asked);
    const { model, stream, mark, place } = asked;
    const args = JSON.stringify({ to: texts.one("tool-arguments", "nobody") });
    const file = {
      type: "input_file",
      filename: texts.one("document", "a.pdf"),
      file_data: `data:application/pdf;base64,${PDF}`,
    };
    const part = (text: string) => ({ type: "input_text", text });
    return {
      ...{ model, stream, instructions: texts.one("system", "Be brief.") },
      input: [
        { role: "user", content: mark },
        { role: "assistant", content: texts.one("history", "Fine.") },
        ...(texts.hasTools
          ? [
              { type: "function_call", call_id: CALL_ID, name: "send", arguments: args },
              { type: "function_call_output", call_id: CALL_ID, output: texts.one("tool-result", "Done.") },
            ]
          : []),
        {
          role: "user",
          content: place === "document" ? [part("Read it."), file] : texts.blocks("text", "Go on.", part),
        },
      ],
      ...(texts.hasTools && { tools: [{ type: "function", ...FUNCTION, strict: false }] }),
    };
  },
  read(events) {
    const typed = (type: string) => events.filter((event) => event.type === type);
    const text = joined(typed("response.output_text.delta"), "delta");
    const args = joined(typed("response.function_call_arguments.delta"), "delta");
    const done = joined(typed("response.output_text.done"), "text");
    const doneArgs = joined(typed("response.function_call_arguments.done"), "arguments");
    if (done !== text || doneArgs !== args) return { text: `its parts end as ${done}${doneArgs}`, args: "" };
    for (const event of typed("response.completed")) {
      const whole = joined([event], "response.output.*.content.*.text");
      const wholeArgs = joined([event], "response.output.*.arguments");
      if (whole !== text || wholeArgs !== args)
        return { text: `its end says ${whole}${wholeArgs} and its pieces ${text}${args}`, args: "" };
    }
    return {
      text: text + joined(events, "output.*.content.*.text"),
      args: toOf(args + joined(events, "output.*.arguments")),
    };
  },
};

const gemini: Client = {
  ...{ name: "gemini", isSpoken: true, streams: true },
  places: ["text", "history", "system", "tool-arguments", "tool-result"],
  blocksAt: ["text", "history", "system"],
  path: ({ model, stream }) =>
    `/v1beta/models/${model}:${stream ? "streamGenerateContent?alt=sse" : "generateContent"}`,
  body(asked) {
    const texts = new Texts(asked);
    const parts = (place: ProvedPlace, usual: string) => texts.at(place, usual).map((text) => ({ text }));
    const call = { name: "send", args: { to: texts.one("tool-arguments", "nobody") } };
    const response = { name: "send", response: { output: texts.one("tool-result", "Done.") } };
    return {
      system_instruction: { parts: parts("system", "Be brief.") },
      contents: [
        { role: "user", parts: [{ text: asked.mark }] },
        { role: "model", parts: parts("history", "Fine.") },
        ...(texts.hasTools
          ? [
              { role: "user", parts: [{ text: "Go on." }] },
              { role: "model", parts: [{ functionCall: call }] },
              { role: "user", parts: [{ functionResponse: response }] },
            ]
          : [{ role: "user", parts: parts("text", "Go on.") }]),
      ],
      ...(texts.hasTools && { tools: [{ functionDeclarations: [FUNCTION] }] }),
    };
  },
  read: (events) => ({
    text: joined(events, "candidates.*.content.parts.*.text"),
    args: toOf(
      events.flatMap((event) => valuesAt(event, "candidates.*.content.parts.*.functionCall.args"))[0],
    ),
  }),
};

const ollama: Client = {
  ...{ name: "ollama", isSpoken: false, streams: true },
  places: ["text", "history", "system", "tool-arguments", "tool-result"],
  blocksAt: [],
  path: () => "/api/chat",
  body(asked) {
    const texts = new Texts(asked);
    const { model, stream, mark } = asked;
    return {
      ...{ model, stream, messages: chatTurns(texts, mark, false, false) },
      ...(texts.hasTools && { tools: [{ type: "function", function: FUNCTION }] }),
    };
  },
  read: (events) => ({
    text: joined(events, "message.content"),
    args: toOf(events.flatMap((event) => valuesAt(event, `message.${FUNCTION_CALLS}`))[0]),
  }),
};

const generate: Client = {
  ...{ name: "ollama-generate", isSpoken: false, streams: true, places: ["text", "system"], blocksAt: [] },
  path: () => "/api/generate",
  body(asked) {
    const texts = new Texts(asked);
    const { model, stream, mark, place } = asked;
    return {
      ...{ model, stream },
      ...{
        prompt: place === "text" ? texts.one("text", "") : mark,
        system: place === "text" ? mark : texts.one("system", ""),
      },
    };
  },
  read: (events) => ({ text: joined(events, "response"), args: "" }),
};

const embeddings: Client = {
  ...{ name: "embeddings", isSpoken: true, streams: false, places: ["text"], blocksAt: ["text"] },
  path: () => "/v1/embeddings",
  body: ({ model, mark, texts }) => ({ model, input: [mark, ...texts] }),
  read: () => ({ text: "", args: "" }),
};

export const CLIENTS: readonly Client[] = [chat, messages, responses, gemini, ollama, generate, embeddings];
