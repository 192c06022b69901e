/**
 * The native lane. weir sends the client's bytes to the provider, with single members replaced (`native-body.ts`), and
 * returns the provider's bytes unchanged; a tap reads them as they pass. weir re-serialises nothing: prompt caches and
 * signatures depend on the order of keys and blocks.
 */
import type { Attempt } from "../../core/call.ts";
import { GatewayError } from "../../core/error.ts";
import type { UpstreamCodec } from "../../core/format.ts";
import type { JsonObject } from "../../core/json.ts";
import { Tap } from "../../stream/tap.ts";
import { STREAM_HEADERS } from "../delivery/response-headers.ts";
import { urlBelow, urlOf } from "../routing/endpoint.ts";
import { keepAnswer, streamKeeper } from "../stored/native-answer.ts";
import { sourceOf } from "../stored/native-request.ts";
import type { Gateway, Incoming } from "../types.ts";
import { headerFilters } from "./header-filter.ts";
import { asksForUsage, leavesOutFeature, noteUsageRefusal, upstreamHeaders } from "./send.ts";
import type { Lane, Opened, PrepareContext, Prepared } from "./lane.ts";
import { nativeBody } from "./native-body.ts";
import { observeAnswer } from "./observe-answer.ts";
import { passedHeaders, passedRefusal } from "./passed-error.ts";
import { recordUsage, RelaySource } from "./relay-source.ts";
import { eventReader, invalidAnswer, isStream, readAnswer } from "./read-answer.ts";
import { refuseLosses } from "./losses.ts";
import { openConverted } from "./translated.ts";
import type { UpstreamResponse } from "./transport.ts";

export class NativeLane implements Lane {
  readonly #incoming: Incoming;
  readonly #context: PrepareContext;
  readonly #attempt: Attempt;
  readonly #codec: UpstreamCodec;
  /** weir asks for token counts, which the client did not ask for. */
  #asksForUsage = false;
  /** The request asks for a stream; the client may want the other one. */
  #streams = false;
  /** The provider refused the reasoning of earlier turns. */
  #leavesOutReasoning = false;

  constructor(incoming: Incoming, attempt: Attempt, context: PrepareContext) {
    this.#incoming = incoming;
    this.#attempt = attempt;
    this.#context = context;
    this.#codec = context.registry.formats.get(attempt.target.format)!.upstream!;
  }

  prepare(): Prepared {
    const { call, target } = this.#attempt;
    const edited = this.#editedBody();
    const source = edited && sourceOf(edited, this.#incoming);
    const body = nativeBody(source ?? this.#incoming, this.#attempt, this.#codec, asksForUsage(target));
    refuseLosses(this.#attempt, this.#context);
    this.#asksForUsage = body.asksForUsage;
    const { streams } = body;
    this.#streams = streams;
    return {
      target,
      url: urlBelow(urlOf(target, streams), this.#incoming.below ?? ""),
      headers: upstreamHeaders(target, headerFilters(this.#codec.address).request(call.headers), streams),
      body: body.pieces,
      expects: streams ? "stream" : "json",
      changed: source ? [...new Set([...source.changed, ...body.changed])] : body.changed,
    };
  }

  refusal(response: UpstreamResponse): Promise<GatewayError> {
    return passedRefusal(response, this.#codec, this.#attempt.target);
  }

  /** The client's body with the edits that need it parsed; `undefined` if there are none. */
  #editedBody(): JsonObject | undefined {
    const detached = this.#incoming.stored?.detached(this.#attempt);
    return (this.#leavesOutReasoning && this.#withoutReasoning(detached)) || detached;
  }

  /** `undefined` if there is no reasoning, neither the client's nor stored. */
  #withoutReasoning(detached: JsonObject | undefined): JsonObject | undefined {
    return this.#codec.native.withoutReasoning?.(detached ?? this.#incoming.body);
  }

  leavesOut(refusal: GatewayError): boolean {
    if (this.#asksForUsage && noteUsageRefusal(refusal, this.#codec, this.#attempt.target)) return true;
    if (leavesOutFeature(refusal, this.#attempt)) return true;
    if (refusal.refused !== "reasoning" || this.#leavesOutReasoning) return false;
    if (!this.#withoutReasoning(this.#incoming.stored?.detached(this.#attempt))) return false;
    this.#leavesOutReasoning = true;
    this.#attempt.reportLoss("dropped", "reasoning", "the provider refused the reasoning of earlier turns");
    return true;
  }

  open(response: UpstreamResponse, gateway: Gateway): Opened | Promise<Opened> {
    const { call, target } = this.#attempt;
    const streams = isStream(response, target, this.#streams);
    // A stream instead of JSON, or the reverse, is converted: SDKs would read an empty answer and raise no error. They also
    // fail on a stream whose ids change with each event.
    if (streams !== call.stream || (streams && this.#attempt.context.target.traits.rotatingIds))
      return openConverted(response, this.#incoming, this.#attempt, this.#codec, gateway, this.#streams);
    if (!streams) return this.#openJson(response);
    const { status, body } = response;
    if (!body) throw invalidAnswer(target);
    const unasked = this.#asksForUsage ? this.#codec.native.usageRequest : undefined;
    const tap = new Tap(this.#codec.native.watch, unasked, this.#attempt.countsOutput);
    const { stored } = this.#incoming;
    const keeper = stored && streamKeeper(stored, this.#attempt);
    const reader = eventReader(body, target);
    const source = new RelaySource(reader, tap, this.#incoming, this.#attempt, gateway, keeper);
    return {
      kind: "stream",
      status,
      headers: { ...passedHeaders(this.#codec.address, response, this.#attempt.target), ...STREAM_HEADERS },
      source,
    };
  }

  #openJson(response: UpstreamResponse): Opened | Promise<Opened> {
    const bytes = readAnswer(response, this.#attempt);
    if (bytes instanceof Promise) return bytes.then((read) => this.#openBytes(read, response));
    return this.#openBytes(bytes, response);
  }

  #openBytes(bytes: Uint8Array, response: UpstreamResponse): Opened | Promise<Opened> {
    const attempt = this.#attempt;
    attempt.firstByteAt = performance.now();
    const seen = observeAnswer(bytes, this.#codec.native.watch);
    if (!seen) throw invalidAnswer(attempt.target);
    if (seen.error) throw asFailure(seen.error);
    recordUsage(seen, attempt);
    const headers = passedHeaders(this.#codec.address, response, this.#attempt.target);
    headers["content-type"] = "application/json";
    const opened = { kind: "json" as const, status: response.status, headers, body: bytes };
    const { stored } = this.#incoming;
    if (!stored || stored.keeperOf(attempt) === "none") return opened;
    return keepAnswer(stored, bytes, seen, attempt).then((body) => ({ ...opened, body }));
  }
}

/** Faults of the prompt: a model with a larger context may accept the first, the same host never accepts the second. */
const PROMPT_FAULTS: ReadonlySet<string | undefined> = new Set(["context_length_exceeded", "content_filter"]);

/** An error in an answer with status 200. weir reports it as a failure of the provider, unless the prompt is at fault. */
function asFailure(error: GatewayError): GatewayError {
  if (PROMPT_FAULTS.has(error.code)) return error;
  return new GatewayError("upstream", error.message, { code: error.code });
}
