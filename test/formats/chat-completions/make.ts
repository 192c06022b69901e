/** Calls, events and frames for the tests of this format. */
import { Call } from "../../../src/core/call.ts";
import type { ChatRequest } from "../../../src/core/chat.ts";
import { GatewayError } from "../../../src/core/error.ts";
import type { BlockStart, ChatEvent, FinishReason, Usage } from "../../../src/core/events.ts";
import type { ClientCodec, Frame, UpstreamCodec } from "../../../src/core/format.ts";
import type { JsonObject } from "../../../src/core/json.ts";
import type { Traits } from "../../../src/core/provider.ts";
import { chatCompletionsFormat } from "../../../src/formats/chat-completions/index.ts";
import { lossesOf, makeContext, type TestContext } from "../../helpers/codec-context.ts";

export const client: ClientCodec = chatCompletionsFormat.client;
export const upstream: UpstreamCodec = chatCompletionsFormat.upstream;

export interface CallOptions {
  /** The client's format. Default `messages`: most of it is about translation. */
  format?: string;
  /** The upstream's model. */
  model?: string;
  provider?: string;
  traits?: Traits;
  request?: ChatRequest;
}

export function makeCall(options: CallOptions = {}): Call {
  const { model = "some-model", provider = "vendor" } = options;
  const call = new Call("req_test", options.format ?? "messages", new Headers());
  call.model = "asked-for";
  call.request = options.request;
  const deployment = {
    name: provider,
    baseUrl: "http://127.0.0.1:1",
    credentials: {},
    weight: 1,
    priority: 0,
  };
  call.target = {
    provider: {
      name: provider,
      deployments: [deployment],
      source: "built-in",
      patterns: [],
      traits: options.traits,
    },
    deployment,
    model,
    lane: "translated",
    format: "chat-completions",
    url: "http://127.0.0.1:1/chat/completions",
    reason: "test",
  };
  return call;
}

/** What the request side of the codecs gets for such a call. */
export function requestContext({ format, ...options }: CallOptions = {}): TestContext {
  return makeContext({ ...options, askedFor: "asked-for", sameFormat: format === "chat-completions" });
}

/** A canonical request with one word of the user, and what the test is about. */
export function makeRequest(parts: Partial<ChatRequest> = {}): ChatRequest {
  return {
    model: "m",
    turns: [{ role: "user", blocks: [{ type: "text", text: "hi" }] }],
    tools: [],
    stop: [],
    stream: false,
    style: {},
    extra: {},
    ...parts,
  };
}

/** What goes upstream, and the losses told of it as the header lists them. */
export function encode(parts: Partial<ChatRequest>, options: CallOptions = {}) {
  const request = makeRequest(parts);
  const call = makeCall({ request, ...options });
  const context = { ...requestContext({ request, ...options }), toolNames: call.toolNames };
  const body = upstream.encodeRequest(request, context);
  return { body, call, messages: body.messages as JsonObject[], losses: lossesOf(context) };
}

/** The canonical request for a body in this format's own words. */
export function decode(body: JsonObject, options: CallOptions = {}): ChatRequest {
  const whole: JsonObject = { model: "m", messages: [{ role: "user", content: "hi" }], ...body };
  client.checkRequest(whole);
  return client.decodeRequest(whole, requestContext({ format: "chat-completions", ...options }));
}

export const USAGE: Usage = {
  input: 9,
  cacheRead: 317,
  cacheWrite: 4425,
  output: 16,
  reasoning: 0,
  known: "final",
};

/** A whole run of events around some blocks. */
export function answer(
  blocks: readonly ChatEvent[],
  reason: FinishReason = { kind: "stop" },
  usage: Usage = USAGE,
): ChatEvent[] {
  return [
    { type: "message-start", id: "msg_01", model: "up" },
    ...blocks,
    { type: "message-end", reason, usage },
  ];
}

export function text(index: number, ...pieces: string[]): ChatEvent[] {
  return run(index, { type: "text" }, pieces);
}

export function reasoning(index: number, pieces: string[], signature?: string, origin?: string): ChatEvent[] {
  const events = run(index, { type: "reasoning", ...(origin && { origin }) }, pieces);
  return [...events.slice(0, -1), { type: "block-end", index, ...(signature && { signature }) }];
}

export function tool(index: number, name: string, pieces: string[], id = `call_${index}`): ChatEvent[] {
  return run(index, { type: "tool-call", id, name, kind: "function" }, pieces);
}

export function run(index: number, block: BlockStart, pieces: string[] = []): ChatEvent[] {
  return [
    { type: "block-start", index, block },
    ...pieces.map((delta): ChatEvent => ({ type: "block-delta", index, delta })),
    { type: "block-end", index },
  ];
}

export async function* fromList<T>(items: Iterable<T>): AsyncGenerator<T> {
  yield* items;
}

export async function toList<T>(items: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = [];
  for await (const item of items) list.push(item);
  return list;
}

/** A call of a client of this format. */
export function clientCall(request: Partial<ChatRequest> = {}): Call {
  return makeCall({ format: "chat-completions", request: makeRequest(request) });
}

/** The frames a client is sent for these events. */
export function stream(events: readonly ChatEvent[], call = clientCall()): Promise<Frame[]> {
  return toList(client.encodeStream(fromList(events), call));
}

/** The chunks among them. */
export async function chunks(events: readonly ChatEvent[], call = clientCall()): Promise<JsonObject[]> {
  const frames = await stream(events, call);
  return frames.filter(({ data }) => data !== "[DONE]").map(({ data }) => JSON.parse(data) as JsonObject);
}

export function choiceOf(body: JsonObject): JsonObject {
  return (body.choices as JsonObject[])[0]!;
}

export function messageOf(body: JsonObject): JsonObject {
  return choiceOf(body).message as JsonObject;
}

/** The deltas of the chunks that have one. */
export function deltasOf(bodies: readonly JsonObject[]): JsonObject[] {
  const choices = bodies.flatMap((body) => body.choices as JsonObject[]);
  return choices.map((choice) => choice.delta as JsonObject);
}

/** A chunk as an upstream sends it. */
export function chunk(delta: JsonObject, finish: string | null = null, others: JsonObject = {}): JsonObject {
  const { choice, ...rest } = others;
  return {
    id: "chatcmpl-up",
    object: "chat.completion.chunk",
    created: 1,
    model: "up",
    choices: [{ index: 0, delta, finish_reason: finish, ...(choice as JsonObject | undefined) }],
    ...rest,
  };
}

export const DONE: Frame = { data: "[DONE]" };

export function framesOf(bodies: readonly JsonObject[]): Frame[] {
  return bodies.map((body) => ({ data: JSON.stringify(body) }));
}

/** Canonical events out of what an upstream streams. `done`: the terminator follows. */
export function read(
  bodies: readonly JsonObject[],
  options: CallOptions & { done?: boolean } = {},
): Promise<ChatEvent[]> {
  const frames = [...framesOf(bodies), ...(options.done === false ? [] : [DONE])];
  return toList(upstream.decodeStream(fromList(frames), makeCall(options)));
}

/** Canonical events out of a JSON answer with this message. */
export function readAnswer(
  message: JsonObject,
  finish = "stop",
  options: CallOptions & { body?: JsonObject } = {},
): ChatEvent[] {
  const body = {
    id: "chatcmpl-up",
    object: "chat.completion",
    created: 1,
    model: "up",
    choices: [{ index: 0, message: { role: "assistant", content: null, ...message }, finish_reason: finish }],
    ...options.body,
  };
  return [...upstream.decodeAnswer(body, makeCall(options))];
}

/** One line for each event but the first, for sequences to be read at a glance. */
export function sketch(events: readonly ChatEvent[]): string[] {
  return events.slice(1).map((event) => {
    switch (event.type) {
      case "block-start":
        return `start ${event.index} ${event.block.type}${event.block.type === "tool-call" ? ` ${event.block.name}` : ""}`;
      case "block-delta":
        return `delta ${event.index} ${event.delta}`;
      case "block-end":
        return `end ${event.index}`;
      case "message-end":
        return `message-end ${event.reason.kind}`;
      default:
        return event.type;
    }
  });
}

/** The GatewayError something ends in. */
export async function failure(what: () => unknown): Promise<GatewayError> {
  try {
    await what();
  } catch (thrown) {
    if (thrown instanceof GatewayError) return thrown;
    throw thrown;
  }
  throw new Error("nothing was thrown");
}
