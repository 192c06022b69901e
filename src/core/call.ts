/** One request's life: identity, target, losses, timing, outcome. Codecs read it; only the gateway writes its ending. */
import type { ChatRequest } from "./chat.ts";
import type { GatewayError } from "./error.ts";
import type { Usage } from "./events.ts";
import { NO_USAGE } from "./events.ts";
import type { Loss, LossCode } from "./loss.ts";
import type { Target } from "./provider.ts";

/** How a call ended: `complete`, `failed` (an error was answered or sent in band), `cancelled` (the client left). */
export type Outcome = "complete" | "failed" | "cancelled";

export class Call {
  /** `req_…`, sent as `x-request-id` and `request-id`. */
  readonly id: string;
  /** Id of the client's format. */
  readonly format: string;
  /** Milliseconds of the monotonic clock (`performance.now()`). */
  readonly startedAt = performance.now();
  /** The client's request headers. */
  readonly headers: Headers;
  readonly #controller = new AbortController();

  /** Name of the gateway key that was used; absent when no keys are configured. */
  key?: string;
  /** The model name as the client wrote it; empty until the body is read. */
  model = "";
  stream = false;
  target?: Target;
  /** The canonical request, once decoded (not in the native lane). */
  request?: ChatRequest;
  /** Names of tools as they went upstream → as the client knows them (`contract.md` E.8). */
  readonly toolNames = new Map<string, string>();
  readonly losses: Loss[] = [];

  status = 0;
  usage: Usage = NO_USAGE;
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

  constructor(id: string, format: string, headers: Headers) {
    this.id = id;
    this.format = format;
    this.headers = headers;
  }

  /** Aborts when the client leaves or the gateway gives the call up; goes with every upstream request. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Stops everything that is done for this call. @param reason what a reader of the answer is told. */
  abort(reason: GatewayError): void {
    this.#controller.abort(reason);
  }

  /** Records that something of the request was not carried over as it was; the same loss is listed once. */
  lose(code: LossCode, path: string, note?: string): void {
    if (this.losses.some((loss) => loss.code === code && loss.path === path)) return;
    this.losses.push({ code, path, note });
  }
}
