/**
 * The translated lane: requests and answers go through the canonical request and the canonical events, so that hooks, metering
 * and encoding exist once. A provider that is a program yields the events itself: its lane sends nothing.
 */
import type { Attempt } from "../../core/call.ts";
import type { ChatRequest } from "../../core/chat.ts";
import { GatewayError } from "../../core/error.ts";
import type { ChatEvent } from "../../core/events.ts";
import type { UpstreamCodec } from "../../core/format.ts";
import type { Json, JsonObject } from "../../core/json.ts";
import { isObject, parseJson } from "../../core/json.ts";
import type { Hooks } from "../../core/plugin.ts";
import type { Target, Traits } from "../../core/provider.ts";
import { STREAM_HEADERS } from "../delivery/response-headers.ts";
import { viewOf } from "../plugins/call-view.ts";
import { generated } from "../plugins/sandbox.ts";
import { rememberReasoning, restoreReasoning } from "../reasoning/cache.ts";
import { placeBehind } from "../reasoning/conversation-hash.ts";
import { withoutReasoning } from "../reasoning/retry-without.ts";
import { urlOf } from "../routing/endpoint.ts";
import type { Gateway, Incoming } from "../types.ts";
import type { EventSource } from "./event-source.ts";
import { collect, iterate, ListedEvents, PluginEvents, tapped } from "./event-source.ts";
import { withHint } from "./hints.ts";
import { headerFilters } from "./header-filter.ts";
import { asksForUsage, leavesOutFeature, noteUsageRefusal, upstreamHeaders } from "./send.ts";
import { refuseLosses, reportLeftOut } from "./losses.ts";
import type { Lane, Opened, PrepareContext, Prepared } from "./lane.ts";
import { Meter } from "./meter.ts";
import { ProviderEvents } from "./provider-events.ts";
import { eventReader, invalidAnswer, isStream, readAnswer, readErrorText } from "./read-answer.ts";
import { TranslatedSource } from "./translated-source.ts";
import type { UpstreamResponse } from "./transport.ts";

/** Above this output limit weir asks the provider for a stream even for a JSON answer: proxies close silent connections. */
const STREAM_ABOVE_TOKENS = 8192;

export class TranslatedLane implements Lane {
  readonly #incoming: Incoming;
  readonly #context: PrepareContext;
  readonly #attempt: Attempt;
  /** Absent if the provider is a program. */
  readonly #codec: UpstreamCodec | undefined;
  /** The request to encode, after the `request` hooks. */
  #request: ChatRequest | undefined;
  /** Stands for the ids of the calls in the answer, for a client that may lose them. */
  #place: string | undefined;
  #asksForUsage = false;
  /** The encoded request asks for a stream. */
  #streams = false;

  constructor(incoming: Incoming, attempt: Attempt, context: PrepareContext) {
    this.#incoming = incoming;
    this.#attempt = attempt;
    this.#context = context;
    this.#codec = context.registry.formats.get(attempt.target.format)?.upstream;
  }

  /** With a promise only where a plugin edits the request. */
  prepare(): Prepared | undefined | Promise<Prepared | undefined> {
    if (this.#request) return this.#prepared(this.#request);
    const request = this.#decode();
    const editing = editRequest(request, this.#attempt, this.#context.hooks);
    return editing ? editing.then(() => this.#prepared(request)) : this.#prepared(request);
  }

  #prepared(request: ChatRequest): Prepared | undefined {
    this.#request = request;
    if (this.#codec) return this.#encode(request, this.#codec);
    refuseLosses(this.#attempt, this.#context);
    return undefined;
  }

  #decode(): ChatRequest {
    const { call, format, stored } = this.#incoming;
    const { reasoning } = this.#context;
    const attempt = this.#attempt;
    const body = stored ? stored.expanded(attempt) : this.#incoming.body;
    const request = format.client.codec.decodeRequest(body, attempt.context);
    attempt.request = request;
    const { losesCallIds } = format.client.facts;
    restoreReasoning(request, call, reasoning, losesCallIds);
    if (losesCallIds && request.tools.length > 0) this.#place = placeBehind(request.turns);
    return request;
  }

  #encode(request: ChatRequest, codec: UpstreamCodec): Prepared {
    const attempt = this.#attempt;
    const { call, target } = attempt;
    const { provider, format } = target;
    const stream = wantsStream(request, attempt.context.target.traits);
    const body = codec.codec.encodeRequest({ ...request, stream }, attempt.context);
    this.#asksForUsage = asksForUsage(target);
    if (!this.#asksForUsage && codec.native.usageRequest) delete body[codec.native.usageRequest.member];
    const { without = [], defaults, with: extra } = provider.envelope?.[format] ?? {};
    for (const name of without) delete body[name];
    for (const [name, value] of Object.entries(defaults?.(viewOf(attempt)) ?? {})) body[name] ??= value;
    for (const [name, value] of Object.entries(target.body ?? {})) body[name] ??= value;
    Object.assign(body, extra?.(viewOf(attempt), stream));
    provider.patch?.(body, viewOf(attempt));
    reportLeftOut(this.#incoming, attempt);
    refuseLosses(attempt, this.#context);
    // The client's headers have a meaning only for a provider of the same format.
    const forwarded = format === call.format ? headerFilters(codec.address).request(call.headers) : {};
    const streams = asksForStream(body, stream, target);
    this.#streams = streams;
    return {
      target,
      url: urlOf(target, streams),
      headers: upstreamHeaders(target, forwarded, streams),
      body: [Buffer.from(JSON.stringify(body))],
      expects: streams ? "stream" : "json",
    };
  }

  async refusal(response: UpstreamResponse): Promise<GatewayError> {
    const text = await readErrorText(response, this.#attempt.target);
    return withHint(
      this.#codec!.codec.decodeError(response.status, response.headers, text),
      text,
      this.#attempt.target,
    );
  }

  leavesOut(refusal: GatewayError): boolean {
    if (this.#asksForUsage && noteUsageRefusal(refusal, this.#codec!, this.#attempt.target)) return true;
    if (leavesOutFeature(refusal, this.#attempt)) return true;
    const reduced = withoutReasoning(this.#request!, refusal, this.#attempt);
    if (!reduced) return false;
    this.#request = reduced;
    return true;
  }

  open(response: UpstreamResponse | undefined, gateway: Gateway): Opened | Promise<Opened> {
    const attempt = this.#attempt;
    const open = (events: EventSource) => openEvents(events, this.#incoming, attempt, gateway, this.#place);
    if (!response)
      return open(new PluginEvents(generated(attempt.target.provider.generate!, this.#request!, attempt)));
    const events = eventsOf(response, this.#codec!, attempt, gateway, this.#streams);
    return events instanceof Promise ? events.then(open) : open(events);
  }
}

/** Runs the `request` hooks in order. @returns undefined if there are none */
function editRequest(
  request: ChatRequest,
  attempt: Attempt,
  hooks: readonly Hooks[],
): Promise<void> | undefined {
  return hooks.some((hook) => hook.request) ? runHooks(request, attempt, hooks) : undefined;
}

async function runHooks(request: ChatRequest, attempt: Attempt, hooks: readonly Hooks[]): Promise<void> {
  for (const hook of hooks) await hook.request?.(request, viewOf(attempt));
}

/**
 * Converts an answer of the client's format that is a stream although weir requested JSON, or the reverse.
 * @param requested whether weir requested a stream
 * @throws GatewayError `upstream` if the request uses features that only the native lane can carry
 */
export async function openConverted(
  response: UpstreamResponse,
  incoming: Incoming,
  attempt: Attempt,
  codec: UpstreamCodec,
  gateway: Gateway,
  requested: boolean,
): Promise<Opened> {
  const { call, format, stored } = incoming;
  try {
    const body = stored ? stored.converted(attempt) : incoming.body;
    attempt.request = format.client.codec.decodeRequest(body, attempt.context);
  } catch (cause) {
    await response.body?.getReader().cancel();
    throw new GatewayError(
      "upstream",
      `The provider ${attempt.target.provider.name} answered with ${call.stream ? "JSON, but the client wants a stream" : "a stream, but the client wants JSON"}.`,
      { code: "upstream_invalid_answer", cause },
    );
  }
  const events = await eventsOf(response, codec, attempt, gateway, requested);
  return openEvents(events, incoming, attempt, gateway);
}

/** Whether weir asks for a stream: also for a client that wants JSON if the answer takes long or its JSON has no token counts. */
function wantsStream({ stream, maxTokens = 0, reasoning }: ChatRequest, traits: Traits): boolean {
  if (traits.streaming === false) return false;
  const countsInStreams = traits.jsonUsage === false && traits.streamOptions !== false;
  return stream || maxTokens > STREAM_ABOVE_TOKENS || reasoning !== undefined || countsInStreams;
}

/**
 * Whether an encoded request asks for a stream.
 * @param wanted whether weir wants one; it counts where the URL selects the stream, because the body then has no member for it
 */
function asksForStream(body: JsonObject, wanted: boolean, { provider, format, streamUrl }: Target): boolean {
  const isInUrl = streamUrl !== undefined || provider.envelope?.[format]?.without?.includes("stream");
  return isInUrl ? wanted && body["stream"] !== false : body["stream"] === true;
}

/** The canonical events of a provider's answer; at once if it has arrived. @param requested whether weir requested a stream */
function eventsOf(
  response: UpstreamResponse,
  codec: UpstreamCodec,
  attempt: Attempt,
  gateway: Gateway,
  requested: boolean,
): EventSource | Promise<EventSource> {
  if (isStream(response, attempt.target, requested) && response.body)
    return new ProviderEvents(eventReader(response.body, attempt.target), codec, attempt, gateway);
  const read = (bytes: Uint8Array) => eventsIn(bytes, codec, attempt, requested);
  const bytes = readAnswer(response, attempt);
  return bytes instanceof Promise ? bytes.then(read) : read(bytes);
}

const decoder = new TextDecoder();

function eventsIn(
  bytes: Uint8Array,
  codec: UpstreamCodec,
  attempt: Attempt,
  requested: boolean,
): ListedEvents {
  const body = parseJson(decoder.decode(bytes));
  if (Array.isArray(body) && requested && codec.codec.streamsAsList)
    return new ListedEvents(readList(body, codec, attempt));
  if (!isObject(body)) throw invalidAnswer(attempt.target);
  return new ListedEvents(codec.codec.readAnswer(body, attempt.context));
}

/** The events of a stream that came as one JSON array: some hosts frame their streams in that way. */
function readList(records: readonly Json[], codec: UpstreamCodec, attempt: Attempt): ChatEvent[] {
  if (!records.some(isObject)) throw invalidAnswer(attempt.target);
  const reader = codec.codec.readStream(attempt.context);
  const events = records.flatMap((record) => reader.push({ data: JSON.stringify(record) }));
  return events.at(-1)?.type === "message-end" ? events : [...events, ...reader.end()];
}

/** The client's answer from the events of the provider's. */
function openEvents(
  source: EventSource,
  incoming: Incoming,
  attempt: Attempt,
  { hooks, reasoning }: Gateway,
  place?: string,
): Opened | Promise<Opened> {
  const { call, format } = incoming;
  const { context } = attempt;
  // The reasoning cache stores what the provider sent, before plugins edit it.
  const { fitsNative, traits } = context.target;
  const unsigned = fitsNative === true && traits.reasoningReplay === "required";
  const events = edited(
    tapped(source, rememberReasoning(call, reasoning, { place, unsigned })),
    attempt,
    hooks,
  );
  const meter = new Meter(attempt, hooks);
  if (call.stream) {
    const keep = keeperOf(incoming, attempt);
    const writer = format.client.codec.writeStream(context);
    const source = new TranslatedSource(events, meter, writer, keep, call);
    return { kind: "stream", status: 200, headers: { ...STREAM_HEADERS }, source };
  }
  const open = (list: readonly ChatEvent[]) => openWhole(list, incoming, attempt);
  const list = collect(events, meter);
  return list instanceof Promise ? list.then(open) : open(list);
}

function keeperOf({ stored }: Incoming, attempt: Attempt) {
  const keeps = attempt.storesAnswer || attempt.conversation !== undefined;
  return keeps ? (answer: JsonObject) => stored!.keep(answer, attempt) : undefined;
}

/** The client's JSON answer. */
function openWhole(
  events: readonly ChatEvent[],
  incoming: Incoming,
  attempt: Attempt,
): Opened | Promise<Opened> {
  const answer = incoming.format.client.codec.writeAnswer(events, attempt.context);
  const keep = keeperOf(incoming, attempt);
  if (!keep) return jsonAnswer(answer);
  return keep(answer).then((kept) =>
    jsonAnswer(incoming.stored!.codec.withStored(answer, kept, incoming.stored!.conversation)),
  );
}

function jsonAnswer(answer: JsonObject): Opened {
  const headers = { "content-type": "application/json" };
  return { kind: "json", status: 200, headers, body: JSON.stringify(answer) };
}

/** Runs the events through the edits of the call, and then through each plugin's `answer` hook, in order. Only these take them as an async iterable. */
function edited(source: EventSource, attempt: Attempt, hooks: readonly Hooks[]): EventSource {
  if (!attempt.call.edits && !hooks.some(({ answer }) => answer)) return source;
  const editors = [...(attempt.call.edits ?? []), ...hooks.flatMap(({ answer }) => answer ?? [])];
  if (editors.length === 0) return source;
  const events: AsyncIterable<ChatEvent> = iterate(source);
  return new PluginEvents(editors.reduce((piped, edit) => edit(piped, viewOf(attempt)), events));
}
