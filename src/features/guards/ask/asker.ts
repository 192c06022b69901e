/** What guards ask services and models, and what these answer. */
import type { Call } from "../../../core/call.ts";
import type { Entry } from "../../../gateway/seams.ts";
import type { TextKind } from "../../../core/text-places.ts";

/** Where a text is: in a request, in an answer, or in a call of a tool that weir runs. */
export type Phase = "input" | "output" | "tool";

/** What a service may know of a call. No credential of the client is in it. */
export interface CallFacts {
  readonly id: string;
  /** Id of the key that pays; absent for callers without one. */
  readonly key?: string;
  /** Name of the key or of the caller. */
  readonly name?: string;
  /** Permanent id of the person who asks. */
  readonly person?: string;
  /** Path of the caller: `/eng`. */
  readonly path: string;
  /** As the client named it. */
  readonly model: string;
  /** Id of the client's format. */
  readonly format: string;
  readonly stream: boolean;
  /** Headers of the client that the config lets through, by their lower-case names. */
  readonly headers?: Readonly<Record<string, string>>;
}

export interface AskedText {
  readonly kind: TextKind;
  /** Who said it; absent where a format has no roles. */
  readonly role?: string;
  /** Path of the member in the request or the answer: `messages[0].content`. */
  readonly path: string;
  readonly text: string;
  /** Of a piece of a text: where it begins in the whole text. UTF-16 units. */
  readonly from?: number;
}

export interface AskedImage {
  readonly path: string;
  /** A URL of the client, or `data:image/png;base64,…`. */
  readonly url: string;
}

/** A tool that a request declares. */
export interface AskedTool {
  readonly name: string;
  readonly description?: string;
  readonly schema?: unknown;
}

/** All that a guard reads of a request or of an answer, or the next pieces of an answer. */
export interface Batch {
  readonly phase: Phase;
  readonly call: CallFacts;
  readonly texts: readonly AskedText[];
  readonly images: readonly AskedImage[];
  /** Read when it is asked for: the request is decoded for it. */
  readonly tools: readonly AskedTool[];
  /** No more of the answer follows. */
  readonly final: boolean;
  /** The call itself, to which the costs of a question are booked. */
  readonly parent: Call;
  /** The models of the config that serves the call. Absent: a client of /mcp calls a tool, and no model answers. */
  readonly registry?: Entry["registry"];
}

/** A value in one of the texts. Positions are UTF-16 units; `end` is exclusive. */
export interface AskedFinding {
  /** Of the text in the batch. */
  readonly index: number;
  readonly start: number;
  readonly end: number;
  /** Upper-case letters: `PERSON`. */
  readonly kind: string;
  /** What stands in its place; absent: what the guard does decides. */
  readonly replacement?: string;
  /** The service has written the text anew: the finding says nothing of other places. */
  readonly isRewrite?: true;
}

export interface Answer {
  readonly verdict: "pass" | "block" | "flag";
  /** Why, in a word for records and messages: `violence`. No part of a text. */
  readonly kind?: string;
  readonly findings: readonly AskedFinding[];
  /** By index: of the piece, no more than this number of UTF-16 units may go on before the next answer. Absent: all of it. */
  readonly holds?: ReadonlyMap<number, number>;
}

/** A service or a model that judges texts. */
export interface Asker {
  /** As faults name it: `the webhook`. */
  readonly name: string;
  /** It takes images too. */
  readonly images?: boolean;
  /** It reads what people and models say, and not names and other words. */
  readonly prose?: boolean;
  /** @param signal aborts when the time of the guard is over, or the call has ended @throws AskError, and whatever it meets */
  ask(batch: Batch, signal: AbortSignal): Promise<Answer>;
}

/** Why a service gave no verdict. The sentence has no part of a text. */
export class AskError extends Error {
  override readonly name = "AskError";
}

export const PASSED: Answer = { verdict: "pass", findings: [] };
