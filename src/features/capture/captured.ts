/** What weir keeps of a captured call. */
import type { Replaced } from "../../admin/kept-bodies.ts";

/** The bodies of one call that the operator wants to see. Times are milliseconds since 1970. */
import type { LiveDown, LiveUp } from "./live/messages.ts";

export interface Captured {
  /** Id of the call: `req_…`. */
  id: string;
  /** When the answer ended. */
  at: number;
  expiresAt: number;
  /** `generate`, `count`, `embeddings`, `compact`. */
  operation: string;
  /** Id of the client's format. */
  format: string;
  /** The JSON body of the client's request, and the body of the answer, both masked. */
  request: string;
  answer: string;
  /** These bodies were longer than what is kept. */
  cut?: readonly ("request" | "answer")[];
  /** What is not in the request as the client sent it. */
  replaced?: readonly Replaced[];
  /** Headers of the client that change what its request means, masked. */
  asked?: Readonly<Record<string, string>>;
  /** What weir and the provider sent each other in the last attempt; absent where nothing was sent. */
  wire?: CapturedWire;
  /** Status and headers of the answer. */
  status: number;
  headers: Readonly<Record<string, string>>;
  /** Why the answer failed. */
  error?: string;
}

/** What a worker sends to the keeper. */
export type CaptureUp = CapturedBatch | CaptureState | LiveUp;
export type CaptureDown = LiveDown;

/** What its config permits. */
export interface CaptureState {
  onDemand: boolean;
}

export interface CapturedWire {
  url: string;
  /** Id of the provider's format. */
  format: string;
  /** Masked; absent: as the client sent it. */
  request?: string;
  /** Absent: no answer came. */
  status?: number;
  /** Masked; absent: as the client got it, or see `isHidden`. */
  answer?: string;
  /** Of these only the beginning is kept. */
  cut?: readonly ("request" | "answer")[];
  /** The answer is not kept: weir cannot tell whether its pieces share a credential. */
  isHidden?: true;
}

/** Captured calls together, and how much of them all the file may keep. Bytes. */
export interface CapturedBatch {
  captured: readonly Captured[];
  fileBytes: number;
}
