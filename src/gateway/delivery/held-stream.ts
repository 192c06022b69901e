/**
 * weir delays the response headers of a stream until the first event, so that an early failure can be returned as an HTTP
 * status. After `holdMs` it sends them anyway, with heartbeats until the answer begins; from then on it reports a failure as
 * an error event.
 */
import { GatewayError } from "../../core/error.ts";
import type { BrokenStream } from "../../core/format.ts";
import type { Frame } from "../../core/frame.ts";
import { isObject, parseJson } from "../../core/json.ts";
import type { Opened, OpenedJson } from "../lanes/lane.ts";
import type { Receiver } from "../lanes/transport.ts";
import type { Deadline } from "./deadline.ts";
import { STREAM_HEADERS } from "./response-headers.ts";
import type { ByteSource, StreamEnding } from "./stream.ts";

/** The opened answer if it begins within `holdMs`, else a stream that waits for it. */
export async function holdHead(opening: Promise<Opened>, deadline: Deadline): Promise<Opened> {
  const { promise: held, resolve } = Promise.withResolvers<undefined>();
  // An answer that is held may be a part of one that is held too.
  const { onHold } = deadline;
  deadline.onHold = () => {
    onHold?.();
    resolve(undefined);
  };
  const opened = await Promise.race([opening, held]);
  if (opened) return opened;
  return { kind: "stream", status: 200, headers: { ...STREAM_HEADERS }, source: new HeldSource(opening) };
}

class HeldSource implements ByteSource {
  readonly #opening: Promise<Opened>;
  #source: ByteSource | undefined;
  #refusal: GatewayError | undefined;

  constructor(opening: Promise<Opened>) {
    this.#opening = opening;
  }

  async begin(): Promise<void> {}

  /** Until the answer begins, the deadline of its first byte applies. */
  get isWaiting(): boolean {
    return this.#source === undefined || this.#source.isWaiting === true;
  }

  get error(): GatewayError | undefined {
    return this.#refusal ?? this.#source?.error;
  }

  take(receiver: Receiver): void {
    if (this.#source) return this.#source.take(receiver);
    this.#opening.then(
      (opened) => this.#onOpened(opened, receiver),
      (thrown: unknown) => receiver.fail(thrown),
    );
  }

  writeError(error: GatewayError): readonly Frame[] | undefined {
    return this.#source?.writeError?.(error);
  }

  beforeError(): string {
    return this.#source?.beforeError?.() ?? "";
  }

  broken(): BrokenStream {
    return this.#source?.broken?.() ?? {};
  }

  readOn(ending: StreamEnding): boolean {
    return this.#source?.readOn?.(ending) ?? false;
  }

  stop(reason: unknown): void {
    this.#opening.then(
      (opened) => opened.kind === "stream" && opened.source.stop(reason),
      () => {},
    );
  }

  #onOpened(opened: Opened, receiver: Receiver): void {
    if (opened.kind === "stream") {
      this.#source = opened.source;
      return this.#source.take(receiver);
    }
    this.#refusal = opened.error;
    receiver.fail(notAStream(opened));
  }
}

/** The error for an answer that is not a stream: weir can still send its message, but no longer its status. */
function notAStream({ status, body }: OpenedJson): GatewayError {
  const json = parseJson(typeof body === "string" ? body : new TextDecoder().decode(body));
  const inner = isObject(json) && isObject(json["error"]) ? json["error"]["message"] : undefined;
  const sentence =
    typeof inner === "string" ? inner : `The provider answered with status ${status} and without a stream.`;
  return new GatewayError("upstream", sentence, { code: "upstream_invalid_answer" });
}
