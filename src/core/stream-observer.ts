/** Observation of answers that weir passes on as they come. */
import type { GatewayError } from "./error.ts";
import type { FinishReason, Usage } from "./events.ts";
import type { Frame } from "./frame.ts";
import type { JsonObject } from "./json.ts";

/**
 * How the native lane observes an answer without changing it. Only events of a stream that contain one of the `marks` are
 * parsed.
 */
export interface StreamObserver {
  /** Byte sequences (ASCII); every event that the observer needs contains at least one. */
  marks: readonly string[];
  /** Members whose strings are pieces of the answer: text, reasoning, arguments of tools. weir counts their bytes. */
  deltas?: readonly string[];
  /** Reads one marked event into the summary. */
  frame(frame: Frame, seen: StreamSummary): void;
  /** Reads a whole JSON answer. */
  answer(body: JsonObject, seen: StreamSummary): void;
  /**
   * weir may call `answer` with the outline of a body (see `judgedByOutline` of the request check). Condition: a string that
   * `answer` puts into the summary unchanged, into `finish.raw` or `usage`, and one that decides between an answer and an
   * error, are the only strings it reads; whatever it does with other strings leaves the summary as it is. If the outline
   * cut one of the former, or if the summary has an error, weir calls `answer` anew with the whole body.
   */
  judgedByOutline?: boolean;
  /**
   * Top-level member of the request that asks for several choices. A stream with several choices may send them one after
   * the other, so one finish reason does not complete it.
   */
  choicesMember?: string;
  /** The event that ends a stream, as bytes. weir sends it to the client if the answer finished and the provider omitted it. */
  terminator?: string;
}

/** An answer as the native lane observed it. */
export interface StreamSummary {
  usage?: Usage;
  finish?: FinishReason;
  /** Every choice has a finish reason: only usage and the terminator can follow. */
  finished?: boolean;
  /** The terminator was seen (`[DONE]`, `message_stop`): nothing can follow. */
  terminated: boolean;
  /** The answer counts as complete even without a terminator (every choice has a finish reason). */
  complete: boolean;
  /** The error that the provider reported inside the stream. */
  error?: GatewayError;
  /** Id of the answer, for formats whose clients can continue it by that id. */
  answerId?: string;
  /** Members of the answer's first event that an error event of weir's repeats. */
  begun?: JsonObject;
  /** The provider stores the answer under that id. */
  isStored?: boolean;
}
