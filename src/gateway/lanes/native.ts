/**
 * The native lane. weir sends the client's bytes to the provider, with single members replaced (`native-body.ts`), and
 * returns the provider's bytes unchanged; a tap reads them as they pass. weir re-serialises nothing: prompt caches and
 * signatures depend on the order of keys and blocks.
 */
import type { Call } from "../../core/call.ts";
import { GatewayError } from "../../core/error.ts";
import type { StreamSummary, UpstreamCodec, StreamObserver } from "../../core/format.ts";
import { isObject, parseJson } from "../../core/json.ts";
import { Tap } from "../../stream/tap.ts";
import type { ByteSource } from "../delivery/stream.ts";
import { settledStream } from "../delivery/settled-stream.ts";
import { exchangeAnswer } from "./translated.ts";
import type { Answer, Gateway, Incoming } from "../types.ts";
import type { NativeBody } from "./native-body.ts";
import { nativeBody } from "./native-body.ts";
import { TerminatorTimeout } from "../delivery/terminator-timeout.ts";
import { PacedReader } from "../delivery/backlog.ts";
import { PassedRefusal } from "./passed-error.ts";
import { bytesWithoutSecrets, CredentialMask, headersWithoutCredential } from "../delivery/redact.ts";
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
import type { ByteReader, UpstreamResponse } from "./transport.ts";
import { asksForUsage, noteUsageRefusal } from "./usage-request.ts";

export async function answerNative(incoming: Incoming, gateway: Gateway): Promise<Answer> {
  const target = incoming.call.target!;
  const codec = gateway.registry.formats.get(target.format)!.upstream!;
  const body = nativeBody(incoming, target, codec, asksForUsage(target));
  refuseLosses(incoming.call, gateway);
  try {
    return await sendNative(body, codec, incoming, gateway);
  } catch (thrown) {
    if (!body.asksForUsage || !noteUsageRefusal(thrown, codec, target)) throw thrown;
    return sendNative(nativeBody(incoming, target, codec, false), codec, incoming, gateway);
  }
}

async function sendNative(
  body: NativeBody,
  codec: UpstreamCodec,
  incoming: Incoming,
  gateway: Gateway,
): Promise<Answer> {
  const { call } = incoming;
  const target = call.target!;
  const filters = headerFilters(codec);
  const response = await send(
    {
      target,
      url: target.url,
      body: body.pieces,
      headers: upstreamHeaders(target, filters.request(call.headers), call.stream),
    },
    call,
  );
  const passed = headersWithoutCredential(filters.answer(response.headers), target);
  if (!response.ok) throw await refusal(response, passed, codec, call);
  const type = response.headers.get("content-type") ?? "";
  const streams = type.includes("text/event-stream");
  // A stream instead of JSON, or the reverse, is converted: SDKs would read an empty answer and raise no error.
  if (streams !== call.stream) return exchangeAnswer(response, codec, incoming, gateway);
  if (!streams) return jsonAnswer(response, passed, codec, call, gateway);
  const tap = new Tap(codec.watch, body.asksForUsage ? codec.usageRequest : undefined);
  return streamedAnswer(response, passed, tap, incoming, gateway);
}

async function jsonAnswer(
  response: UpstreamResponse,
  passed: Record<string, string>,
  codec: UpstreamCodec,
  call: Call,
  gateway: Gateway,
): Promise<Answer> {
  const bytes = await readAnswer(response, call);
  call.firstByteAt = performance.now();
  const body = parseJson(new TextDecoder().decode(bytes));
  if (!isObject(body)) throw invalidAnswer(call);
  const seen: StreamSummary = { terminated: false, complete: false };
  codec.watch.answer(body, seen);
  if (seen.error) throw asFailure(seen.error);
  recordUsage(seen, call);
  call.status = response.status;
  gateway.settler.complete(call);
  return {
    status: response.status,
    headers: { ...passed, ...answerHeaders(call), "content-type": "application/json" },
    body: bytes,
  };
}

/**
 * An error in an answer with status 200. weir reports it as a failure of the provider, whatever kind it claims to be, except
 * a prompt that is too long: a model with a larger context may accept that.
 */
function asFailure(error: GatewayError): GatewayError {
  if (error.code === "context_length_exceeded") return error;
  return new GatewayError("upstream", error.message, { code: error.code });
}

/** For a 200 with HTML or another body that is not an answer of the format. */
function invalidAnswer(call: Call): GatewayError {
  return new GatewayError(
    "upstream",
    `The provider ${call.target!.provider.name} returned a body that is not an answer of its format; check its base URL.`,
    { code: "upstream_invalid_answer" },
  );
}

/**
 * A failed status. weir passes a body of the format's own shape on unchanged, because clients match on its wording. It
 * replaces other bodies, because the client's SDK finds no message in them. If the provider refuses weir's credential, the
 * client gets a 502, because it cannot correct that.
 */
async function refusal(
  response: UpstreamResponse,
  passed: Record<string, string>,
  codec: UpstreamCodec,
  call: Call,
): Promise<GatewayError> {
  const text = await readErrorText(response, call.target!);
  const error = codec.decodeError(response.status, response.headers, text);
  const body = parseJson(text);
  if (error.kind === "upstream-auth" || !isObject(body) || codec.isErrorBody?.(body) === false) return error;
  return new PassedRefusal(error, response.status, passed, text);
}

async function streamedAnswer(
  response: UpstreamResponse,
  passed: Record<string, string>,
  tap: Tap,
  incoming: Incoming,
  gateway: Gateway,
): Promise<Answer> {
  const { call } = incoming;
  if (!response.body) throw invalidAnswer(call);
  const source = new RelaySource(response, tap, incoming, gateway);
  await source.waitForFirstEvent();
  call.status = response.status;
  const body = settledStream(source, incoming, gateway);
  return {
    status: response.status,
    headers: { ...passed, ...answerHeaders(call), ...STREAM_HEADERS },
    body,
  };
}

/** Limit of the bytes that wait for the first event of a stream. */
const MAX_HELD_BYTES = 8 * 1024 * 1024;

/** Reads the provider's bytes through the tap. */
class RelaySource implements ByteSource {
  readonly #reader: ByteReader;
  readonly #tap: Tap;
  readonly #call: Call;
  readonly #mask: CredentialMask;
  readonly #terminatorTimeout: TerminatorTimeout;
  /** A stream with several choices may send them one after the other, so one finish reason does not complete it. */
  readonly #hasOneChoice: boolean;
  #held: Uint8Array[] = [];
  #ended = false;
  /** The finish reason came, and then no terminator within the timeout. */
  #hasTimedOut = false;

  constructor(response: UpstreamResponse, tap: Tap, incoming: Incoming, gateway: Gateway) {
    this.#reader = new PacedReader(response.body!.getReader(), incoming.call, gateway.backlog);
    this.#tap = tap;
    this.#call = incoming.call;
    this.#mask = new CredentialMask(incoming.call.target!);
    this.#hasOneChoice = incoming.spanOf("n") === undefined;
    this.#terminatorTimeout = new TerminatorTimeout(gateway.clock, () => {
      this.#hasTimedOut = true;
      void this.#reader.cancel().catch(() => {});
    });
  }

  /**
   * Reads until the first event of the answer, so that an earlier failure can be returned as an HTTP status.
   * @throws GatewayError if the first event is an error, or no event comes
   */
  async waitForFirstEvent(): Promise<void> {
    let held = 0;
    while (!this.#tap.started) {
      const piece = await this.#pull();
      if (!piece) break;
      this.#held.push(piece);
      held += piece.length;
      if (held > MAX_HELD_BYTES) throw this.#tooLong();
    }
    const { seen } = this.#tap;
    if (this.#tap.failedFirst && seen.error) {
      this.stop(seen.error);
      throw seen.error;
    }
    this.#call.firstByteAt = performance.now();
  }

  #tooLong(): GatewayError {
    const error = new GatewayError(
      "upstream",
      `The first event of the provider's stream is longer than ${MAX_HELD_BYTES} bytes.`,
      {
        code: "upstream_too_large",
      },
    );
    this.stop(error);
    return error;
  }

  next(): Promise<Uint8Array | undefined> {
    const held = this.#held.shift();
    return held ? Promise.resolve(held) : this.#pull();
  }

  /** The provider's error event, which weir has passed on; the call counts as failed. */
  get error(): GatewayError | undefined {
    return this.#tap.seen.error;
  }

  beforeError(): string {
    return this.#tap.midEvent ? "\n\n" : "";
  }

  stop(reason: unknown): void {
    this.#terminatorTimeout.stop();
    recordUsage(this.#tap.seen, this.#call);
    this.#reader.cancel(reason).catch(() => {});
  }

  /** Not an async function: it would cost additional promises for each chunk of a stream. */
  #pull(): Promise<Uint8Array | undefined> {
    if (this.#ended) return Promise.resolve(undefined);
    const { seen } = this.#tap;
    if (seen.terminated || seen.error) return Promise.resolve(this.#endAtTerminator());
    return this.#reader.read().then(this.#onRead, this.#onBreak);
  }

  readonly #onRead = ({ done, value }: { done: boolean; value?: Uint8Array }) => {
    if (done || !value) return this.#finish();
    const clean = this.#mask.push(value);
    const piece = clean.length === 0 ? undefined : this.#tap.push(clean);
    const { seen } = this.#tap;
    if (!seen.finished || seen.terminated || !this.#hasOneChoice) this.#terminatorTimeout.stop();
    else if (piece) this.#terminatorTimeout.start();
    else this.#terminatorTimeout.postpone();
    return piece ? this.#masked(piece) : this.#pull();
  };

  readonly #onBreak = (cause: unknown) => {
    if (this.#call.stop.reason) throw this.#call.stop.reason;
    // The answer is complete at its terminator: a connection that breaks after it is no failure.
    if (this.#isComplete()) return this.#finish();
    throw incomplete(cause);
  };

  /** Masks credentials in the provider's error event. */
  #masked(piece: Uint8Array): Uint8Array {
    const { error } = this.#tap.seen;
    return error ? bytesWithoutSecrets(piece, this.#call.target!.provider) : piece;
  }

  /** Ends the client's answer, and reads the rest of the body so that the connection can be reused. */
  #endAtTerminator(): undefined {
    this.#ended = true;
    this.#terminatorTimeout.stop();
    recordUsage(this.#tap.seen, this.#call);
    void drainInBackground(this.#reader);
  }

  /** Handles the end of the provider's body. @throws GatewayError if the answer is incomplete */
  #finish(): Uint8Array | undefined {
    if (this.#ended) return undefined;
    this.#ended = true;
    this.#terminatorTimeout.stop();
    const { seen } = this.#tap;
    const held = this.#mask.end();
    if (held.length > 0) this.#tap.push(held);
    const rest = this.#tap.rest();
    recordUsage(seen, this.#call);
    // Without the rest: the terminator would become part of an unfinished event.
    if (this.#hasTimedOut && !seen.terminated) return terminatorOf(this.#tap.watch);
    if (!this.#isComplete() && !this.#call.target?.provider.traits?.eofIsStop) throw incomplete();
    return rest && this.#masked(rest);
  }

  /** The answer is complete, or the provider's error event has passed. */
  #isComplete(): boolean {
    const { seen } = this.#tap;
    return this.#hasTimedOut || seen.terminated || seen.complete || seen.error !== undefined;
  }
}

function terminatorOf({ terminator }: StreamObserver): Uint8Array | undefined {
  return terminator === undefined ? undefined : Buffer.from(terminator);
}

function recordUsage(seen: StreamSummary, call: Call): void {
  if (seen.usage) call.usage = seen.usage;
  if (seen.finish) call.finish = seen.finish.raw ?? seen.finish.kind;
}

function incomplete(cause?: unknown): GatewayError {
  return new GatewayError("upstream", "The provider's stream ended before the answer was complete.", {
    code: "stream_incomplete",
    cause,
  });
}
