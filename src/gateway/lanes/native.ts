/**
 * The native lane. The client's own bytes go to the upstream, with only single members exchanged (`native-body.ts`); the
 * upstream's bytes come back unchanged, read in passing by a tap. Nothing is re-serialised: key order and block order
 * are part of prompt caching and of signatures.
 */
import type { Call } from "../../core/call.ts";
import { GatewayError } from "../../core/error.ts";
import type { StreamSummary, UpstreamCodec, StreamObserver } from "../../core/format.ts";
import { isObject, parseJson } from "../../core/json.ts";
import { Tap } from "../../stream/tap.ts";
import type { ByteSource } from "../delivery/stream.ts";
import { answerStream } from "../delivery/stream.ts";
import { timeoutsOf } from "../delivery/deadline.ts";
import { exchangeAnswer } from "./translated.ts";
import type { Answer, Gateway, Incoming } from "../types.ts";
import type { NativeBody } from "./native-body.ts";
import { nativeBody } from "./native-body.ts";
import { Overtime } from "../delivery/overtime.ts";
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
  // A stream instead of JSON, or JSON instead of a stream: SDKs would find nothing in it and raise no error.
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
  if (!isObject(body)) throw notAnAnswer(call);
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
 * An error in an answer with status 200. Whatever kind it claims to be, the upstream is at fault; only a prompt that is too
 * long stays the client's, because another model may take it.
 */
function asFailure(error: GatewayError): GatewayError {
  if (error.code === "context_length_exceeded") return error;
  return new GatewayError("upstream", error.message, { code: error.code });
}

/** 200 with HTML or anything else that is no answer of this format. */
function notAnAnswer(call: Call): GatewayError {
  return new GatewayError(
    "upstream",
    `The provider ${call.target!.provider.name} answered with something that is not an answer; check its base URL.`,
    { code: "upstream_invalid_answer" },
  );
}

/**
 * A failed status. weir passes a body of the format's own shape on unchanged, because clients match on its wording. It
 * words other bodies anew, because the client's SDK finds no message in them. A refusal of the gateway's own credential
 * becomes a 502: the client cannot correct it.
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
  const { call, format } = incoming;
  if (!response.body) throw notAnAnswer(call);
  const source = new RelaySource(response, tap, incoming, gateway);
  await source.waitForFirstEvent();
  call.status = response.status;
  const { settler, clock, timeouts } = gateway;
  const body = answerStream(
    source,
    call,
    format.client,
    { clock, ...timeouts, gapMs: timeoutsOf(call, timeouts).gapMs },
    {
      complete: () => settler.complete(call),
      failed: (error) => settler.failed(call, error),
      cancelled: () => settler.cancelled(call),
    },
  );
  return {
    status: response.status,
    headers: { ...passed, ...answerHeaders(call), ...STREAM_HEADERS },
    body,
  };
}

/** Most bytes that are held back for the first event of a stream. */
const MAX_HEAD = 8 * 1024 * 1024;

/** The upstream's bytes through the tap. */
class RelaySource implements ByteSource {
  readonly #reader: ByteReader;
  readonly #tap: Tap;
  readonly #call: Call;
  readonly #mask: CredentialMask;
  readonly #overtime: Overtime;
  /** Several choices may come one after the other: that the first has its finish reason does not end such an answer. */
  readonly #hasOneChoice: boolean;
  #held: Uint8Array[] = [];
  #ended = false;
  /** The provider finished its answer, and neither ended it nor said anything more. */
  #isOverdue = false;

  constructor(response: UpstreamResponse, tap: Tap, incoming: Incoming, gateway: Gateway) {
    this.#reader = new PacedReader(response.body!.getReader(), incoming.call, gateway.backlog);
    this.#tap = tap;
    this.#call = incoming.call;
    this.#mask = new CredentialMask(incoming.call.target!);
    this.#hasOneChoice = incoming.spanOf("n") === undefined;
    this.#overtime = new Overtime(gateway.clock, () => {
      this.#isOverdue = true;
      void this.#reader.cancel().catch(() => {});
    });
  }

  /**
   * Reads until the first real event, so that a failure before it keeps its status.
   * @throws GatewayError when the first event is an error or none comes.
   */
  async waitForFirstEvent(): Promise<void> {
    let held = 0;
    while (!this.#tap.started) {
      const piece = await this.#pull();
      if (!piece) break;
      this.#held.push(piece);
      held += piece.length;
      if (held > MAX_HEAD) throw this.#tooLong();
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
      "The provider's stream begins with an event that does not end.",
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

  /** The upstream's own error event, which has passed as it was; the call is a failure all the same. */
  get error(): GatewayError | undefined {
    return this.#tap.seen.error;
  }

  beforeError(): string {
    return this.#tap.midEvent ? "\n\n" : "";
  }

  stop(reason: unknown): void {
    this.#overtime.stop();
    recordUsage(this.#tap.seen, this.#call);
    this.#reader.cancel(reason).catch(() => {});
  }

  /** Not an async function: for each chunk of a stream every promise in between is paid again. */
  #pull(): Promise<Uint8Array | undefined> {
    if (this.#ended) return Promise.resolve(undefined);
    const { seen } = this.#tap;
    if (seen.terminated || seen.error) return Promise.resolve(this.#leave());
    return this.#reader.read().then(this.#onRead, this.#onBreak);
  }

  readonly #onRead = ({ done, value }: { done: boolean; value?: Uint8Array }) => {
    if (done || !value) return this.#finish();
    const clean = this.#mask.push(value);
    const piece = clean.length === 0 ? undefined : this.#tap.push(clean);
    const { seen } = this.#tap;
    if (seen.finished && !seen.terminated && this.#hasOneChoice) this.#overtime.start();
    else this.#overtime.stop();
    return piece ? this.#harmless(piece) : this.#pull();
  };

  readonly #onBreak = (cause: unknown) => {
    if (this.#call.stop.reason) throw this.#call.stop.reason;
    // What breaks behind the terminator takes nothing away from the answer.
    if (this.#isOver()) return this.#finish();
    throw broken(cause);
  };

  /** An upstream that repeats the credential in its error event does not hand it to the client. */
  #harmless(piece: Uint8Array): Uint8Array {
    const { error } = this.#tap.seen;
    return error ? bytesWithoutSecrets(piece, this.#call.target!.provider) : piece;
  }

  /** The answer ends for the client here; the rest of the body is read so that the connection can be reused. */
  #leave(): undefined {
    this.#ended = true;
    this.#overtime.stop();
    recordUsage(this.#tap.seen, this.#call);
    void drainInBackground(this.#reader);
  }

  /** The end of the upstream's body: proper, or an answer that broke off. */
  #finish(): Uint8Array | undefined {
    if (this.#ended) return undefined;
    this.#ended = true;
    this.#overtime.stop();
    const { seen } = this.#tap;
    const held = this.#mask.end();
    if (held.length > 0) this.#tap.push(held);
    const rest = this.#tap.rest();
    recordUsage(seen, this.#call);
    // Part of an event would swallow the terminator that is put behind it.
    if (this.#isOverdue && !seen.terminated) return terminatorOf(this.#tap.watch);
    if (!this.#isOver() && !this.#call.target?.provider.traits?.eofIsStop) throw broken();
    return rest && this.#harmless(rest);
  }

  /** Nothing more is needed: the answer is whole, or the upstream's own error event has passed. */
  #isOver(): boolean {
    const { seen } = this.#tap;
    return this.#isOverdue || seen.terminated || seen.complete || seen.error !== undefined;
  }
}

function terminatorOf({ terminator }: StreamObserver): Uint8Array | undefined {
  return terminator === undefined ? undefined : Buffer.from(terminator);
}

function recordUsage(seen: StreamSummary, call: Call): void {
  if (seen.usage) call.usage = seen.usage;
  if (seen.finish) call.finish = seen.finish.raw ?? seen.finish.kind;
}

function broken(cause?: unknown): GatewayError {
  return new GatewayError("upstream", "The provider's stream ended before the answer was complete.", {
    code: "stream_incomplete",
    cause,
  });
}
