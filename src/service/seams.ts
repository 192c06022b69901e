/** A process of a feature beside the gateway, and what it may use. One process of a gateway has what workers must share: children, sessions. */
import type { FileSink } from "bun";

export interface ServiceHost {
  /** Folder of the feature below the state folder, which only this user can read; undefined if everything is kept in memory. */
  folder(this: void): string | undefined;
  /** Logs a sentence as a fault. */
  fault(this: void, sentence: string): void;
  /** Logs a sentence. */
  info(this: void, sentence: string): void;
  /**
   * Starts a program as the leader of a process group of its own. weir kills what is left of the group when the leader has ended, and
   * when the process of the feature or the gateway ends in any way. It has no variable of the environment but those of `env`.
   * @throws Error of the system if the program cannot be started
   */
  spawn(this: void, command: readonly string[], options: ChildOptions): Child;
}

export interface ChildOptions {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
}

/** A running program. */
export interface Child {
  readonly pid: number;
  readonly stdin: FileSink;
  readonly stdout: ReadableStream<Uint8Array>;
  readonly stderr: ReadableStream<Uint8Array>;
  /** How it ended; the group has ended too. */
  readonly exited: Promise<{ code: number | null; signal: NodeJS.Signals | number | null }>;
  /** Sends a signal to all processes of its group. */
  signal(this: void, name: NodeJS.Signals): void;
}

/** A worker that is connected. */
export interface Peer {
  /** What it said last about itself. */
  readonly introduction: unknown;
}

/** The process of a feature, from its start to its end. */
export interface ServicePart {
  /** A worker says what it is, when it connects and once more after each reload: for example the options of its config. */
  introduced?(message: unknown, peer: Peer): void;
  /** Answers an ask. A thrown ServiceError reaches the reader as it is; another error is logged. @param stop the reader has gone */
  answer(message: unknown, peer: Peer, stop: AbortSignal): AsyncIterable<unknown>;
  /** The gateway stops. The process ends when this resolves, or after some seconds. */
  close?(): Promise<void>;
}

/** The process of a feature by the name of the feature. */
export interface NamedService {
  readonly name: string;
  readonly load: LoadService;
}

/** Loads the code of the process. */
export type LoadService = () => Promise<{ start(host: ServiceHost): ServicePart }>;
