/**
 * The shape of what weir writes, judged by the vendors' own types: requests that reach an upstream, JSON answers, and streams
 * event by event, with the order of events that the vendors' documentation promises.
 */
import type { Api } from "./policy.ts";
import { judgeByTypes } from "./vendor-types.ts";

type Value = Record<string, unknown>;

const messagesTypes = judgeByTypes("@anthropic-ai/sdk/resources/messages/messages.d.ts");
const chatTypes = judgeByTypes(
  "openai/resources/chat/completions/completions.d.ts",
  "openai/resources/shared.d.ts",
  "openai/resources/completions.d.ts",
);

/** Members beyond OpenAI's types that hosts of its format document and weir writes on purpose. */
const CHAT_EXTENSIONS =
  /\.(?:reasoning_content|reasoning_details|stop_reason|cache_write_tokens|thinking|top_k|random_seed|annotations|extra_content) is unknown$/;

/** Settings that models before Claude 4.7 take; the types are those of the newest models. */
const OLDER_MODELS = /^MessageCreateParamsBase\.(?:temperature|top_p|top_k) is unknown$/;

/**
 * Members the types require of an answer and the vendor's own answers leave out: of 155 recorded ones none has `diagnostics`
 * or `speed`, and most lack the others.
 */
const LEFT_OUT = /\.(?:diagnostics|speed|citations|caller|server_tool_use|inference_geo) is missing$/;

const withoutExtensions = (faults: readonly string[]) =>
  faults.filter((fault) => !CHAT_EXTENSIONS.test(fault));

const vital = (faults: readonly string[]) => faults.filter((fault) => !LEFT_OUT.test(fault));

/** Faults of a body that reached an upstream of the API. */
export const requestShape: Record<Api, (body: Value) => string[]> = {
  chat: (body) => withoutExtensions(chatTypes("ChatCompletionCreateParamsBase", body)),
  messages: (body) =>
    messagesTypes("MessageCreateParamsBase", body).filter((fault) => !OLDER_MODELS.test(fault)),
};

/** Faults of a JSON answer. */
export const answerShape: Record<Api, (body: unknown) => string[]> = {
  chat: (body) => withoutExtensions(chatTypes("ChatCompletion", body)),
  messages: (body) => vital(messagesTypes("Message", body)),
};

/** Faults of the bytes of a whole streamed answer. */
export const streamShape: Record<Api, (text: string) => string[]> = {
  chat(text) {
    const frames = framesIn(text);
    const faults: string[] = [];
    if (frames.at(-1)?.data !== "[DONE]") faults.push("the stream does not end with [DONE]");
    for (const { event } of frames)
      if (event !== undefined) faults.push(`an event with the name ${event}; the SDK would parse it`);
    const chunks = frames
      .filter(({ data }) => data !== "[DONE]")
      .map(({ data }) => JSON.parse(data) as Value);
    for (const chunk of chunks) faults.push(...withoutExtensions(chatTypes("ChatCompletionChunk", chunk)));
    return [...faults, ...chunkOrder(chunks)];
  },
  messages(text) {
    const faults: string[] = [];
    const events = framesIn(text).map(({ event, data }) => {
      const value = JSON.parse(data) as Value;
      if (event !== value["type"]) faults.push(`the event ${event} has the type ${String(value["type"])}`);
      return value;
    });
    const said = events.filter(({ type }) => type !== "ping");
    for (const event of said) faults.push(...vital(messagesTypes("RawMessageStreamEvent", event)));
    return [...faults, ...eventOrder(said)];
  },
};

interface Frame {
  event: string | undefined;
  data: string;
}

/** The records of an event stream that carry data; comments are left out. */
function framesIn(text: string): Frame[] {
  return text.split(/\r?\n\r?\n/).flatMap((record) => {
    const lines = record.split(/\r?\n/);
    const read = (name: string) =>
      lines
        .filter((line) => line.startsWith(`${name}:`))
        .map((line) => line.slice(name.length + 1).trimStart());
    const data = read("data");
    return data.length === 0 ? [] : [{ event: read("event")[0], data: data.join("\n") }];
  });
}

/** One head for all chunks; the role first, one finish, then nothing but usage; calls begin with id, type and name. */
function chunkOrder(chunks: readonly Value[]): string[] {
  const faults: string[] = [];
  for (const name of ["id", "object", "created", "model"]) {
    const values = new Set(chunks.map((chunk) => chunk[name]));
    if (values.size > 1) faults.push(`${name} changes within the stream: ${[...values].join(", ")}`);
  }
  const created = Number(chunks[0]?.["created"]);
  if (Math.abs(Date.now() / 1000 - created) > 600) faults.push(`created is ${created}, which is not now`);
  let finished = false;
  const begun = new Set<unknown>();
  chunks.forEach((chunk, place) => {
    const choice = listOf(chunk["choices"])[0];
    if (!choice) return;
    const delta = objectOf(choice["delta"]);
    if (place === 0 && delta["role"] !== "assistant") faults.push("the first delta has no role");
    if (finished) faults.push("a choice behind the finish reason");
    for (const call of listOf(delta["tool_calls"])) {
      const isNew = !begun.has(call["index"]);
      if (isNew && call["index"] !== begun.size) faults.push(`the call index ${String(call["index"])} skips`);
      const named = objectOf(call["function"] ?? call["custom"]);
      if (isNew && !(call["id"] && call["type"] && named["name"]))
        faults.push("a call begins without its head");
      begun.add(call["index"]);
    }
    finished = choice["finish_reason"] !== null && choice["finish_reason"] !== undefined;
  });
  if (!finished) faults.push("no finish reason");
  return faults;
}

/** Deltas by the kind of block they grow. */
const DELTAS: Record<string, readonly string[]> = {
  text: ["text_delta", "citations_delta"],
  thinking: ["thinking_delta", "signature_delta"],
  tool_use: ["input_json_delta"],
  server_tool_use: ["input_json_delta"],
};

/** `message_start`, blocks one after the other, each with its stop, one `message_delta`, `message_stop`. */
function eventOrder(events: readonly Value[]): string[] {
  const faults: string[] = [];
  const types = events.map(({ type }) => type);
  for (const [type, place] of [
    ["message_start", 0],
    ["message_delta", types.length - 2],
    ["message_stop", types.length - 1],
  ] as const)
    if (types.indexOf(type) !== place || types.lastIndexOf(type) !== place)
      faults.push(`${type} does not stand once, in its place`);
  let open: { index: unknown; kind: string } | undefined;
  let next = 0;
  for (const event of events) {
    const { type, index } = event;
    if (type === "content_block_start") {
      if (open) faults.push(`block ${String(index)} starts before block ${String(open.index)} has stopped`);
      if (index !== next++) faults.push(`the block index ${String(index)} skips`);
      open = { index, kind: String(objectOf(event["content_block"])["type"]) };
    }
    if (type === "content_block_delta") {
      const kind = String(objectOf(event["delta"])["type"]);
      if (!open || open.index !== index) faults.push(`a delta for block ${String(index)}, which is not open`);
      else if (!DELTAS[open.kind]?.includes(kind)) faults.push(`a ${kind} in a block of type ${open.kind}`);
    }
    if (type === "content_block_stop") {
      if (open?.index !== index) faults.push(`block ${String(index)} stops, which is not open`);
      open = undefined;
    }
    if ((type === "message_delta" || type === "message_stop") && open)
      faults.push(`block ${String(open.index)} has no content_block_stop`);
  }
  const ending = objectOf(events.find(({ type }) => type === "message_delta")?.["delta"]);
  if (typeof ending["stop_reason"] !== "string") faults.push("message_delta has no stop reason");
  return faults;
}

function listOf(value: unknown): Value[] {
  return Array.isArray(value) ? (value as Value[]) : [];
}

function objectOf(value: unknown): Value {
  return typeof value === "object" && value !== null ? (value as Value) : {};
}
