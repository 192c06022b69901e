/** What weir tells of a secret: never its value. */

export interface SecretRow {
  /** `vault:secret/data/llm#openai`. */
  readonly reference: string;
  /** Kind of the store. */
  readonly store: string;
  /** As the store names it. */
  readonly version?: string;
  /** When it was read last. Milliseconds since 1970; absent: never. */
  readonly readAt?: number;
  /** When it is read next. Milliseconds since 1970. */
  readonly nextAt: number;
  /** How long the store leaves it to weir. Milliseconds. */
  readonly leaseMs?: number;
  /** Options of the config that have it. */
  readonly usedBy: readonly string[];
  /** Why it could not be read last time. */
  readonly fault?: string;
}
