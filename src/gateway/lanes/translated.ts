/**
 * The translated and the generated lane: requests and answers go through the canonical request and the canonical events, so
 * that hooks, metering and encoding exist once.
 */
import type { Call } from "../../core/call.ts";
import type { ChatRequest } from "../../core/chat.ts";
import { GatewayError } from "../../core/error.ts";
import type { ChatEvent } from "../../core/events.ts";
import type { Frame, StreamSummary, UpstreamCodec, StreamObserver } from "../../core/format.ts";
import { isObject, parseJson } from "../../core/json.ts";
import { marksOf } from "../../stream/tap.ts";
import { SseParser, writeFrame } from "../../stream/sse.ts";
import type { ByteSource } from "../delivery/stream.ts";
import { settledStream } from "../delivery/settled-stream.ts";
import { generated } from "../plugins/sandbox.ts";
import { contextOf } from "./codec-context.ts";
import { answerHooks, fromList, meter, readEvents, tapEvents, toList, writeFrames } from "./events.ts";
import type { Answer, Gateway, Incoming } from "../types.ts";
import { TerminatorTimeout } from "../delivery/terminator-timeout.ts";
import { PacedReader } from "../delivery/backlog.ts";
import { rememberReasoning, restoreReasoning } from "../reasoning/cache.ts";
import { withoutReasoning } from "../reasoning/retry-without.ts";
import { CredentialMask } from "../delivery/redact.ts";
import { answerHeaders, STREAM_HEADERS } from "../delivery/response-headers.ts";
import {
  headerFilters,
  drainInBackground,
  readAnswer,
  readErrorText,
  send,
  upstreamHeaders,
} from "./send.ts";
import { refuseLosses } from "./strict.ts";
import type { UpstreamResponse } from "./transport.ts";
import { asksForUsage, noteUsageRefusal } from "./usage-request.ts";

/** Above this output limit weir asks the provider for a stream even for a JSON answer: proxies close silent connections. */
const STREAM_ABOVE_TOKENS = 8192;

export async function answerTranslated(incoming: Incoming, gateway: Gateway): Promise<Answer> {
  const { call, format, body } = incoming;
  const request = format.client.decodeRequest(body, contextOf(call));
  call.request = request;
  restoreReasoning(request, call, gateway.reasoning);
  for (const hook of gateway.hooks) await hook.request?.(request, call);
  const generate = call.target!.provider.generate;
  const source = generate ? generated(generate, request, call) : await sendTranslated(request, call, gateway);
  const events = observed(source, call, gateway);
  return call.stream ? streamedAnswer(events, incoming, gateway) : jsonAnswer(events, incoming, gateway);
}

/**
 * The reasoning cache stores what the provider sent, before plugins edit it. Without an `answer` hook, the cache and the meter
 * share one generator, because each generator costs time for every event of every stream.
 */
function observed(source: AsyncIterable<ChatEvent>, call: Call, gateway: Gateway): AsyncIterable<ChatEvent> {
  const { hooks, reasoning } = gateway;
  const remember = rememberReasoning(call, reasoning);
  if (!hooks.some((hook) => hook.answer)) return meter(source, call, hooks, remember);
  return meter(answerHooks(tapEvents(source, remember), call, hooks), call, hooks);
}

/** A request as weir sends it to the provider. */
export interface Encoded {
  body: Uint8Array;
  headers: Record<string, string>;
}

/**
 * Encodes the request for the provider, and reports its losses on the call.
 * @throws GatewayError for a loss in strict mode
 */
export function encodeUpstream(
  request: ChatRequest,
  call: Call,
  codec: UpstreamCodec,
  gateway: Pick<Gateway, "strict">,
): Encoded {
  const stream =
    request.stream || (request.maxTokens ?? 0) > STREAM_ABOVE_TOKENS || request.reasoning !== undefined;
  const target = call.target!;
  const { provider, format } = target;
  const body = codec.encodeRequest({ ...request, stream }, contextOf(call));
  if (!asksForUsage(target) && codec.usageRequest) delete body[codec.usageRequest.member];
  const { without = [], with: extra } = provider.envelope?.[format] ?? {};
  for (const name of without) delete body[name];
  Object.assign(body, extra?.(call, stream));
  provider.patch?.(body, call);
  refuseLosses(call, gateway);
  // The client's headers have a meaning only for a provider of the same format.
  const forwarded = format === call.format ? headerFilters(codec).request(call.headers) : {};
  // For a provider whose URL selects the stream, the body has no `stream` member.
  const streams = without.includes("stream") ? stream : body["stream"] === true;
  return {
    body: Buffer.from(JSON.stringify(body)),
    headers: upstreamHeaders(target, forwarded, streams),
  };
}

async function sendTranslated(
  request: ChatRequest,
  call: Call,
  gateway: Gateway,
): Promise<AsyncIterable<ChatEvent>> {
  const target = call.target!;
  const codec = gateway.registry.formats.get(target.format)!.upstream!;
  const sendRequest = async (wanted: ChatRequest) =>
    sendEncoded(encodeUpstream(wanted, call, codec, gateway), codec, call, gateway);
  try {
    return await sendRequest(request);
  } catch (thrown) {
    if (asksForUsage(target) && noteUsageRefusal(thrown, codec, target)) return sendRequest(request);
    const reduced = thrown instanceof GatewayError ? withoutReasoning(request, thrown, call) : undefined;
    if (!reduced) throw thrown;
    return sendRequest(reduced);
  }
}

async function sendEncoded(
  { body, headers }: Encoded,
  codec: UpstreamCodec,
  call: Call,
  gateway: Gateway,
): Promise<AsyncIterable<ChatEvent>> {
  const target = call.target!;
  const response = await send({ target, url: target.url, body: [body], headers }, call);
  if (!response.ok)
    throw codec.decodeError(response.status, response.headers, await readErrorText(response, call.target!));
  return decoded(response, codec, call, gateway);
}

/**
 * Converts an answer of the client's format that is a stream although weir requested JSON, or the reverse.
 * @throws GatewayError `upstream` if the request uses features that only the native lane can carry
 */
export async function exchangeAnswer(
  response: UpstreamResponse,
  codec: UpstreamCodec,
  incoming: Incoming,
  gateway: Gateway,
): Promise<Answer> {
  const { call, format, body } = incoming;
  try {
    call.request = format.client.decodeRequest(body, contextOf(call));
  } catch (cause) {
    await response.body?.getReader().cancel();
    throw new GatewayError(
      "upstream",
      `The provider ${call.target!.provider.name} answered with ${call.stream ? "JSON, but weir requested a stream" : "a stream, but weir requested JSON"}.`,
      { code: "upstream_invalid_answer", cause },
    );
  }
  const events = observed(await decoded(response, codec, call, gateway), call, gateway);
  return call.stream ? streamedAnswer(events, incoming, gateway) : jsonAnswer(events, incoming, gateway);
}

async function decoded(
  response: UpstreamResponse,
  codec: UpstreamCodec,
  call: Call,
  gateway: Gateway,
): Promise<AsyncIterable<ChatEvent>> {
  const type = response.headers.get("content-type") ?? "";
  if (type.includes("text/event-stream") && response.body)
    return readEvents(framesOf(response, codec, call, gateway), codec.readStream(contextOf(call)));
  return fromList(codec.readAnswer(await readJson(response, call), contextOf(call)));
}

async function readJson(response: UpstreamResponse, call: Call) {
  const body = parseJson(new TextDecoder().decode(await readAnswer(response, call)));
  if (isObject(body)) return body;
  throw new GatewayError(
    "upstream",
    `The provider ${call.target!.provider.name} returned a body that is not an answer of its format; check its base URL.`,
    { code: "upstream_invalid_answer" },
  );
}

/**
 * The frames of the provider's stream. If the consumer stops early, the connection is closed, unless the terminator has come:
 * then it is kept for the next call.
 * @throws GatewayError when the body breaks
 */
async function* framesOf(
  response: UpstreamResponse,
  codec: UpstreamCodec,
  call: Call,
  { backlog, clock }: Gateway,
): AsyncGenerator<Frame> {
  const reader = new PacedReader(response.body!.getReader(), call, backlog);
  const parser = new SseParser();
  const mask = new CredentialMask(call.target!);
  const progress = new StreamProgress(codec.watch);
  const terminatorTimeout = new TerminatorTimeout(clock, () => void reader.cancel().catch(() => {}));
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done || !value) return;
      for (const frame of parser.push(mask.push(value))) {
        progress.observe(frame);
        yield frame;
      }
      if (!progress.lacksTerminator) terminatorTimeout.stop();
      else if (parser.isMidLine) terminatorTimeout.postpone();
      else terminatorTimeout.start();
    }
  } catch (cause) {
    if (call.stop.reason) throw call.stop.reason;
    if (cause instanceof GatewayError) throw cause;
    // The answer is complete at its finish reason: a connection that breaks after it is no failure.
    if (progress.lacksTerminator) return;
    throw new GatewayError("upstream", "The connection to the provider broke during its stream.", {
      code: "stream_incomplete",
      cause,
    });
  } finally {
    terminatorTimeout.stop();
    if (progress.isTerminated) void drainInBackground(reader);
    else await reader.cancel().catch(() => {});
  }
}

/** Observes whether the finish reason and the terminator of a stream have come. */
class StreamProgress {
  readonly #watch: StreamObserver;
  readonly #marks: RegExp;
  readonly #seen: StreamSummary = { terminated: false, complete: false };

  constructor(watch: StreamObserver) {
    this.#watch = watch;
    this.#marks = marksOf(watch);
  }

  observe(frame: Frame): void {
    if (this.#marks.test(frame.data)) this.#watch.frame(frame, this.#seen);
  }

  /** The terminator has come. */
  get isTerminated(): boolean {
    return this.#seen.terminated;
  }

  /** The finish reason has come and the terminator has not. */
  get lacksTerminator(): boolean {
    return this.#seen.finished === true && !this.#seen.terminated;
  }
}

async function jsonAnswer(
  events: AsyncIterable<ChatEvent>,
  incoming: Incoming,
  gateway: Gateway,
): Promise<Answer> {
  const { call, format } = incoming;
  const body = format.client.writeAnswer(await toList(events), contextOf(call));
  call.status = 200;
  gateway.settler.complete(call);
  return {
    status: 200,
    headers: { ...answerHeaders(call), "content-type": "application/json" },
    body: JSON.stringify(body),
  };
}

async function streamedAnswer(
  events: AsyncIterable<ChatEvent>,
  incoming: Incoming,
  gateway: Gateway,
): Promise<Answer> {
  const { call, format } = incoming;
  const source = new FrameSource(writeFrames(events, format.client.writeStream(contextOf(call))));
  await source.waitForFirstEvent();
  call.status = 200;
  const body = settledStream(source, incoming, gateway);
  return { status: 200, headers: { ...answerHeaders(call), ...STREAM_HEADERS }, body };
}

/** Writes the client's frames as bytes. */
class FrameSource implements ByteSource {
  readonly #frames: AsyncIterator<Frame>;
  #held: Frame | undefined;

  constructor(frames: AsyncIterable<Frame>) {
    this.#frames = frames[Symbol.asyncIterator]();
  }

  /** Waits for the first frame, so that an earlier failure can be returned as an HTTP status. */
  async waitForFirstEvent(): Promise<void> {
    const { done, value } = await this.#frames.next();
    if (!done) this.#held = value;
  }

  next(): Promise<Uint8Array | undefined> {
    const held = this.#held;
    if (!held) return this.#frames.next().then(write);
    this.#held = undefined;
    return Promise.resolve(encoder.encode(writeFrame(held)));
  }

  stop(): void {
    this.#frames.return?.().catch(() => {});
  }
}

const encoder = new TextEncoder();

function write({ done, value }: IteratorResult<Frame>): Uint8Array | undefined {
  return done ? undefined : encoder.encode(writeFrame(value));
}
