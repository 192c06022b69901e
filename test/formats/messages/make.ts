/** Calls, events and frames for the tests of this format. */
import type { ChatRequest } from "../../../src/core/chat.ts";
import { GatewayError } from "../../../src/core/error.ts";
import type { ChatEvent, FinishReason, Usage } from "../../../src/core/events.ts";
import type { ClientCodec, Frame, UpstreamCodec } from "../../../src/core/format.ts";
import type { JsonObject } from "../../../src/core/json.ts";
import type { Traits } from "../../../src/core/provider.ts";
import { messagesFormat } from "../../../src/formats/messages/index.ts";
import { withPaths, withoutPaths } from "../../helpers/client-paths.ts";
import { lossesOf, makeContext, type TestContext } from "../../helpers/codec-context.ts";
import { readAll, writeAll } from "../../helpers/answer-codecs.ts";
import { checkEvents } from "../../helpers/describe-events.ts";

export const client: ClientCodec = messagesFormat.client;
export const upstream: UpstreamCodec = messagesFormat.upstream;

export interface CallOptions {
  /** The client's format. Default `chat-completions`: everything here is about translation. */
  format?: string;
  /** The upstream's model. */
  model?: string;
  provider?: string;
  traits?: Traits;
  headers?: Record<string, string>;
  request?: ChatRequest;
}

/** What codecs get for such a call. */
export function requestContext(options: CallOptions = {}): TestContext {
  const { format, model = "claude-haiku-4-5", provider = "anthropic", ...others } = options;
  return makeContext({ ...others, model, provider, sameFormat: format === "messages" });
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
  const request = withPaths(makeRequest(parts), options.format ?? "chat-completions");
  const context = requestContext({ request, ...options });
  const body = upstream.codec.encodeRequest(request, context);
  return { body, context, losses: lossesOf(context) };
}

/** The canonical request for a body in this format's own words, without its paths, and what is lost. */
export function decode(body: JsonObject, options: CallOptions = {}) {
  const { request, ...others } = decodePlaced(body, options);
  return { request: withoutPaths(request), ...others };
}

/** The same, with its paths. */
export function decodePlaced(body: JsonObject, options: CallOptions = {}) {
  const context = requestContext({ format: "messages", ...options });
  const whole: JsonObject = { model: "claude-haiku-4-5", max_tokens: 64, ...body };
  client.request.checkRequest(whole);
  const request = client.codec.decodeRequest(whole, context);
  return { request, context, losses: lossesOf(context) };
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
    { type: "message-start", id: "chatcmpl-1", model: "up" },
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

function run(
  index: number,
  block: Extract<ChatEvent, { type: "block-start" }>["block"],
  pieces: string[],
): ChatEvent[] {
  return [
    { type: "block-start", index, block },
    ...pieces.map((delta): ChatEvent => ({ type: "block-delta", index, delta })),
    { type: "block-end", index },
  ];
}

/** The frames a client is sent for these events. */
export function stream(
  events: readonly ChatEvent[],
  context = requestContext({ format: "messages" }),
): Frame[] {
  return writeAll(client.codec.writeStream(context), events);
}

/** The JSON answer a client is sent for them. */
export function writeAnswer(
  events: readonly ChatEvent[],
  context = requestContext({ format: "messages" }),
): JsonObject {
  return client.codec.writeAnswer(events, context);
}

export function dataOf(frames: readonly Frame[]): JsonObject[] {
  return frames.map(({ data }) => JSON.parse(data) as JsonObject);
}

/** Frames as an upstream sends them. */
export function framesOf(events: readonly JsonObject[]): Frame[] {
  return events.map((event) => ({ event: String(event.type), data: JSON.stringify(event) }));
}

/** Canonical events out of what an upstream streams, held to their promises. */
export function read(events: readonly JsonObject[], context = requestContext()): ChatEvent[] {
  const decoded = readFrames(framesOf(events), context);
  checkEvents(decoded);
  return decoded;
}

/** Canonical events out of frames. */
export function readFrames(frames: readonly Frame[], context = requestContext()): ChatEvent[] {
  return readAll(upstream.codec.readStream(context), frames);
}

/** Canonical events out of a JSON answer. */
export function readBody(body: JsonObject, context = requestContext()): ChatEvent[] {
  return upstream.codec.readAnswer(body, context);
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
