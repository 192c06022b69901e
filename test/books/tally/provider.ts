/** A provider in four formats, of embeddings and behind a plugin, that keeps a bill of its own: what it answered, priced by its own arithmetic from its own counts. */
import { cut, json, type Piece, sse, startUpstream, type Upstream } from "../../helpers/upstream.ts";
import { type Exchange, exchangeOf, type Host, numberIn } from "./exchange.ts";

/** Dollars a million tokens, by the host. The odd ones make sums with fractions of a nano-dollar. */
export const PRICES: Readonly<Record<Host, { input: number; cacheRead: number; output: number }>> = {
  chat: { input: 1.25, cacheRead: 0.125, output: 10 },
  responses: { input: 2.503, cacheRead: 0.2507, output: 15.011 },
  messages: { input: 3, cacheRead: 0.3, output: 15 },
  gemini: { input: 0.301, cacheRead: 0.0333, output: 2.4999 },
  program: { input: 0.777, cacheRead: 0.0777, output: 4.321 },
  embeds: { input: 0.0213, cacheRead: 0.0213, output: 0 },
};

/** A plugin that answers by itself: it asks the provider for words and counts, and has its own way to write them. */
export const programPlugin = (url: string): string => `
import { type ChatEvent, type ChatRequest, definePlugin, NO_USAGE } from "weir";

async function* generate(request: ChatRequest): AsyncGenerator<ChatEvent> {
  const response = await fetch("${url}/program", { method: "POST", body: JSON.stringify(request.turns) });
  const { text, input, cacheRead, output } = await response.json();
  yield { type: "message-start", id: "p1", model: request.model };
  yield { type: "block-start", index: 0, block: { type: "text" } };
  yield { type: "block-delta", index: 0, delta: text };
  yield { type: "block-end", index: 0 };
  yield { type: "message-end", reason: { kind: "stop" }, usage: { ...NO_USAGE, input, cacheRead, output } };
}

export default definePlugin({ name: "hprogram", providers: [{ name: "hprogram", models: ["m"], generate }] });
`;

export interface Bill {
  host: Host;
  /** Nano-dollars. */
  cost: number;
  /** The whole answer was sent. */
  isWhole: boolean;
}

export interface TallyProvider {
  url: string;
  /** By the number of the call. */
  bills: Map<number, Bill[]>;
  stop(): void;
}

/** Picodollars are summed as integers without limit, and rounded half up once. */
export function costOf(host: Host, input: number, cacheRead: number, output: number): number {
  const { [host]: price } = PRICES;
  const pico =
    BigInt(input) * BigInt(Math.round(price.input * 1e6)) +
    BigInt(cacheRead) * BigInt(Math.round(price.cacheRead * 1e6)) +
    BigInt(output) * BigInt(Math.round(price.output * 1e6));
  return Number((pico + 500n) / 1000n);
}

export function startProvider(): TallyProvider {
  const bills = new Map<number, Bill[]>();
  const tries = new Map<number, number>();
  const bill = (exchange: Exchange, host: Host, produced: number, isWhole: boolean) => {
    const { number, input, cacheRead } = exchange;
    const entry = { host, cost: costOf(host, input, cacheRead, produced), isWhole };
    bills.set(number, [...(bills.get(number) ?? []), entry]);
  };
  const upstream: Upstream = startUpstream(({ path, body }) => {
    upstream.requests.length = 0;
    const host = hostOf(path);
    const text = body.toString();
    const number = numberIn(text);
    if (!host || number < 0) return json({ object: "list", data: [] });
    const exchange = exchangeOf(number);
    const isDead = `${path} ${text.slice(0, 200)} ${text.slice(-200)}`.includes("dead-model");
    const failures = tries.get(number) ?? 0;
    tries.set(number, failures + 1);
    if (isDead || (exchange.ending === "retried" && failures === 0)) return failure(host, 503);
    if (exchange.ending === "failed") return failure(host, 400);
    if (host === "program" || host === "embeds") {
      bill(exchange, host, exchange.output, true);
      return json(host === "program" ? { ...exchange, text: textOf(exchange) } : embedding(exchange));
    }
    if (!exchange.stream) {
      bill(exchange, host, exchange.output, true);
      return json(FORMATS[host].whole(exchange));
    }
    const frames = streamOf(exchange, host, (produced, isWhole) => bill(exchange, host, produced, isWhole));
    return exchange.ending === "cut" ? cut(frames, "rst") : sse(frames);
  });
  return { url: upstream.url, bills, stop: () => upstream.stop() };
}

function hostOf(path: string): Host | undefined {
  if (path.endsWith("/chat/completions")) return "chat";
  if (path.endsWith("/responses")) return "responses";
  if (path.endsWith("/messages")) return "messages";
  if (path.endsWith("/program")) return "program";
  if (path.endsWith("/embeddings")) return "embeds";
  return path.includes("enerateContent") ? "gemini" : undefined;
}

function failure(host: Host, status: number) {
  const message = status === 400 ? "The request is wrong." : "The model is overloaded.";
  const type = status === 400 ? "invalid_request_error" : "overloaded_error";
  if (host === "messages") return json({ type: "error", error: { type, message } }, status);
  if (host === "gemini")
    return json(
      { error: { code: status, message, status: status === 400 ? "INVALID_ARGUMENT" : "UNAVAILABLE" } },
      status,
    );
  return json({ error: { message, type } }, status);
}

/** A word is a token. */
const WORD = " alpha";
/** Tokens of one event. */
const STEP = 4;

/** @param billed called once, when the last event was sent or the stream has ended before */
async function* streamOf(
  exchange: Exchange,
  host: Generating,
  billed: (produced: number, isWhole: boolean) => void,
): AsyncGenerator<Piece> {
  const { ending, output } = exchange;
  const { begin, delta, end } = FORMATS[host];
  // A client that leaves does it behind some events; the provider goes on slowly until it is stopped.
  const isPaced = ending === "left";
  const stops = ending === "cut" ? Math.ceil(output / 2) : output;
  let produced = 0;
  let isWhole = false;
  try {
    yield frames(begin(exchange));
    while (produced < stops) {
      const count = Math.min(STEP, stops - produced);
      produced += count;
      yield frames([delta(WORD.repeat(count))]);
      if (isPaced) yield { wait: 20 };
    }
    if (ending === "cut") return;
    isWhole = true;
    yield frames(end(exchange));
  } finally {
    billed(produced, isWhole);
  }
}

function frames(values: readonly object[]): string {
  return values
    .map((value) => {
      const name = "type" in value ? `event: ${String(value.type)}\n` : "";
      return `${name}data: ${JSON.stringify(value)}\n\n`;
    })
    .join("");
}

/** Hosts that speak a format of generation. */
type Generating = Exclude<Host, "program" | "embeds">;

interface Format {
  whole(exchange: Exchange): object;
  begin(exchange: Exchange): object[];
  delta(text: string): object;
  end(exchange: Exchange): object[];
}

const textOf = ({ output }: Exchange) => WORD.repeat(output);

const chatUsage = ({ input, cacheRead, output, reasoning }: Exchange) => ({
  prompt_tokens: input + cacheRead,
  completion_tokens: output,
  total_tokens: input + cacheRead + output,
  prompt_tokens_details: { cached_tokens: cacheRead },
  completion_tokens_details: { reasoning_tokens: reasoning },
});

const responsesUsage = ({ input, cacheRead, output, reasoning }: Exchange) => ({
  input_tokens: input + cacheRead,
  input_tokens_details: { cached_tokens: cacheRead },
  output_tokens: output,
  output_tokens_details: { reasoning_tokens: reasoning },
  total_tokens: input + cacheRead + output,
});

const messagesUsage = ({ input, cacheRead, output }: Exchange) => ({
  input_tokens: input,
  cache_read_input_tokens: cacheRead,
  cache_creation_input_tokens: 0,
  output_tokens: output,
});

const geminiUsage = ({ input, cacheRead, output, reasoning }: Exchange) => ({
  promptTokenCount: input + cacheRead,
  cachedContentTokenCount: cacheRead,
  candidatesTokenCount: output - reasoning,
  thoughtsTokenCount: reasoning,
  totalTokenCount: input + cacheRead + output,
});

const chunk = (delta: object, more: object = {}) => ({
  ...{ id: "c", object: "chat.completion.chunk", created: 1, model: "m" },
  choices: [{ index: 0, delta, finish_reason: null }],
  ...more,
});

const response = (status: string, output: object[], usage: object | null) => ({
  ...{ id: "resp_1", object: "response", created_at: 1, model: "m", status, output, usage },
});

const message = (text: string, status: string) => ({
  ...{ id: "msg_1", type: "message", role: "assistant", status },
  content: [{ type: "output_text", text, annotations: [] }],
});

const PART = { item_id: "msg_1", output_index: 0, content_index: 0 };

const candidate = (text: string, more: object = {}) => ({
  candidates: [{ index: 0, content: { role: "model", parts: [{ text }] }, ...more }],
});

const embedding = ({ input }: Exchange) => ({
  ...{ object: "list", model: "m", data: [{ object: "embedding", index: 0, embedding: [0.25, -0.5] }] },
  usage: { prompt_tokens: input, total_tokens: input },
});

const FORMATS: Readonly<Record<Generating, Format>> = {
  chat: {
    whole: (exchange) => ({
      ...{ id: "c", object: "chat.completion", created: 1, model: "m", usage: chatUsage(exchange) },
      choices: [
        { index: 0, message: { role: "assistant", content: textOf(exchange) }, finish_reason: "stop" },
      ],
    }),
    begin: () => [chunk({ role: "assistant", content: "" })],
    delta: (content) => chunk({ content }),
    end: (exchange) => [
      chunk({}, { choices: [{ index: 0, delta: {}, finish_reason: "stop" }] }),
      chunk({}, { choices: [], usage: chatUsage(exchange) }),
    ],
  },
  responses: {
    whole: (exchange) =>
      response("completed", [message(textOf(exchange), "completed")], responsesUsage(exchange)),
    begin: () => [
      { type: "response.created", response: response("in_progress", [], null) },
      { type: "response.output_item.added", output_index: 0, item: message("", "in_progress") },
      { type: "response.content_part.added", ...PART, part: { type: "output_text", text: "" } },
    ],
    delta: (delta) => ({ type: "response.output_text.delta", ...PART, delta }),
    end: (exchange) => {
      const text = textOf(exchange);
      const item = message(text, "completed");
      return [
        { type: "response.output_text.done", ...PART, text },
        { type: "response.content_part.done", ...PART, part: item.content[0] },
        { type: "response.output_item.done", output_index: 0, item },
        { type: "response.completed", response: response("completed", [item], responsesUsage(exchange)) },
      ];
    },
  },
  messages: {
    whole: (exchange) => ({
      ...{ id: "msg_1", type: "message", role: "assistant", model: "m", stop_sequence: null },
      ...{ content: [{ type: "text", text: textOf(exchange) }], stop_reason: "end_turn" },
      usage: messagesUsage(exchange),
    }),
    begin: (exchange) => [
      {
        type: "message_start",
        message: {
          ...{ id: "msg_1", type: "message", role: "assistant", model: "m", content: [] },
          ...{ stop_reason: null, stop_sequence: null, usage: messagesUsage({ ...exchange, output: 1 }) },
        },
      },
      { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
    ],
    delta: (text) => ({ type: "content_block_delta", index: 0, delta: { type: "text_delta", text } }),
    end: ({ output }) => [
      { type: "content_block_stop", index: 0 },
      {
        ...{ type: "message_delta", delta: { stop_reason: "end_turn", stop_sequence: null } },
        usage: { output_tokens: output },
      },
      { type: "message_stop" },
    ],
  },
  gemini: {
    whole: (exchange) => ({
      ...candidate(textOf(exchange), { finishReason: "STOP" }),
      ...{ usageMetadata: geminiUsage(exchange), modelVersion: "m" },
    }),
    begin: () => [],
    delta: (text) => candidate(text),
    end: (exchange) => [{ ...candidate("", { finishReason: "STOP" }), usageMetadata: geminiUsage(exchange) }],
  },
};
