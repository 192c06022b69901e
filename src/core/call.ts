/** The state of one client request, and of each attempt to get it answered. Only the gateway and the server use these classes. */
import type { AskAnswer, AskRequest } from "./ask.ts";
import type { ChatRequest } from "./chat.ts";
import { AttemptContext } from "./attempt-context.ts";
import type { Confinement } from "./confinement.ts";
import type { CodecContext } from "./context.ts";
import type { KindId } from "./does.ts";
import type { GatewayError, Refusable, Said } from "./error.ts";
import type { ChatEvent, Usage } from "./events.ts";
import { NO_USAGE } from "./events.ts";
import type { LimitSource } from "./limit-figures.ts";
import type { Loss, LossCode } from "./loss.ts";
import { LossList } from "./loss-list.ts";
import type { Principal } from "./principal.ts";
import type { Interception } from "./plugin.ts";
import type { Target } from "./provider.ts";
import type { RefusalReason } from "./refusal.ts";
import type { Noted } from "./slot.ts";
import { Stop } from "./stop.ts";

/** How a call ended: `complete`, `failed` (the client got an error), `cancelled` (the client disconnected). */
export type Outcome = "complete" | "failed" | "cancelled";

/**
 * Decides whether weir may retry after a failed attempt. `not-sent`: the provider did not receive the request; `no-bytes`: it
 * may have received it, and the client has no byte of an answer; `status`: it answered with an error status; `never`: a retry
 * would fail in the same way; `started`: the client has part of the answer.
 */
export type FailureClass = "not-sent" | "no-bytes" | "status" | "never" | "started";

/** Asks other models of the gateway for plugins. */
export interface Asker {
  /** @param stop aborts the child call */
  ask(request: AskRequest, parent: Call, stop: Stop): Promise<AskAnswer>;
  /** The same as a stream. The child call begins when its first event is read. */
  stream(request: AskRequest, parent: Call, stop: Stop): AsyncIterable<ChatEvent>;
}

/** The route that a client's request took. `path` is the pattern, so that few routes exist. */
export interface CallRoute {
  readonly method: string;
  readonly path: string;
  /** `gen_ai.operation.name` of the conventions for traces. */
  readonly operation: "chat" | "embeddings" | "execute_tool" | KindId;
}

/** One client request, or a request of a plugin on behalf of one. */
export class Call implements Noted {
  /** `req_…`, sent as `x-request-id` and `request-id`. */
  readonly id: string;
  /** Id of the client's format. */
  readonly format: string;
  /** Milliseconds of the monotonic clock (`performance.now()`). */
  readonly startedAt = performance.now();
  /** The client's request headers. */
  readonly headers: Headers;
  readonly #stop = new Stop();
  #losses: LossList | undefined;
  #keeps: (() => boolean)[] | undefined;

  /** Absent for a request of a plugin. */
  route?: CallRoute;
  /** The call whose plugin asks; absent for a request of a client. */
  readonly parent?: Call;
  /** Number of calls above this one. */
  readonly depth: number;
  /** The running calls that plugins ask for this one. */
  children?: Set<Call>;
  /** Number of calls that plugins asked for this one. */
  asked = 0;
  /** Absent where weir sends nothing (`explain`). */
  asker?: Asker;
  /** Gets each piece of the streamed answer in the client's format, as weir keeps it; present while an operator watches the call. */
  watched?: ((bytes: Uint8Array) => void) | undefined;
  /** The conversation as the client names it. */
  named?: string;
  /** Identifies the conversation, to which the calls belong that plugins ask for this one. */
  conversation?: () => string;

  /** Who asks, with what it may do and what its calls are charged to; absent while calls need no key. */
  principal?: Principal;
  /** The model name as the client sent it; empty until the body is parsed. */
  model = "";
  /** The model that a plugin chose to serve the call instead. */
  routedModel?: string;
  /** The models that may serve the call, and those that plugins ask for it; absent: all. */
  confinement?: Confinement;
  stream = false;
  /** A stream is one JSON array instead of server-sent events. */
  asArray = false;
  /** The running attempt, or the last one. */
  attempt?: Attempt;
  /** All attempts so far; the last one may still be running. */
  readonly attempts: Attempt[] = [];
  /** Deployments with higher precedence that weir skipped because their circuit breaker was open. */
  skipped: readonly string[] = [];

  /** The budgets and rate limits that count the call; absent if there are none. */
  limits?: LimitSource;
  /** Hooks of plugins for the events of this answer. */
  edits?: NonNullable<Interception["edit"]>[];
  /** Headers that plugins add to the answer. */
  extraHeaders?: Record<string, string>;
  /** The response headers were sent. */
  hasHead = false;
  status = 0;
  outcome?: Outcome;
  /** The rule of the gateway that refused the call. */
  refused?: RefusalReason;
  /** Kind and message of the failure, for the log. */
  error?: { kind: string; code?: string; message: string; cause?: string };
  /** When the call was settled; monotonic milliseconds. */
  endedAt?: number;
  notes?: unknown[];

  /** Set by the server: frees the call's admission slot. Called once, before the last byte is sent. */
  release?: () => void;
  /** Set by the server: closes the client's connection within seconds, after the current answer. */
  disconnect?: () => void;
  /** Set by the stream of the answer: closes the connection of a client that does not read. */
  cutOff?: (reason: GatewayError) => void;

  constructor(id: string, format: string, headers: Headers, parent?: Call) {
    this.id = id;
    this.format = format;
    this.headers = headers;
    this.parent = parent;
    this.depth = parent ? parent.depth + 1 : 0;
  }

  /** Name of the client's gateway key; absent for callers without one. */
  get key(): string | undefined {
    return this.principal?.key?.name;
  }

  /** What holds the call, or the one that it works for, to some models. */
  get confined(): Confinement | undefined {
    return this.confinement ?? this.parent?.confined;
  }

  /** The model that serves the call. */
  get servingModel(): string {
    return this.confined?.model ?? this.routedModel ?? this.model;
  }

  /** Aborts when the client disconnects or a deadline of the whole call expires. */
  get stop(): Stop {
    return this.#stop;
  }

  /** Why weir aborted the whole call; absent while it may still be answered. */
  get abortReason(): GatewayError | undefined {
    return this.#stop.reason;
  }

  /** @param keep called when the client's connection is closed; returns whether the call goes on without it */
  stay(keep: () => boolean): void {
    (this.#keeps ??= []).push(keep);
  }

  /** The client's connection is closed. @returns whether the call goes on without it: all are asked, one is enough */
  leave(): boolean {
    return this.#keeps?.map((keep) => keep()).includes(true) ?? false;
  }

  /** Aborts all work for this call. @param reason the error that readers of the answer get */
  abort(reason: GatewayError): void {
    this.#stop.abort(reason);
    this.attempt?.stop.abort(reason);
  }

  /** Records a loss that a plugin reports before the first attempt; it counts for each attempt. */
  reportLoss(code: LossCode, path: string, note?: string): void {
    (this.#losses ??= new LossList()).add(code, path, note);
  }

  /** The losses that were reported before the first attempt. */
  get losses(): readonly Loss[] {
    return this.#losses?.list ?? NO_LOSSES;
  }
}

/** One try to get a call answered by one deployment. It becomes the call's current attempt. */
export class Attempt implements Noted {
  readonly call: Call;
  /** Monotonic milliseconds. */
  readonly startedAt = performance.now();
  /** Milliseconds of delay before the attempt. */
  readonly waited: number;
  /** Aborts when the call or only this attempt is aborted. */
  readonly stop = new Stop();
  #target: Target;
  #lane: Target["lane"] | undefined;
  #losses: LossList | undefined;
  #toolNames: Map<string, string> | undefined;
  #context: CodecContext | undefined;

  /** The decoded canonical request (absent in the native lane). */
  request?: ChatRequest;
  /** weir stores the answer for its client. */
  storesAnswer?: boolean;
  /** Id of the conversation at weir that the answer belongs to; null: it could not be extended. */
  conversation?: string | null;
  /** Parts that the host refused and the plugin of the provider leaves out. */
  refused: readonly Refusable[] = [];
  /** Token counts of the provider. */
  usage: Usage = NO_USAGE;
  /** Estimated token counts that the client got because the provider sent none. */
  estimated?: {
    input: number;
    output: number;
    /** In place of the units of `usage`, if the price is by tokens. */
    isInstead?: true;
  };
  /** What an answer uses at most of which nothing is seen before it is complete. A stream that breaks off is charged for all. */
  opaque?: Pick<Usage, "input" | "output" | "imageOut" | "audioOut" | "units">;
  /** The provider's own finish reason. */
  finish?: string;
  /** When the provider's response headers and the first event of the answer arrived; monotonic milliseconds. */
  headAt?: number;
  firstByteAt?: number;
  /** When the provider last sent bytes of a stream that weir translates, comments included. Monotonic milliseconds. */
  heardAt?: number;
  upstreamStatus?: number;
  /** The request was given to the transport: the provider may have it. */
  wasSent = false;
  upstreamRequestId?: string;
  /** The booking of the attempt: its holds and its cost; only the ledger knows the members. */
  booking?: object;
  notes?: unknown[];
  /** Bytes of text, reasoning and tool arguments that the provider has sent. */
  outputBytes = 0;
  /** When the first and the last of them arrived; monotonic milliseconds. */
  firstOutputAt?: number;
  outputAt?: number;
  /** The ledger wants to know the most tokens of the output: see {@link outputTokens}. */
  countsOutput = false;
  /** The most tokens that this text can be; 0 where they are not counted. */
  outputTokens = 0;
  /** Output beyond this needs a larger reservation. Tokens. */
  outputLimit = Infinity;
  /** Called when the output exceeds its limit; it must raise the limit. */
  onOutputLimit?: () => void;
  /** Why the attempt failed; absent while it runs and when it succeeded. */
  failure?: { class: FailureClass; what: string; ms: number };
  /** What is known of the failure beside its class; without credentials. `retryAfter`: seconds that the provider asked for. */
  said?: Said & { retryAfter?: number };

  constructor(call: Call, target: Target, waited = 0) {
    this.call = call;
    this.#target = target;
    this.waited = waited;
    call.attempt = this;
    this.#copyLosses();
    if (call.abortReason) this.stop.abort(call.abortReason);
  }

  get target(): Target {
    return this.#target;
  }

  /** The lane that the attempt takes: a call that a plugin edits is translated, although client and provider speak one format. */
  get lane(): Target["lane"] {
    return this.#lane ?? this.#target.lane;
  }

  set lane(lane: Target["lane"]) {
    this.#lane = lane;
  }

  /** Continues with the same deployment in another format: the request is translated anew. */
  turnTo(target: Target): void {
    this.#target = target;
    this.#lane = undefined;
    this.#losses = this.#toolNames = this.#context = this.request = undefined;
    this.refused = [];
    this.headAt = this.upstreamStatus = this.upstreamRequestId = undefined;
    this.#copyLosses();
  }

  /** Notes the output of a running stream. @param bytes all that has come @param tokens the most that it can be */
  noteOutput(bytes: number, tokens: number): void {
    if (bytes > this.outputBytes) {
      this.outputAt = performance.now();
      this.firstOutputAt ??= this.outputAt;
    }
    this.outputBytes = bytes;
    this.outputTokens = tokens;
    if (tokens > this.outputLimit) this.onOutputLimit?.();
  }

  #copyLosses(): void {
    for (const { code, path, note } of this.call.losses) this.reportLoss(code, path, note);
  }

  /** The attempt as codecs may know it. */
  get context(): CodecContext {
    return (this.#context ??= new AttemptContext(this));
  }

  /** Tool names as sent to the provider → as the client knows them. See src/formats/README.md#ids-and-names. */
  get toolNames(): Map<string, string> {
    return (this.#toolNames ??= new Map());
  }

  get losses(): readonly Loss[] {
    return this.#losses?.list ?? NO_LOSSES;
  }

  /** Records a part of the request that was not translated unchanged. Repeated losses are recorded once. */
  reportLoss(code: LossCode, path: string, note?: string): void {
    (this.#losses ??= new LossList()).add(code, path, note);
  }
}

const NO_LOSSES: readonly Loss[] = [];
