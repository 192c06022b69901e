/** A provider's own batch API: lines go in as one batch, and their answers come out, within a day and at a lower price. */
import { GatewayError } from "../../../core/error.ts";
import type { Method, UpstreamResponse } from "../../../gateway/lanes/carrier.ts";

/** A request as the ordinary codecs have made it. */
export interface HostLine {
  /** Names the line in the batch: letters, digits and dashes. */
  readonly key: string;
  /** A JSON object. */
  readonly body: Uint8Array;
}

/** What all lines of a batch of a provider share, and the way to its host. */
export interface HostCall {
  /** The provider's name of the model. */
  readonly model: string;
  /** Path of the requests behind the base URL, such as `/chat/completions`. */
  readonly path: string;
  /** @throws GatewayError without an answer; any status is one */
  ask(
    method: Method,
    path: string,
    body?: { readonly type: string; readonly bytes: readonly Uint8Array[] },
  ): Promise<UpstreamResponse>;
  /** @param ms milliseconds @throws GatewayError when the batch is over */
  pause(ms: number): Promise<void>;
}

/** `failed`: the provider has refused the whole, and answered no line. */
export type HostState = "working" | "done" | "failed" | "expired" | "cancelled";

export interface HostLook {
  readonly state: HostState;
  /** Why it failed: one sentence. */
  readonly why?: string;
  /** Milliseconds. */
  readonly retryAfter?: number;
}

/** An answer of the provider to one line, or that it gave none. */
export type HostResult =
  | { readonly key: string; readonly status: number; readonly body: Uint8Array | string }
  | { readonly key: string; readonly without: "expired" | "cancelled" };

/** How a batch is found again whose creation had no answer. */
export interface Sought {
  readonly mark: string;
  readonly lines: number;
  /** Not created before. Milliseconds since 1970. */
  readonly since: number;
  /** Ids of batches that are known to be others. */
  readonly known: ReadonlySet<string>;
}

/** `later`: a batch may be the one, which its results will tell. */
export type Found = { readonly id: string } | "later" | undefined;

export interface BatchHost {
  readonly limits: {
    readonly lines: number;
    /** Bytes of all bodies. */
    readonly bytes: number;
  };
  /** Formats and dialects of requests that its batches take. */
  readonly formats: readonly string[];
  /** @param mark is found by `find` @throws HostRefusal, and what `call` throws: then the provider may have created it */
  create(lines: readonly HostLine[], mark: string, call: HostCall): Promise<{ readonly id: string }>;
  find(sought: Sought, call: HostCall): Promise<Found>;
  /** @throws HostRefusal */
  look(id: string, call: HostCall): Promise<HostLook>;
  /** In any order. @throws HostRefusal */
  results(id: string, call: HostCall): AsyncIterable<HostResult>;
  /** A batch that has ended is no error. */
  cancel(id: string, call: HostCall): Promise<void>;
}

/** The host has answered with an error. */
export class HostRefusal extends Error {
  readonly status: number;
  readonly #isBefore: boolean;

  /** @param isBefore what was asked for had not begun */
  constructor(status: number, message: string, isBefore = false) {
    super(message);
    this.status = status;
    this.#isBefore = isBefore;
  }

  /** What a step in front of the one that was asked for has thrown. */
  static before(thrown: unknown): unknown {
    if (!isOfHost(thrown)) return thrown;
    const status = thrown instanceof HostRefusal ? thrown.status : 502;
    return new HostRefusal(status, (thrown as Error).message, true);
  }

  /** It has done what was asked, or may have. */
  get mayHaveDone(): boolean {
    return !this.#isBefore && this.status !== 429 && isPassing(this.status);
  }

  /** The same request may succeed later. */
  get mayPass(): boolean {
    return isPassing(this.status);
  }
}

/** The same request may succeed later. @param status of HTTP */
export function isPassing(status: number): boolean {
  return status >= 500 || status === 408 || status === 409 || status === 429;
}

/** The host did not answer as it should, which may pass. */
export function isOfHost(thrown: unknown): boolean {
  return thrown instanceof HostRefusal || thrown instanceof GatewayError || isOfTransport(thrown);
}

function isOfTransport(thrown: unknown): boolean {
  return thrown instanceof Error && thrown.name === "HttpError";
}

/** A line's key at the provider. @param number from 1 */
export function keyOf(number: number): string {
  return `w${number}`;
}

/** The number of the line. @param key may have a mark behind the number @returns undefined for a key that is none of weir */
export function numberOf(key: string): number | undefined {
  const digits = /^w([1-9][0-9]*)(?:-|$)/.exec(key)?.[1];
  return digits === undefined ? undefined : Number(digits);
}
