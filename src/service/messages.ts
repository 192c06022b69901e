/** The messages between a worker and the process of a feature. An ask has a number that its worker chose. */

export type ToService =
  /** The first message of a connection, and later ones replace it. */
  | { introduce: unknown }
  | { ask: number; message: unknown }
  /** The reader wants the next piece. */
  | { want: number }
  /** The reader has gone. */
  | { gone: number };

export type FromService =
  /** The first message of a connection. */
  | { ready: true }
  /** `last`: the ask is over. */
  | { piece: number; value: unknown; last?: true }
  /** The last message of an ask. */
  | { end: number; fault?: Fault };

export interface Fault {
  /** One sentence. */
  message: string;
  data?: unknown;
}

/** Messages of the process to the one that owns it. */
export type ToOwner =
  | { kind: "log"; level: "fault" | "info"; text: string }
  /** A process group began, or has ended. */
  | { kind: "group"; id: number; runs: boolean };

/** The environment variable with the {@link ServiceSettings} as JSON. */
export const SERVICE_SETTINGS = "WEIR_SERVICE_SETTINGS";

export interface ServiceSettings {
  /** Folder of the feature below the state folder; absent in memory. */
  folder?: string;
}
