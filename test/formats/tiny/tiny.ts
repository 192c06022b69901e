/**
 * A format as small as one can be, in a plugin file, with a client side and a provider side. It has text turns and an output
 * limit; whatever else a request holds is a loss.
 *
 *     POST /v1/tiny  {"model", "say": [{"who": "system" | "user" | "bot", "text"}], "limit"?, "mood"?, "stream"?}
 *     {"text", "why": "done" | "limit", "tokens": {"in", "out"}}
 *
 * A stream is SSE records with a piece of `text` each; the last one has `why` and `tokens`. An error is
 * {"error": {"type", "message"}}.
 */
import type {
  AnswerReader,
  AnswerWriter,
  Block,
  ChatEvent,
  ChatRequest,
  ClientCodec,
  CodecContext,
  ErrorAnswer,
  FinishReason,
  Frame,
  Json,
  JsonObject,
  Role,
  Turn,
  UpstreamCodec,
  Usage,
} from "weir";
import {
  checkForeignFields,
  decodeError,
  decodeErrorBody,
  definePlugin,
  GatewayError,
  invalidRequest,
  isObject,
  NO_USAGE,
  parseJson,
} from "weir";

const ROLES: Record<string, Role> = { system: "system", user: "user", bot: "assistant" };
const NAMES: Record<Role, string> = { system: "system", user: "user", assistant: "bot" };

// ---- Requests

const schema: JsonObject = {
  title: "TinyRequest",
  type: "object",
  required: ["model", "say"],
  properties: {
    model: { type: "string", minLength: 1 },
    say: {
      type: "array",
      minItems: 1,
      items: {
        type: "object",
        required: ["who", "text"],
        properties: { who: { enum: Object.keys(ROLES) }, text: { type: "string" } },
      },
    },
    limit: { type: "integer", minimum: 1 },
    mood: { type: "string" },
    stream: { type: "boolean" },
  },
};

const tokens: JsonObject = {
  type: "object",
  required: ["in", "out"],
  properties: { in: { type: "integer" }, out: { type: "integer" } },
};
const ending: JsonObject = { why: { enum: ["done", "limit"] }, tokens };

const schemas = {
  answer: { type: "object", required: ["text", "why"], properties: { text: { type: "string" }, ...ending } },
  event: { type: "object", properties: { text: { type: "string" }, ...ending } },
  error: {
    type: "object",
    required: ["error"],
    properties: { error: { type: "object", required: ["type", "message"] } },
  },
};

function checkRequest(body: Json): asserts body is JsonObject {
  if (!isObject(body)) throw invalidRequest("The body must be a JSON object.");
  if (typeof body.model !== "string" || body.model === "")
    throw invalidRequest("model: a text is needed", "model");
  if (!Array.isArray(body.say) || body.say.length === 0) throw invalidRequest("say: a list is needed", "say");
  for (const [index, turn] of body.say.entries())
    if (!isObject(turn) || typeof turn.text !== "string" || !Object.hasOwn(ROLES, String(turn.who)))
      throw invalidRequest(`say[${index}]: who and text are needed`, `say[${index}]`);
  if (body.limit !== undefined && !(Number.isInteger(body.limit) && Number(body.limit) > 0))
    throw invalidRequest("limit: a positive whole number is needed", "limit");
  if (body.stream !== undefined && typeof body.stream !== "boolean")
    throw invalidRequest("stream: true or false is needed", "stream");
}

function decodeRequest(body: JsonObject): ChatRequest {
  const turns = (body.say as JsonObject[]).map(({ who, text }, index): Turn => {
    const path = `say[${index}]`;
    return { role: ROLES[String(who)]!, blocks: [{ type: "text", text: String(text), path }], path };
  });
  return {
    model: String(body.model),
    turns,
    tools: [],
    stop: [],
    stream: body.stream === true,
    style: {},
    extra: { tiny: body.mood === undefined ? {} : { mood: body.mood } },
    ownFields: { tiny: { mood: { report: () => true } } },
    ...(body.limit !== undefined && { maxTokens: Number(body.limit) }),
    paths: { turns: "say", maxTokens: "limit" },
  };
}

function encodeRequest(request: ChatRequest, context: CodecContext): JsonObject {
  checkForeignFields(request, "tiny", context);
  const { paths = {} } = request;
  const lost: [unknown, string][] = [
    [request.tools.length > 0 || undefined, "tools"],
    [request.stop.length > 0 || undefined, paths.stop ?? "stop"],
    [request.temperature, paths.temperature ?? "temperature"],
    [request.topP, paths.topP ?? "top_p"],
    [request.reasoning, paths.effort ?? paths.reasoning ?? "reasoning"],
    [request.answerFormat, paths.answerFormat ?? "answer_format"],
  ];
  for (const [value, path] of lost) if (value !== undefined) context.reportLoss("dropped", path);
  const say = request.turns.map((turn) => ({
    who: NAMES[turn.role],
    text: turn.blocks.map((block) => textOf(block, turn.path ?? "turns", context)).join("\n"),
  }));
  return {
    model: context.target.model,
    say,
    ...(request.maxTokens !== undefined && { limit: request.maxTokens }),
    ...request.extra.tiny,
    ...(request.stream && { stream: true }),
  };
}

function textOf(block: Block, path: string, context: CodecContext): string {
  if (block.type === "text" || block.type === "refusal") return block.text;
  if (block.type === "reasoning") {
    context.reportLoss("dropped", block.path ?? path, "reasoning of earlier turns");
    return "";
  }
  throw invalidRequest(
    `${block.path ?? path}: the format has only text.`,
    block.path ?? path,
    "unsupported_value",
  );
}

// ---- Answers

interface Ending {
  why?: string;
  tokens?: JsonObject;
}

const END: Record<string, FinishReason["kind"]> = { done: "stop", limit: "length" };

function usageOf({ tokens }: Ending): Usage {
  if (!isObject(tokens)) return NO_USAGE;
  return { ...NO_USAGE, input: Number(tokens.in), output: Number(tokens.out), known: "final" };
}

function begin(context: CodecContext): ChatEvent[] {
  return [
    { type: "message-start", id: context.id, model: context.target.model },
    { type: "block-start", index: 0, block: { type: "text" } },
  ];
}

function piece({ text }: JsonObject): ChatEvent[] {
  return typeof text === "string" && text !== "" ? [{ type: "block-delta", index: 0, delta: text }] : [];
}

function finish(ending: Ending): ChatEvent[] {
  const kind = Object.hasOwn(END, String(ending.why)) ? END[String(ending.why)] : undefined;
  if (kind === undefined)
    throw new GatewayError("upstream", "The provider did not say why its answer ended.");
  return [
    { type: "block-end", index: 0 },
    { type: "message-end", reason: { kind, raw: String(ending.why) }, usage: usageOf(ending) },
  ];
}

function readAnswer(body: JsonObject, context: CodecContext): ChatEvent[] {
  if (body.error !== undefined) throw decodeErrorBody(body);
  return [...begin(context), ...piece(body), ...finish(body as Ending)];
}

function readStream(context: CodecContext): AnswerReader {
  let isFirst = true;
  return {
    push({ data }) {
      const record = parseJson(data);
      if (!isObject(record))
        throw new GatewayError("upstream", "The provider sent a record that is no object.");
      if (record.error !== undefined) throw decodeErrorBody(record);
      const events = [...(isFirst ? begin(context) : []), ...piece(record)];
      isFirst = false;
      return record.why === undefined ? events : [...events, ...finish(record as Ending)];
    },
    end() {
      throw new GatewayError("upstream", "The provider's stream ended before the answer was complete.", {
        code: "stream_incomplete",
      });
    },
  };
}

const frame = (value: JsonObject): Frame => ({ data: JSON.stringify(value) });

function endingOf({ reason, usage }: ChatEvent & { type: "message-end" }): JsonObject {
  const isCut = reason.kind === "length";
  const count = usage.input + usage.cacheRead + usage.cacheWrite;
  return { why: isCut ? "limit" : "done", tokens: { in: count, out: usage.output } };
}

function writeStream(): AnswerWriter {
  const shown = new Set<number>();
  let isWhole = false;
  return {
    push(event) {
      if (event.type === "block-start" && isText(event.block.type)) shown.add(event.index);
      if (event.type === "block-delta" && shown.has(event.index)) return [frame({ text: event.delta })];
      if (event.type !== "message-end") return [];
      isWhole = true;
      return [frame(endingOf(event))];
    },
    end() {
      if (!isWhole)
        throw new GatewayError("upstream", "The answer has no end.", { code: "stream_incomplete" });
      return [];
    },
  };
}

function isText(type: string): boolean {
  return type === "text" || type === "refusal";
}

function writeAnswer(events: readonly ChatEvent[]): JsonObject {
  const last = events.at(-1);
  if (last?.type !== "message-end")
    throw new GatewayError("upstream", "The answer has no end.", { code: "stream_incomplete" });
  const writer = writeStream();
  const records = events
    .flatMap((event) => writer.push(event))
    .map(({ data }) => JSON.parse(data) as JsonObject);
  const text = records.map((record) => (typeof record.text === "string" ? record.text : "")).join("");
  return { text, ...endingOf(last) };
}

// ---- Errors

function encodeError(error: GatewayError): ErrorAnswer {
  const { kind, message, param, retryAfter } = error;
  return {
    status: error.status,
    headers: retryAfter === undefined ? {} : { "retry-after": String(Math.ceil(retryAfter)) },
    body: { error: { type: kind, message, ...(param !== undefined && { param }) } },
  };
}

const client: ClientCodec = {
  routes: { path: "/v1/tiny" },
  request: { schema, schemas, checkRequest },
  codec: {
    decodeRequest,
    writeStream,
    writeAnswer,
    encodeError,
    encodeStreamError: (error) => [frame(encodeError(error).body)],
    framing: { heartbeat: ": still here\n\n" },
  },
  facts: {},
  beside: {},
};

const upstream: UpstreamCodec = {
  address: { requestHeaders: [], answerHeaders: ["retry-after"] },
  codec: { encodeRequest, readStream, readAnswer, decodeError },
  native: {
    watch: {
      marks: ['"why"', '"error"'],
      frame({ data }, seen) {
        const record = parseJson(data);
        if (isObject(record)) this.answer(record, seen);
      },
      answer(body, seen) {
        if (body.error !== undefined) seen.error = decodeErrorBody(body);
        if (body.why === undefined) return;
        seen.usage = usageOf(body as Ending);
        seen.terminated = seen.complete = seen.finished = true;
      },
    },
  },
};

export default definePlugin({
  name: "tiny",
  formats: [{ id: "tiny", client, upstream }],
  providers: [
    {
      name: "tiny",
      models: ["tiny/*"],
      speaks: { tiny: "/tiny" },
      baseUrl: "https://tiny.example.com/v1",
      apiKey: "TINY_API_KEY",
    },
  ],
});
