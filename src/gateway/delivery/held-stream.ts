/**
 * Commit late, but not too late: the head of a stream waits for the first event, so that an early
 * failure keeps its status; after `holdMs` it goes out all the same, and signs of life follow until the answer begins.
 * From then on a failure can only be told in band.
 */
import { GatewayError } from "../../core/error.ts";
import { isObject, parseJson } from "../../core/json.ts";
import type { ByteSource } from "./stream.ts";
import { answerStream } from "./stream.ts";
import type { Deadline } from "./deadline.ts";
import type { Answer, Gateway, Incoming } from "../types.ts";
import { answerHeaders, STREAM_HEADERS } from "./response-headers.ts";

/** The answer if it begins in time; else a stream that waits for it. */
export async function answerInTime(
  answer: Promise<Answer>,
  incoming: Incoming,
  deadline: Deadline,
  gateway: Gateway,
): Promise<Answer> {
  const { promise: held, resolve } = Promise.withResolvers<undefined>();
  deadline.onHold = () => resolve(undefined);
  return (await Promise.race([answer, held])) ?? lateAnswer(answer, incoming, gateway);
}

function lateAnswer(answer: Promise<Answer>, incoming: Incoming, gateway: Gateway): Answer {
  const { call, format } = incoming;
  const { settler, clock, timeouts } = gateway;
  // Until the answer begins, the deadline of the first byte holds and not that of a gap.
  const clocks = { clock, ...timeouts, gapMs: timeouts.totalMs };
  const body = answerStream(
    new LateSource(answer, Buffer.from(format.client.heartbeat)),
    call,
    format.client,
    clocks,
    {
      // The inner stream has settled the call when it ended; what is left is the failure before it began.
      complete: () => settler.complete(call),
      failed: (error) => settler.failed(call, error, 200),
      cancelled: () => settler.cancelled(call),
    },
  );
  return { status: 200, headers: { ...answerHeaders(call), ...STREAM_HEADERS }, body };
}

class LateSource implements ByteSource {
  readonly #answer: Promise<Answer>;
  /** Goes out with the head: the client has waited long enough for a byte. */
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

/** @throws GatewayError when what came so late is no stream: its status can no longer be sent, its sentence can. */
function streamOf(answer: Answer): ReadableStream<Uint8Array> {
  if (answer.body instanceof ReadableStream) return answer.body;
  const text = typeof answer.body === "string" ? answer.body : new TextDecoder().decode(answer.body);
  const body = parseJson(text);
  const inner = isObject(body) && isObject(body["error"]) ? body["error"]["message"] : undefined;
  const sentence =
    typeof inner === "string" ? inner : `The provider answered ${answer.status} and no stream.`;
  throw new GatewayError("upstream", sentence, { code: "upstream_invalid_answer" });
}
