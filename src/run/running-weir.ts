/** A gateway that runs, as the command line sees it. */
import type { AdminState } from "../operator/settings.ts";
import type { Assembled } from "./assemble.ts";
import type { References } from "../config/references.ts";
import type { Config } from "../config/schema.ts";
import type { CallHeader } from "../core/call-header.ts";
import type { Column } from "../core/column.ts";
import type { KeyOption } from "../ledger/keys/option.ts";
import type { Plugin } from "../core/plugin.ts";
import type { LoadOwnPlugin, NamedPart, WorkerHost, WorkerPart } from "../gateway/seams.ts";
import type { WriteLog } from "../server/log.ts";
import type { StateHome } from "./home.ts";
import type { ConfigSources } from "./asked/inspected.ts";

/** The parts that a gateway is built from at its start and at each reload. */
export interface Settings extends ConfigSources {
  config: Config;
}

export interface StartOptions extends Settings {
  /** Members that the features of this build add to the record of a call. Default: none. */
  columns?: readonly Column[];
  /** Options of keys that these features declare. Default: none. */
  keyOptions?: readonly KeyOption[];
  /** The secrets to which the config refers. */
  references?: References | undefined;
  /** Headers of calls that these features declare. Default: none. */
  headers?: readonly CallHeader[];
  /** Plugins of these features. Default: none. */
  ownPlugins?: readonly LoadOwnPlugin[];
  /** Parts of these features, and of the command that starts the gateway. Default: none. */
  workers?: readonly NamedPart<WorkerHost, WorkerPart>[];
  /** Where the log is written; default: standard output. */
  write?: WriteLog;
  /** Standard output is a terminal: the log format `auto` then means `pretty`. */
  terminal?: boolean;
  /** The number of this process if several share the port. */
  worker?: number;
  /** Another gateway may follow this one on its port, and listens there before this one ends. */
  sharesPort?: boolean;
  /** The keeper's process; without it the keeper is a thread of this process. */
  keeper?: KeeperAddress;
  /** Starts the processes of features. Default: there are none, and an ask for one fails. */
  services?: ServiceOwner;
  /** The gateway already runs in other processes: it must not end because answers cannot be stored. */
  isRestart?: boolean;
  /** Random credential of this run, with which the admin API starts. */
  adminCredential?: string;
  /** Where the gateway keeps its databases. Default: the named state folder, else in memory. */
  home?: StateHome;
  /** `/health` says `starting` until {@link RunningWeir.announce} is called. */
  announces?: boolean;
  /** Called when the gateway listens, before this promise resolves. @param stop as that of {@link RunningWeir} */
  onListening?(this: void, stop: RunningWeir["stop"]): void;
  /** Called when the parts of the config are built; the gateway then waits, before it asks the keeper and listens. */
  onBuilt?(this: void): Promise<void>;
  /** Plugins of the command that starts the gateway, after the built-in ones. */
  plugins?: readonly Plugin[];
}

/** Who starts the processes of features. */
export interface ServiceOwner {
  /** Starts one if it does not run. @returns path of its socket @throws Error with one sentence */
  start(name: string): Promise<string>;
  /** Ends all of them, and what they have started. */
  stop(): Promise<void>;
}

/** How a worker reaches the keeper's process. */
export interface KeeperAddress {
  /** Path of its socket. */
  socket: string;
  /** Folder of the cells, if there is one. */
  cells?: string;
}

export interface RunningWeir {
  url: string;
  host: string;
  port: number;
  /** The parts that serve at the moment. */
  readonly parts: Assembled;
  /** Lines of parts of features for the start table. */
  readonly startLines?: readonly string[];
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
  /** Another process takes new connections: clients are asked to leave theirs with the next answer. */
  leave(): void;
  /** The keeper of this process ends for one in another process. @param socket path of its socket, which need not be there yet */
  passKeeper(socket: string): Promise<void>;
  /** The reverse of {@link passKeeper}. */
  takeKeeperBack(): Promise<void>;
  /**
   * Goes on to take calls for `delayMs`, while `/health` answers 503, then refuses new connections and lets calls in flight finish.
   * After `graceMs` weir ends the remaining ones with an error in the client's format.
   */
  stop(graceMs?: number, delayMs?: number): Promise<void>;
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
  /** Why the store is not open, in one sentence. */
  fault?: string;
  /** Number of keys that admit calls, of the config and of the store; undefined while the store is not open. */
  keys: number | undefined;
  /** Calls need no key. */
  isOpen: boolean;
  /** Names of the forms of credentials beside keys. Default: none. */
  forms?: readonly string[];
  /** Keys of the store admit nothing before the store is released. */
  isDoubted?: boolean;
}
