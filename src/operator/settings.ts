/** How the admin API is started. Plain JSON: it travels to the keeper. */

export interface AdminSettings {
  host: string;
  /** Absent: {@link DEFAULT_PORT}, or a free one when that is taken. */
  port?: number;
  /** Host names by which clients reach the listener, read for each request: a reload may change them. */
  names: readonly string[];
  /** Path in front of all paths at a proxy: `/weir`. */
  base?: string;
  /** Random credential of this run, which the run file holds. It gives access on loopback. */
  credential: string;
  version: string;
  /** The config has keys for the admin API. */
  declaresKeys?: boolean;
  /** Starts of the keeper after the first. */
  restarts?: number;
  /** `file`: only the config may contain keys for calls. */
  keys?: "both" | "file";
  /** The gateway before this one listens at the same host and port, and shares them. */
  follows?: boolean;
  metrics: { keys: boolean; maxSeries: number };
}

export const DEFAULT_PORT = 9348;

/** The same settings with the port that was found: the API must not move when it is started again. */
export function withPortOf(settings: AdminSettings, state: AdminState): AdminSettings {
  return "url" in state ? { ...settings, port: Number(new URL(state.url).port) } : settings;
}

/**
 * Whether the admin API listens. `token`: of a link that signs in to the console, for the start table; absent where a key exists
 * for that. `fault`: one sentence.
 */
export type AdminState = { url: string; token?: string } | { fault: string };
