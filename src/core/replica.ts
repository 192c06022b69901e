/** A table of a feature whose rows every worker holds in memory. */
export interface Replica<Row> {
  /** The worker has had all rows once; before, a row that is missing may exist. */
  readonly isComplete: boolean;
  /** It has all rows, and the keeper is connected: a change reaches it within a second. */
  readonly isCurrent: boolean;
  get(id: string): Row | undefined;
  values(): Iterable<Row>;
  /** From now on called with the ids of rows that were changed, added or deleted; with the first rows too. */
  listen(changed: (ids: readonly string[]) => void): void;
}
