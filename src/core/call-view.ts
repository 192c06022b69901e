/** A call as plugins may know it: read-only, without credentials and addresses. */
import type { AskAnswer, AskRequest } from "./ask.ts";
import type { ChatRequest } from "./chat.ts";
import type { ChatEvent, Usage } from "./events.ts";
import type { Refusable } from "./error.ts";
import type { HeaderReader } from "./headers.ts";
import type { Loss, LossCode } from "./loss.ts";
import type { Noted } from "./slot.ts";

/**
 * The call as hooks, `patch`, `envelope` and `generate` see it. There is one view for the hooks before the first attempt, and
 * one for each attempt; all have the notes of the call, which a `Slot` reads and writes.
 */
export interface CallView extends Noted {
  /** `req_…`, sent to the client as `x-request-id`. */
  readonly id: string;
  /** Id of the client's format. */
  readonly format: string;
  /** The model name as the client sent it. */
  readonly model: string;
  /** Name of the client's gateway key; absent for callers without one, and when no keys are configured. */
  readonly key?: string;
  /** Permanent id of who asks, with a key or without one; absent while calls need no key. What a plugin keeps for one caller, it keeps under it. */
  readonly caller?: string;
  /** Whether the client requested a stream. */
  readonly stream: boolean;
  /** The client's request headers, without its credentials. */
  readonly headers: HeaderReader;
  /** The request of the running attempt; absent before the first attempt. */
  readonly target?: TargetView;
  /** The number of the running attempt, from 1 on; 0 before the first one. */
  readonly attempt: number;
  /** Losses of the request so far; `substituted` says that another model answers. */
  readonly losses: readonly Loss[];
  /** Deployments with higher precedence that weir skipped because they failed recently. */
  readonly skipped: readonly string[];
  /** Parts that the host refused in this attempt, so that the request is sent again without it; see `leavesOut` of an envelope. */
  readonly refused: readonly Refusable[];
  /** The id of the call whose plugin asks; absent for a call of a client. */
  readonly parent?: string;
  /**
   * The decoded canonical request; absent in the native lane. Before the first attempt it is a copy that is decoded when it
   * is first read, and absent if only the native lane can carry the request.
   */
  readonly request?: ChatRequest;
  /** Aborts when the client disconnects, a deadline expires or weir ends the attempt. */
  readonly signal: AbortSignal;
  /**
   * Records a part of the request that does not reach the provider unchanged.
   * @param path JSON path in the client's request
   */
  reportLoss(code: LossCode, path: string, note?: string): void;
  /**
   * Adds a header to the client's answer; the last value of a name counts.
   * @param name `x-…`, but not `x-request-id`, and of `x-weir-…` only `x-weir-cache`
   * @returns false if the response headers were already sent
   * @throws Error for another name, or a value that is not printable ASCII of at most 1,024 characters
   */
  addHeader(name: string, value: string): boolean;
  /**
   * Asks a model of the gateway, with the gateway's retries, timeouts and log. It is a call of its own, for the same caller,
   * whose log line names this call as `parent`. It is aborted when this call or attempt ends. A plugin that answers such a call
   * may ask again, at most four deep.
   * @throws GatewayError if it fails
   */
  ask(request: AskRequest): Promise<AskAnswer>;
  /**
   * The same, with the events of the answer as they come, also those of tool calls. The call begins when the first event is read.
   * Who stops reading cancels it; who reads nothing for long is cut off, as a client would be.
   * @throws GatewayError if it fails, also in mid-answer, for example when a hard budget is exhausted
   */
  askStream(request: AskRequest): AsyncIterable<ChatEvent>;
}

/** The provider, deployment and model of an attempt. */
export interface TargetView {
  readonly provider: { readonly name: string };
  readonly deployment: { readonly name: string };
  /** Values of the provider's variables at the deployment. */
  readonly variables: Readonly<Record<string, string>>;
  /** The provider's name of the model. */
  readonly model: string;
  /** Id of the format that the provider gets; empty if a program answers. */
  readonly format: string;
  /** `native`: client and provider speak the same format; `translated`: different formats; `generated`: a program answers. */
  readonly lane: "native" | "translated" | "generated";
}

/** A call after its end, as the `done` hook gets it. It is frozen. Times are milliseconds of `performance.now()`. */
export interface CallRecord extends Noted {
  readonly id: string;
  readonly format: string;
  readonly model: string;
  readonly key?: string;
  readonly caller?: string;
  /** The id of the call whose plugin asked; absent for a call of a client. */
  readonly parent?: string;
  readonly stream: boolean;
  /** The client's request headers, without its credentials. */
  readonly headers: HeaderReader;
  /** The request of the last attempt; absent if there was none. */
  readonly target?: TargetView;
  readonly attempts: readonly AttemptRecord[];
  /** Deployments with higher precedence that weir skipped because they failed recently. */
  readonly skipped: readonly string[];
  readonly losses: readonly Loss[];
  /** The status that the client received. */
  readonly status: number;
  /** `complete`, `failed` (the client got an error), `cancelled` (the client disconnected). */
  readonly outcome: "complete" | "failed" | "cancelled";
  readonly error?: { kind: string; code?: string; message: string; cause?: string };
  /** Token counts of the last attempt. */
  readonly usage: Usage;
  /** Estimated token counts that the client got because the provider sent none. */
  readonly estimated?: { input: number; output: number };
  /** The provider's own finish reason. */
  readonly finish?: string;
  readonly startedAt: number;
  readonly headAt?: number;
  readonly firstByteAt?: number;
  readonly endedAt: number;
  readonly upstreamStatus?: number;
  readonly upstreamRequestId?: string;
}

export interface AttemptRecord {
  readonly target: TargetView;
  /** Milliseconds of delay before the attempt. */
  readonly waited: number;
  /** The token counts that are known of the attempt, also if it failed. */
  readonly usage: Usage;
  /** Why the attempt failed; absent if it answered. */
  readonly failure?: { class: string; what: string; ms: number };
}
