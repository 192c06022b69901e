/** A gateway that runs, as the command line sees it. */
import type { AdminState } from "../operator/settings.ts";
import type { Assembled } from "./assemble.ts";
import type { Config } from "../config/schema.ts";
import type { ConfigSources } from "./asked/inspected.ts";

/** The parts that a gateway is built from at its start and at each reload. */
export interface Settings extends ConfigSources {
  config: Config;
}

export interface RunningWeir {
  url: string;
  host: string;
  port: number;
  /** The parts that serve at the moment. */
  readonly parts: Assembled;
  /** Whether a client has sent a request. */
  readonly wasAsked: boolean;
  /** Where answers are stored: `stored in /var/lib/weir for 30 days`. */
  readonly answers?: string;
  /** Where the admin API listens; absent if it is off. */
  readonly admin?: AdminState;
  /**
   * The state of the books when the keeper has opened them, or after some seconds.
   * @throws ConfigError at the first start of a gateway whose config names a key like a key of the store
   */
  books(): Promise<OpenedBooks>;
  /**
   * Activates new settings for later calls; calls in flight keep their settings.
   * @throws Error with one sentence; then the previous settings are still active
   */
  reload(settings: Settings): Promise<void>;
  /**
   * Refuses new connections and lets calls in flight finish. After `graceMs` weir ends the remaining ones with an error in the
   * client's format.
   */
  stop(graceMs?: number): Promise<void>;
  /** `/health` says `ok` from now on: signals are handled, and other commands find this gateway. */
  announce(): void;
  /** Logs a fault that belongs to no call. */
  fault(message: string, cause?: unknown): void;
  /** Logs an informational message. */
  info(message: string, facts?: Record<string, string>): void;
}

export interface OpenedBooks {
  /** Where they are kept: `in /var/lib/weir/weir.db`. */
  place: string;
  /** Number of keys that admit calls, of the config and of the store; undefined while the store is not open. */
  keys: number | undefined;
  /** Calls need no key. */
  isOpen: boolean;
  /** Keys of the store admit nothing before the store is released. */
  isDoubted?: boolean;
}
