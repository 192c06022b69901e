/** The repeat of a request whose first answer did not reach its client: what weir notes of it, and what its processes say about it. */

/** What the log and the record of a repeat say: it cost nothing. */
export interface PaidOnce {
  /** Whether the first answer still ran when the repeat came. */
  answer: "running" | "finished";
  /** Id of the first call. */
  first: string;
}

/** The head of a kept answer. */
export interface KeptHead {
  /** Id of the first call. */
  first: string;
  kind: "json" | "stream";
  status: number;
  headers: Record<string, string>;
}
