/** What workers tell the keeper about tools, and what it asks them. */
import type { JsonObject } from "../../core/json.ts";
import type { ServerPins } from "./pins/compare.ts";
import type { PinMode } from "./pins/declarations.ts";
import type { OperatorAnswer, OperatorAsk, ServerReport, ServerSummary } from "./operator/facts.ts";

/** A list that a server gave, with all of its tools. */
export interface SeenList {
  readonly server: string;
  readonly definitions: readonly JsonObject[];
  readonly mode: PinMode;
  /** What a file approves of the server; absent: what the store has counts. */
  readonly pins?: ServerPins;
}

export type ToolsUp =
  | { readonly seen: SeenList }
  /** The servers of the config that serves, and its file of pins. */
  | { readonly servers: readonly ServerSummary[]; readonly pinFile?: string }
  /** How a server is. */
  | { readonly report: ServerReport }
  | { readonly number: number; readonly answer: OperatorAnswer }
  /** The key of the store. */
  | { readonly wants: "seal" };

/** A question of an operator. */
export interface Question {
  readonly number: number;
  readonly ask: OperatorAsk;
}

export type ToolsDown = Question | { readonly seal: string };
