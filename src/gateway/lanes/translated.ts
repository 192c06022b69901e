/**
 * The translated lane: requests and answers go through the canonical request and the canonical events, so that hooks, metering
 * and encoding exist once. A provider that is a program yields the events itself: its lane sends nothing.
 */
import type { Call } from "../../core/call.ts";
import type { ChatRequest } from "../../core/chat.ts";
import { GatewayError } from "../../core/error.ts";
import type { ChatEvent } from "../../core/events.ts";
import type { UpstreamCodec } from "../../core/format.ts";
import { isObject, parseJson } from "../../core/json.ts";
import type { Target } from "../../core/provider.ts";
import { STREAM_HEADERS } from "../delivery/response-headers.ts";
import { generated } from "../plugins/sandbox.ts";
import { rememberReasoning, restoreReasoning } from "../reasoning/cache.ts";
import { withoutReasoning } from "../reasoning/retry-without.ts";
import type { Gateway, Incoming } from "../types.ts";
import { contextOf } from "./codec-context.ts";
import { answerHooks, fromList, meter, readEvents, tapEvents, toList, writeFrames } from "./events.ts";
import { FrameSource } from "./frame-source.ts";
import type { Lane, Opened, PrepareContext, Prepared } from "./lane.ts";
import { invalidAnswer, isStream, readAnswer, readErrorText } from "./read-answer.ts";
import { headerFilters, upstreamHeaders } from "./send.ts";
import { refuseLosses } from "./strict.ts";
import type { UpstreamResponse } from "./transport.ts";
import { framesOf } from "./upstream-frames.ts";
import { asksForUsage, noteUsageRefusal } from "./usage-request.ts";

/** Above this output limit weir asks the provider for a stream even for a JSON answer: proxies close silent connections. */
const STREAM_ABOVE_TOKENS = 8192;

export class TranslatedLane implements Lane {
  readonly #incoming: Incoming;
  readonly #context: PrepareContext;
  readonly #target: Target;
  /** Absent if the provider is a program. */
  readonly #codec: UpstreamCodec | undefined;
  /** The request to encode, after the `request` hooks. */
  #request: ChatRequest | undefined;
  #asksForUsage = false;

  constructor(incoming: Incoming, context: PrepareContext) {
    this.#incoming = incoming;
    this.#context = context;
    this.#target = incoming.call.target!;
    this.#codec = context.registry.formats.get(this.#target.format)?.upstream;
  }

  async prepare(): Promise<Prepared | undefined> {
    this.#request ??= await this.#decode();
    return this.#codec && this.#encode(this.#request, this.#codec);
  }

  async #decode(): Promise<ChatRequest> {
    const { call, format, body } = this.#incoming;
    const { hooks, reasoning } = this.#context;
    const request = format.client.decodeRequest(body, contextOf(call));
    call.request = request;
    restoreReasoning(request, call, reasoning);
    for (const hook of hooks) await hook.request?.(request, call);
    return request;
  }

  #encode(request: ChatRequest, codec: UpstreamCodec): Prepared {
    const { call } = this.#incoming;
    const target = this.#target;
    const { provider, format } = target;
    const stream =
      request.stream || (request.maxTokens ?? 0) > STREAM_ABOVE_TOKENS || request.reasoning !== undefined;
    const body = codec.encodeRequest({ ...request, stream }, contextOf(call));
    this.#asksForUsage = asksForUsage(target);
    if (!this.#asksForUsage && codec.usageRequest) delete body[codec.usageRequest.member];
    const { without = [], with: extra } = provider.envelope?.[format] ?? {};
    for (const name of without) delete body[name];
    Object.assign(body, extra?.(call, stream));
    provider.patch?.(body, call);
    refuseLosses(call, this.#context);
    // The client's headers have a meaning only for a provider of the same format.
    const forwarded = format === call.format ? headerFilters(codec).request(call.headers) : {};
    // For a provider whose URL selects the stream, the body has no `stream` member.
    const streams = without.includes("stream") ? stream : body["stream"] === true;
    return {
      target,
      url: target.url,
      headers: upstreamHeaders(target, forwarded, streams),
      body: [Buffer.from(JSON.stringify(body))],
      expects: streams ? "stream" : "json",
    };
  }

  async refusal(response: UpstreamResponse): Promise<GatewayError> {
    const text = await readErrorText(response, this.#target);
    return this.#codec!.decodeError(response.status, response.headers, text);
  }

  leavesOut(refusal: GatewayError): boolean {
    if (this.#asksForUsage && noteUsageRefusal(refusal, this.#codec!, this.#target)) return true;
    const reduced = withoutReasoning(this.#request!, refusal, this.#incoming.call);
    if (!reduced) return false;
    this.#request = reduced;
    return true;
  }

  async open(response: UpstreamResponse | undefined, gateway: Gateway): Promise<Opened> {
    const { call } = this.#incoming;
    const events = response
      ? await eventsOf(response, this.#codec!, call, gateway)
      : generated(this.#target.provider.generate!, this.#request!, call);
    return openEvents(events, this.#incoming, gateway);
  }
}

/**
 * Converts an answer of the client's format that is a stream although weir requested JSON, or the reverse.
 * @throws GatewayError `upstream` if the request uses features that only the native lane can carry
 */
export async function openConverted(
  response: UpstreamResponse,
  incoming: Incoming,
  codec: UpstreamCodec,
  gateway: Gateway,
): Promise<Opened> {
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
  return openEvents(await eventsOf(response, codec, call, gateway), incoming, gateway);
}

/** The canonical events of a provider's answer. */
async function eventsOf(
  response: UpstreamResponse,
  codec: UpstreamCodec,
  call: Call,
  gateway: Gateway,
): Promise<AsyncIterable<ChatEvent>> {
  if (isStream(response) && response.body)
    return readEvents(
      framesOf(response.body.getReader(), codec, call, gateway),
      codec.readStream(contextOf(call)),
    );
  const body = parseJson(new TextDecoder().decode(await readAnswer(response, call)));
  if (!isObject(body)) throw invalidAnswer(call.target!);
  return fromList(codec.readAnswer(body, contextOf(call)));
}

/** The client's answer from the events of the provider's. */
async function openEvents(
  source: AsyncIterable<ChatEvent>,
  { call, format }: Incoming,
  gateway: Gateway,
): Promise<Opened> {
  const events = observed(source, call, gateway);
  if (call.stream) {
    const frames = new FrameSource(writeFrames(events, format.client.writeStream(contextOf(call))));
    return { kind: "stream", status: 200, headers: { ...STREAM_HEADERS }, source: frames };
  }
  const body = JSON.stringify(format.client.writeAnswer(await toList(events), contextOf(call)));
  return { kind: "json", status: 200, headers: { "content-type": "application/json" }, body };
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
