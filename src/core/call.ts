/** The state of one client request: identity, target, losses, timing, outcome. Codecs read it; only the gateway settles it. */
import type { ChatRequest } from "./chat.ts";
import type { GatewayError } from "./error.ts";
import type { Usage } from "./events.ts";
import { NO_USAGE } from "./events.ts";
import { limitText } from "./limit-text.ts";
import type { Loss, LossCode } from "./loss.ts";
import type { Target } from "./provider.ts";
import { Stop } from "./stop.ts";

/** How a call ended: `complete`, `failed` (the client got an error), `cancelled` (the client disconnected). */
export type Outcome = "complete" | "failed" | "cancelled";

/**
 * Decides whether weir may retry after a failed attempt. `not-sent`: the provider did not receive the request; `no-bytes`: it
 * may have received it, and the client has no byte of an answer; `status`: it answered with an error status; `never`: a retry
 * would fail in the same way; `started`: the client has part of the answer.
 */
export type FailureClass = "not-sent" | "no-bytes" | "status" | "never" | "started";

/** One attempt to get a call answered. */
export interface Attempt {
  readonly target: Target;
  /** Monotonic milliseconds. */
  readonly startedAt: number;
  /** Milliseconds of delay before the attempt. */
  readonly waited: number;
  /** Why the attempt failed; absent while it runs and when it succeeded. */
  failure?: { class: FailureClass; what: string; ms: number };
}

/** Maximum number of recorded losses. A request could otherwise produce any number of them. */
const MOST_LOSSES = 500;

/** Maximum length of a loss's path and note, which contain names that the client chose. Bytes. */
const PATH_BYTES = 256;

export class Call {
  /** `req_…`, sent as `x-request-id` and `request-id`. */
  readonly id: string;
  /** Id of the client's format. */
  readonly format: string;
  /** Milliseconds of the monotonic clock (`performance.now()`). */
  readonly startedAt = performance.now();
  /** The client's request headers. */
  readonly headers: Headers;
  #stop = new Stop();
  #given?: GatewayError;

  /** Name of the client's gateway key; absent when no keys are configured. */
  key?: string;
  /** The model name as the client sent it; empty until the body is parsed. */
  model = "";
  stream = false;
  target?: Target;
  /** All attempts so far; the last one may still be running. */
  readonly attempts: Attempt[] = [];
  /** Deployments with higher precedence that weir skipped because their circuit breaker was open. */
  skipped: readonly string[] = [];
  /** The decoded canonical request (absent in the native lane). */
  request?: ChatRequest;
  /** Tool names as sent to the provider → as the client knows them. See src/formats/README.md#ids-and-names. */
  readonly toolNames = new Map<string, string>();
  readonly losses: Loss[] = [];
  readonly #lost = new Set<string>();

  status = 0;
  /** Token counts of the provider. */
  usage: Usage = NO_USAGE;
  /** Estimated token counts that the client got because the provider sent none. */
  estimated?: { input: number; output: number };
  /** The provider's own finish reason. */
  finish?: string;
  outcome?: Outcome;
  /** Kind and message of the failure, for the log. */
  error?: { kind: string; code?: string; message: string; cause?: string };
  /** When the call was settled; monotonic milliseconds. */
  endedAt?: number;
  /** When the provider's response headers and the first event of the answer arrived; monotonic milliseconds. */
  headAt?: number;
  firstByteAt?: number;
  upstreamStatus?: number;
  upstreamRequestId?: string;

  /** Set by the server: frees the call's admission slot. Called once, before the last byte is sent. */
  release?: () => void;
  /** Set by the server: closes the client's connection within seconds, after the current answer. */
  disconnect?: () => void;
  /** Set by the stream of the answer: closes the connection of a client that does not read. */
  cutOff?: (reason: GatewayError) => void;

  constructor(id: string, format: string, headers: Headers) {
    this.id = id;
    this.format = format;
    this.headers = headers;
  }

  /** Aborts when the client disconnects or weir ends the attempt. Passed to every upstream request of the running attempt. */
  get signal(): AbortSignal {
    return this.#stop.signal;
  }

  /** The same as `signal`, for the gateway's own code, which does not need an AbortSignal. */
  get stop(): Stop {
    return this.#stop;
  }

  /** Why weir aborted the whole call; absent while it may still be answered. */
  get abortReason(): GatewayError | undefined {
    return this.#given;
  }

  /** Aborts all work for this call. @param reason the error that readers of the answer get */
  abort(reason: GatewayError): void {
    this.#given ??= reason;
    this.#stop.abort(reason);
  }

  /** Aborts only the running attempt; weir may try another one. */
  abortAttempt(reason: GatewayError): void {
    this.#stop.abort(reason);
  }

  /** Continues the running attempt with the same deployment in another format. */
  turnTo(target: Target): void {
    this.#forget();
    this.target = target;
  }

  /** Begins an attempt and clears the state of the previous one. @param waited milliseconds of delay before it */
  begin(target: Target, waited: number): Attempt {
    if (this.attempts.length > 0) this.#forget();
    const attempt = { target, startedAt: performance.now(), waited };
    this.target = target;
    this.attempts.push(attempt);
    return attempt;
  }

  #forget(): void {
    if (this.#stop.aborted && !this.#given) this.#stop = new Stop();
    this.request = this.finish = this.headAt = this.firstByteAt = undefined;
    this.upstreamStatus = this.upstreamRequestId = undefined;
    this.usage = NO_USAGE;
    this.estimated = undefined;
    this.toolNames.clear();
    this.losses.length = 0;
    this.#lost.clear();
  }

  /** Records a part of the request that was not translated unchanged. Repeated losses are recorded once. */
  reportLoss(code: LossCode, at: string, note?: string): void {
    const path = limitText(at, PATH_BYTES);
    const key = `${code} ${path}`;
    if (this.#lost.size >= MOST_LOSSES || this.#lost.has(key)) return;
    this.#lost.add(key);
    this.losses.push({ code, path, note: note && limitText(note, PATH_BYTES) });
  }
}
