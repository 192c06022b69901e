/** Calls, events and frames for the tests of this format. */
import type { ChatRequest } from "../../../src/core/chat.ts";
import { GatewayError } from "../../../src/core/error.ts";
import type { BlockStart, ChatEvent, FinishReason, Usage } from "../../../src/core/events.ts";
import type { ClientCodec, Frame, UpstreamCodec } from "../../../src/core/format.ts";
import type { JsonObject } from "../../../src/core/json.ts";
import type { Traits } from "../../../src/core/provider.ts";
import { readAll, writeAll } from "../../helpers/answer-codecs.ts";
import { chatCompletionsFormat } from "../../../src/formats/chat-completions/index.ts";
import { withPaths, withoutPaths } from "../../helpers/client-paths.ts";
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

/** What codecs get for such a call. */
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
  const request = withPaths(makeRequest(parts), options.format ?? "messages");
  const context = requestContext({ request, ...options });
  const body = upstream.codec.encodeRequest(request, context);
  return { body, context, messages: body.messages as JsonObject[], losses: lossesOf(context) };
}

/** The canonical request for a body in this format's own words, without its paths. */
export function decode(body: JsonObject, options: CallOptions = {}): ChatRequest {
  return withoutPaths(decodePlaced(body, options));
}

/** The same, with its paths. */
export function decodePlaced(body: JsonObject, options: CallOptions = {}): ChatRequest {
  const whole: JsonObject = { model: "m", messages: [{ role: "user", content: "hi" }], ...body };
  client.request.checkRequest(whole);
  return client.codec.decodeRequest(whole, requestContext({ format: "chat-completions", ...options }));
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

/** A call of a client of this format. */
export function clientCall(request: Partial<ChatRequest> = {}): TestContext {
  return requestContext({ format: "chat-completions", request: makeRequest(request) });
}

/** The frames a client is sent for these events. */
export function stream(events: readonly ChatEvent[], context = clientCall()): Frame[] {
  return writeAll(client.codec.writeStream(context), events);
}

/** The JSON answer a client is sent for them. */
export function writeAnswer(events: readonly ChatEvent[], context = clientCall()): JsonObject {
  return client.codec.writeAnswer(events, context);
}

/** The chunks among the frames. */
export function chunks(events: readonly ChatEvent[], context = clientCall()): JsonObject[] {
  const frames = stream(events, context);
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
): ChatEvent[] {
  const frames = [...framesOf(bodies), ...(options.done === false ? [] : [DONE])];
  return readFrames(frames, requestContext(options));
}

/** Canonical events out of frames. */
export function readFrames(frames: readonly Frame[], context = requestContext()): ChatEvent[] {
  return readAll(upstream.codec.readStream(context), frames);
}

/** Canonical events out of a JSON answer. */
export function readBody(body: JsonObject, context = requestContext()): ChatEvent[] {
  return upstream.codec.readAnswer(body, context);
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
  return readBody(body, requestContext(options));
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
