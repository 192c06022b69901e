/** One request's life: identity, target, losses, timing, outcome. Codecs read it; only the gateway writes its ending. */
import type { ChatRequest } from "./chat.ts";
import type { GatewayError } from "./error.ts";
import type { Usage } from "./events.ts";
import { NO_USAGE } from "./events.ts";
import { limitText } from "./limit-text.ts";
import type { Loss, LossCode } from "./loss.ts";
import type { Target } from "./provider.ts";
import { Stop } from "./stop.ts";

/** How a call ended: `complete`, `failed` (an error was answered or sent in band), `cancelled` (the client left). */
export type Outcome = "complete" | "failed" | "cancelled";

/**
 * What a failed attempt means for the next one. `not-sent`: the upstream never saw the request;
 * `no-bytes`: it may have, and nothing of its answer reached the client; `status`: it said that it failed; `never`: the
 * request would fail again; `started`: part of the answer is with the client.
 */
export type FailureClass = "not-sent" | "no-bytes" | "status" | "never" | "started";

/** One try to have a call answered. */
export interface Attempt {
  readonly target: Target;
  /** Monotonic milliseconds. */
  readonly startedAt: number;
  /** Milliseconds waited before it. */
  readonly waited: number;
  /** What became of it; absent while it runs and when it answered. */
  failure?: { class: FailureClass; what: string; ms: number };
}

/** More losses than anybody reads; a request can be made of nothing else. */
const MOST_LOSSES = 500;

/** Longest path and note of a loss: a client chooses the names in it. Bytes. */
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

  /** Name of the gateway key that was used; absent when no keys are configured. */
  key?: string;
  /** The model name as the client wrote it; empty until the body is read. */
  model = "";
  stream = false;
  target?: Target;
  /** Every try so far; the last one is the running one. */
  readonly attempts: Attempt[] = [];
  /** Deployments that would have come first and were left alone, because they failed too often of late. */
  skipped: readonly string[] = [];
  /** The canonical request, once decoded (not in the native lane). */
  request?: ChatRequest;
  /** Names of tools as they went upstream → as the client knows them. */
  readonly toolNames = new Map<string, string>();
  readonly losses: Loss[] = [];
  readonly #lost = new Set<string>();

  status = 0;
  /** What the upstream counted. */
  usage: Usage = NO_USAGE;
  /** Tokens as the client was told them where the upstream counted none. */
  estimated?: { input: number; output: number };
  /** The upstream's own word for why the answer ended. */
  finish?: string;
  outcome?: Outcome;
  /** Kind and sentence of the failure, for the log. */
  error?: { kind: string; code?: string; message: string; cause?: string };
  /** When the call was settled; monotonic milliseconds. */
  endedAt?: number;
  /** When the upstream's head, and when the answer's first event, arrived; monotonic milliseconds. */
  headAt?: number;
  firstByteAt?: number;
  upstreamStatus?: number;
  upstreamRequestId?: string;

  /** Set by the server: called once at the end, before the last byte is handed over. */
  release?: () => void;
  /** Set by the server: closes the client's connection within seconds, without ending the answer that is on it. */
  disconnect?: () => void;
  /** Set by the stream of the answer: drops a client that does not read. */
  cutOff?: (reason: GatewayError) => void;

  constructor(id: string, format: string, headers: Headers) {
    this.id = id;
    this.format = format;
    this.headers = headers;
  }

  /** Aborts when the client leaves or the gateway gives up; goes with every upstream request of the running attempt. */
  get signal(): AbortSignal {
    return this.#stop.signal;
  }

  /** The same for the gateway's own code, which needs no AbortSignal. */
  get stop(): Stop {
    return this.#stop;
  }

  /** Why the whole call was given up; absent while it may still be answered. */
  get abortReason(): GatewayError | undefined {
    return this.#given;
  }

  /** Stops everything that is done for this call. @param reason what a reader of the answer is told. */
  abort(reason: GatewayError): void {
    this.#given ??= reason;
    this.#stop.abort(reason);
  }

  /** Stops the running attempt only: another one may answer. */
  abortAttempt(reason: GatewayError): void {
    this.#stop.abort(reason);
  }

  /** The running attempt goes on at the same place in another format. */
  turnTo(target: Target): void {
    this.#forget();
    this.target = target;
  }

  /** Begins an attempt; what an earlier one left behind does not leak into it. @param waited milliseconds before it */
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

  /** Records that something of the request was not carried over as it was; the same loss is listed once. */
  reportLoss(code: LossCode, at: string, note?: string): void {
    const path = limitText(at, PATH_BYTES);
    const key = `${code} ${path}`;
    if (this.#lost.size >= MOST_LOSSES || this.#lost.has(key)) return;
    this.#lost.add(key);
    this.losses.push({ code, path, note: note && limitText(note, PATH_BYTES) });
  }
}
