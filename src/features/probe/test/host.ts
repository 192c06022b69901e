/**
 * A fake host of chat-completions on loopback. It does what a model would do for the prompts of the probe and of the clients
 * in the tests, and each of its abilities can be refused with a 400 or ignored.
 */
import { isObject, type Json, type JsonObject } from "../../../core/json.ts";
import { reply as replyOf } from "./model.ts";

/** `yes`: works; `refused`: answered with a 400; `ignored`: accepted and without effect. */
export type Ability = "yes" | "refused" | "ignored";

export interface Abilities {
  /** `refused` here: the host has no such path. */
  models: Ability;
  embeddings: Ability;
  rerank: Ability;
  moderation: Ability;
  responses: Ability;
  messages: Ability;
  countTokens: Ability;
  tokenize: Ability;
  maxTokens: Ability;
  maxCompletionTokens: Ability;
  streaming: Ability;
  streamOptions: Ability;
  jsonUsage: Ability;
  tools: Ability;
  forcedTools: Ability;
  namedTool: Ability;
  parallelTools: Ability;
  oneTool: Ability;
  strictTools: Ability;
  jsonSchema: Ability;
  jsonMode: Ability;
  images: Ability;
  systemInTheMiddle: Ability;
  developerRole: Ability;
  reasoningEffort: Ability;
  n: Ability;
  logprobs: Ability;
  limitHeaders: Ability;
}

/** Deviations that are no abilities. */
export interface Manners {
  /** Number of stop sequences; more are refused or ignored. */
  stop: number;
  stopBeyond: "refused" | "ignored";
  /** Member or tag of the reasoning; absent: the model does not reason. */
  reasoning?: "reasoning_content" | "reasoning" | "<think>";
  replay: "optional" | "required" | "forbidden";
  ids: "any" | "mistral";
  /** What a stream ends with. */
  end: "both" | "done" | "finish" | "none";
  errors: "openai" | "detail" | "text";
  tooLong: boolean;
  /** The key that callers need. */
  key?: string;
  /** Number of calls that are answered with 429 before the first answer. */
  limited: number;
  /** Status of a refused feature. */
  refusal: number;
  /** Words of every refusal. Default: they name the feature. */
  words?: string;
  /** A feature whose requests get no answer. */
  stalls?: "images";
  /** The models that it lists. */
  listed: string[];
}

export type Variant = Partial<Abilities> & Partial<Manners>;

const ALL: Abilities & Manners = {
  models: "yes",
  embeddings: "yes",
  rerank: "yes",
  moderation: "yes",
  responses: "yes",
  messages: "yes",
  countTokens: "yes",
  tokenize: "yes",
  maxTokens: "yes",
  maxCompletionTokens: "yes",
  streaming: "yes",
  streamOptions: "yes",
  jsonUsage: "yes",
  tools: "yes",
  forcedTools: "yes",
  namedTool: "yes",
  parallelTools: "yes",
  oneTool: "yes",
  strictTools: "yes",
  jsonSchema: "yes",
  jsonMode: "yes",
  images: "yes",
  systemInTheMiddle: "yes",
  developerRole: "yes",
  reasoningEffort: "yes",
  n: "yes",
  logprobs: "yes",
  limitHeaders: "yes",
  stop: 16,
  stopBeyond: "refused",
  replay: "optional",
  ids: "any",
  end: "both",
  errors: "openai",
  tooLong: true,
  limited: 0,
  refusal: 400,
  listed: ["some-embed", "chat-1", "chat-2"],
};

export type Nature = Abilities & Manners;

export interface Seen {
  path: string;
  headers: Record<string, string>;
  body: JsonObject;
  status: number;
}

export interface FakeHost {
  /** Base URL, with `/v1`. */
  url: string;
  /** The calls since the last `clear`. */
  seen: Seen[];
  clear(): void;
  stop(): Promise<void>;
}

/** An error of the host: status and words. */
export class Refusal extends Error {
  constructor(
    readonly status: number,
    message: string,
  ) {
    super(message);
  }
}

export function startHost(variant: Variant = {}): FakeHost {
  const nature: Nature = { ...ALL, ...variant };
  const seen: Seen[] = [];
  let limited = nature.limited;
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      const path = new URL(request.url).pathname;
      const body = request.method === "POST" ? ((await request.json()) as JsonObject) : {};
      const entry = { path, headers: request.headers.toJSON(), body, status: 200 };
      seen.push(entry);
      if (nature.stalls && JSON.stringify(body).includes("image_url")) return new Promise<Response>(() => {});
      const response = answer(path, body, request, nature, () => limited-- > 0);
      entry.status = response.status;
      return response;
    },
  });
  return {
    url: `http://127.0.0.1:${server.port}/v1`,
    seen,
    clear: () => void (seen.length = 0),
    stop: () => server.stop(true),
  };
}

function answer(
  path: string,
  body: JsonObject,
  request: Request,
  nature: Nature,
  isLimited: () => boolean,
): Response {
  try {
    if (nature.key !== undefined && request.headers.get("authorization") !== `Bearer ${nature.key}`)
      throw new Refusal(401, "Incorrect API key provided.");
    const route = ROUTES[path];
    if (!route || (route.ability && nature[route.ability] === "refused")) throw new Refusal(404, "Not Found");
    if (path === "/v1/chat/completions" && isLimited())
      return Response.json(
        { error: { message: "slow down" } },
        { status: 429, headers: { "retry-after-ms": "5" } },
      );
    return route.serve(body, nature);
  } catch (thrown) {
    if (!(thrown instanceof Refusal)) throw thrown;
    const message = (thrown.status === 400 && nature.words) || thrown.message;
    const status = thrown.status === 400 ? nature.refusal : thrown.status;
    if (nature.errors === "text") return new Response(message, { status });
    const words: JsonObject =
      nature.errors === "detail"
        ? { detail: message }
        : { error: { message, type: "invalid_request_error", param: null, code: null } };
    return Response.json(words, { status });
  }
}

interface Route {
  /** Absent for the path that every host has. */
  ability?:
    "models" | "embeddings" | "rerank" | "moderation" | "responses" | "messages" | "countTokens" | "tokenize";
  serve(body: JsonObject, nature: Nature): Response;
}

const ROUTES: Record<string, Route> = {
  "/v1/models": {
    ability: "models",
    serve: (_body, { listed }) => Response.json({ object: "list", data: listed.map((id) => ({ id })) }),
  },
  "/v1/embeddings": {
    ability: "embeddings",
    serve: ({ model }) =>
      Response.json({
        object: "list",
        model: String(model),
        data: [{ object: "embedding", index: 0, embedding: [0.5, 0.25] }],
        usage: { prompt_tokens: 1, total_tokens: 1 },
      }),
  },
  "/v1/rerank": {
    ability: "rerank",
    serve: () =>
      Response.json({
        results: [0, 1].map((index) => ({ index, relevance_score: 0.5 - index / 4 })),
        usage: { total_tokens: 2 },
      }),
  },
  "/v1/moderations": {
    ability: "moderation",
    serve: () => Response.json({ results: [{ flagged: false, categories: {}, category_scores: {} }] }),
  },
  "/v1/responses": {
    ability: "responses",
    serve: ({ stream: streams }, { responses }) =>
      streams === true
        ? eventStream(responses === "yes" ? RESPONSES : RESPONSES.map(withoutIndex))
        : Response.json({ object: "response", output: [] }),
  },
  "/v1/messages": {
    ability: "messages",
    serve: ({ stream: streams }, { messages }) =>
      streams === true
        ? eventStream(messages === "yes" ? MESSAGES : MESSAGES.slice(0, -1))
        : Response.json({ type: "message", content: [] }),
  },
  "/v1/messages/count_tokens": { ability: "countTokens", serve: () => Response.json({ input_tokens: 3 }) },
  "/tokenize": { ability: "tokenize", serve: () => Response.json({ count: 1, tokens: [7] }) },
  "/v1/chat/completions": { serve: chat },
};

const PLACE = { output_index: 0, content_index: 0, item_id: "msg_1" };
const RESPONSES: JsonObject[] = [
  { type: "response.created", response: {} },
  { type: "response.output_item.added", output_index: 0, item: {} },
  { type: "response.output_text.delta", ...PLACE, delta: "hi" },
  { type: "response.output_item.done", output_index: 0, item: {} },
  { type: "response.completed", response: {} },
];
const MESSAGES: JsonObject[] = [
  { type: "message_start", message: {} },
  { type: "content_block_start", index: 0, content_block: {} },
  { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "hi" } },
  { type: "content_block_stop", index: 0 },
  { type: "message_delta", delta: { stop_reason: "end_turn" }, usage: {} },
  { type: "message_stop" },
];

function withoutIndex({ output_index: _, ...event }: JsonObject): JsonObject {
  return event;
}

function eventStream(events: readonly JsonObject[]): Response {
  const text = events.map((event) => `event: ${String(event["type"])}\ndata: ${JSON.stringify(event)}\n\n`);
  return new Response(text.join(""), { headers: { "content-type": "text/event-stream" } });
}

function chat(body: JsonObject, nature: Nature): Response {
  const reply = replyOf(body, nature);
  const headers = nature.limitHeaders === "yes" ? { "x-ratelimit-remaining-requests": "9" } : undefined;
  if (body["stream"] === true && nature.streaming === "yes")
    return new Response(stream(reply, body, nature), {
      headers: { "content-type": "text/event-stream", ...headers },
    });
  const choices = reply.choices.map(({ message, finish, logprobs }, index) => ({
    index,
    message: message as Json,
    finish_reason: finish,
    ...(logprobs && { logprobs: LOGPROBS }),
  }));
  const usage = nature.jsonUsage === "yes" ? { usage: reply.usage } : {};
  return Response.json(
    { id: "chatcmpl-1", object: "chat.completion", created: 1, model: "chat-1", choices, ...usage },
    { headers },
  );
}

const LOGPROBS = { content: [{ token: "a", logprob: -0.5, bytes: null, top_logprobs: [] }], refusal: null };

function stream(reply: ReturnType<typeof replyOf>, body: JsonObject, nature: Nature): string {
  const chunk = (more: JsonObject) =>
    `data: ${JSON.stringify({ id: "chatcmpl-1", object: "chat.completion.chunk", created: 1, model: "chat-1", ...more })}\n\n`;
  const { choices } = reply;
  let text = "";
  for (const [index, { message, finish, logprobs }] of choices.entries()) {
    const { content, tool_calls: calls, ...others } = message;
    const delta = (part: JsonObject, more: JsonObject = {}) =>
      (text += chunk({ choices: [{ index, delta: part, finish_reason: null, ...more }] }));
    delta({ role: "assistant", ...others });
    if (typeof content === "string")
      for (const piece of content.match(/.{1,8}/gs) ?? [])
        delta({ content: piece }, logprobs ? { logprobs: LOGPROBS } : {});
    if (Array.isArray(calls))
      for (const [at, call] of calls.entries())
        delta({ tool_calls: [{ index: at, ...(call as JsonObject) }] });
    if (nature.end === "both" || nature.end === "finish")
      text += chunk({ choices: [{ index, delta: {}, finish_reason: finish }] });
  }
  const asks = isObject(body["stream_options"]) && body["stream_options"]["include_usage"] === true;
  if (asks && nature.streamOptions === "yes") text += chunk({ choices: [], usage: reply.usage });
  return nature.end === "both" || nature.end === "done" ? `${text}data: [DONE]\n\n` : text;
}
