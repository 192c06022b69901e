/** The repeat of a request whose first answer did not reach its client: what weir notes of it, and what its processes say about it. */
import type { Channel } from "../../core/channel.ts";
import type { ErrorKind } from "../../core/error.ts";
import type { Frame } from "../../core/frame.ts";

/** The head of a kept answer. */
export interface KeptHead {
  /** Id of the first call. */
  first: string;
  kind: "json" | "stream";
  status: number;
  headers: Record<string, string>;
}

/** A request as workers compare it. */
export interface SoughtRequest {
  /** SHA-256 with the salt of the keeper, base64. */
  readonly digest: string;
  /** The same of its client alone; empty for a first request that weir has read. */
  readonly client: string;
  /** How often the client says that it has sent the request before. */
  readonly count: number;
  /** The request has an idempotency key. */
  readonly isNamed: boolean;
}

/**
 * State of a request in a worker: `kept`: it has the answer; `refused`: a client may repeat an equal request that got none, so
 * the answers of other workers may not be used either.
 */
export type Knowledge = "kept" | "refused" | "nothing";

/** Messages on a line from the worker with the repeat: it wants the head of the answer, its next piece, or nothing more. */
export interface Wanted {
  want: "head" | "piece" | "nothing";
}

/** Messages on a line from the worker with the answer. */
export type Given =
  | { head: KeptHead; isWhole: boolean; body?: Uint8Array }
  /** `before`: see `ByteSource.beforeError`. */
  | { piece: Uint8Array; before: string }
  | { end: true }
  | { failure: { kind: ErrorKind; message: string; code?: string; events?: readonly Frame[] } }
  /** There is no answer any more. */
  | { gone: true };

/** From a worker to the keeper. A line connects two workers; the keeper numbers them. */
export type RepeatUp =
  | { kind: "join" }
  | { kind: "seek"; number: number; request: SoughtRequest }
  | { kind: "know"; line: number; knows: Knowledge }
  | { kind: "say"; line: number; said: Wanted | Given };

/** From the keeper to a worker. `found` without a line: no other worker has the answer. */
export type RepeatDown =
  | { kind: "salt"; salt: Uint8Array }
  | { kind: "sought"; line: number; request: SoughtRequest }
  | { kind: "found"; number: number; line?: number; isRefused: boolean }
  | { kind: "said"; line: number; said: Wanted | Given };

/** The way of a worker to the others. */
export type RepeatChannel = Channel<RepeatUp, RepeatDown>;
