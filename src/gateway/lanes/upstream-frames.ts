/** Cuts the bytes of a provider's stream into frames. */
import type { Attempt } from "../../core/call.ts";
import { GatewayError } from "../../core/error.ts";
import type { Frame, StreamObserver, StreamSummary, UpstreamCodec } from "../../core/format.ts";
import { SseParser } from "../../stream/sse.ts";
import { marksOf } from "../../stream/tap.ts";
import { PacedReader } from "../delivery/backlog.ts";
import { CredentialMask } from "../delivery/redact.ts";
import { TerminatorTimeout } from "../delivery/terminator-timeout.ts";
import type { Gateway } from "../types.ts";
import { drainInBackground } from "./read-answer.ts";
import type { ByteReader } from "./transport.ts";

/**
 * The frames of the provider's stream. If the consumer stops early, the connection is closed, unless the terminator has come:
 * then it is kept for the next call.
 * @throws GatewayError when the body breaks
 */
export async function* framesOf(
  source: ByteReader,
  codec: UpstreamCodec,
  attempt: Attempt,
  { backlog, clock }: Gateway,
): AsyncGenerator<Frame> {
  const reader = new PacedReader(source, attempt.call, backlog);
  const parser = new SseParser();
  const mask = new CredentialMask(attempt.target);
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
    if (attempt.stop.reason) throw attempt.stop.reason;
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
