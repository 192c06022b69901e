/** How long the books keep what they have. Sums by day stay for ever. */
export interface Keep {
  keepDays: { calls: number; hours: number; sessions: number };
  /** Most bytes of the rows of calls. */
  callBytes: number;
}

export const DEFAULT_KEEP: Keep = {
  keepDays: { calls: 90, hours: 800, sessions: 30 },
  callBytes: 10 * 1024 ** 3,
};
