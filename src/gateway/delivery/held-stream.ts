/**
 * weir delays the response headers of a stream until the first event, so that an early failure can be returned as an HTTP
 * status. After `holdMs` it sends them anyway, with heartbeats until the answer begins; from then on it reports a failure as
 * an error event.
 */
import { GatewayError } from "../../core/error.ts";
import { isObject, parseJson } from "../../core/json.ts";
import type { ByteSource } from "./stream.ts";
import { answerStream } from "./stream.ts";
import type { Deadline } from "./deadline.ts";
import type { Answer, Gateway, Incoming } from "../types.ts";
import { answerHeaders, STREAM_HEADERS } from "./response-headers.ts";

/** The answer if it begins within `holdMs`, else a stream that waits for it. */
export async function answerInTime(
  answer: Promise<Answer>,
  incoming: Incoming,
  deadline: Deadline,
  gateway: Gateway,
): Promise<Answer> {
  const { promise: held, resolve } = Promise.withResolvers<undefined>();
  deadline.onHold = () => resolve(undefined);
  return (await Promise.race([answer, held])) ?? heldAnswer(answer, incoming, gateway);
}

function heldAnswer(answer: Promise<Answer>, incoming: Incoming, gateway: Gateway): Answer {
  const { call, format } = incoming;
  const { settler, clock, timeouts } = gateway;
  // Until the answer begins, `firstByteMs` applies, not `gapMs`.
  const clocks = { clock, ...timeouts, gapMs: timeouts.totalMs };
  const body = answerStream(
    new HeldSource(answer, Buffer.from(format.client.heartbeat)),
    call,
    format.client,
    clocks,
    {
      // The inner stream settles the call when it ends; these cover failures before it begins.
      complete: () => settler.complete(call),
      failed: (error) => settler.failed(call, error, 200),
      cancelled: () => settler.cancelled(call),
    },
  );
  return { status: 200, headers: { ...answerHeaders(call), ...STREAM_HEADERS }, body };
}

class HeldSource implements ByteSource {
  readonly #answer: Promise<Answer>;
  /** The first heartbeat: weir sends it with the response headers. */
  #first: Uint8Array | undefined;
  #reader: ReadableStreamDefaultReader<Uint8Array> | undefined;

  constructor(answer: Promise<Answer>, heartbeat: Uint8Array) {
    this.#answer = answer;
    this.#first = heartbeat;
  }

  async next(): Promise<Uint8Array | undefined> {
    if (this.#first) {
      const first = this.#first;
      this.#first = undefined;
      return first;
    }
    this.#reader ??= streamOf(await this.#answer).getReader();
    const { done, value } = await this.#reader.read();
    return done ? undefined : value;
  }

  stop(reason: unknown): void {
    this.#reader?.cancel(reason).catch(() => {});
  }
}

/** @throws GatewayError if the answer is not a stream: weir can still send its message, but no longer its status */
function streamOf(answer: Answer): ReadableStream<Uint8Array> {
  if (answer.body instanceof ReadableStream) return answer.body;
  const text = typeof answer.body === "string" ? answer.body : new TextDecoder().decode(answer.body);
  const body = parseJson(text);
  const inner = isObject(body) && isObject(body["error"]) ? body["error"]["message"] : undefined;
  const sentence =
    typeof inner === "string"
      ? inner
      : `The provider answered with status ${answer.status} and without a stream.`;
  throw new GatewayError("upstream", sentence, { code: "upstream_invalid_answer" });
}
