/** What a worker and the keeper say to each other about a call that is watched while it runs. */

/** A part of an answer: a text, reasoning, or the call of a tool with its arguments as text. */
export interface LivePart {
  /** Number of the part within the call. */
  part: number;
  kind: "text" | "reasoning" | "refusal" | "call";
  /** Of the tool. */
  name?: string;
  /** What has come of it, without credentials. */
  text: string;
}

/** How far a call is. Times are milliseconds since 1970, durations milliseconds, amounts nano-dollars. */
export interface LiveFacts {
  id: string;
  startedAt: number;
  key?: string;
  path?: string;
  format: string;
  model: string;
  stream: boolean;
  phase: "starting" | "waiting" | "answering";
  attempts: number;
  provider?: string;
  deployment?: string;
  target?: string;
  firstMs?: number;
  /** Tokens so far. */
  output: number;
  held: number;
  /** What the running attempt has cost so far; absent without a price. */
  cost?: number;
}

/** To all workers, which do not know each other's calls. `watch`: number that returns in what is said of the call. */
export type LiveDown =
  | { watch: number; id: string }
  | { unwatch: number }
  /** The keeper has taken over a message with parts. */
  | { taken: number };

export type LiveUp =
  /** The worker has no such call. */
  | { watch: number; none: true }
  /** It has. `forbidden`: its client does not want its bodies to be seen. */
  | { watch: number; facts: LiveFacts; forbidden?: true }
  /** `lost`: bytes before the parts that are not shown. */
  | { watch: number; parts: readonly LivePart[]; lost?: number }
  | { watch: number; ended: true };
