/**
 * The messages between a gateway and the one that follows it, which it starts. Both may be of different versions: a message is only
 * ever added, and one that is not known is ignored.
 */
import type { StateHome } from "../../run/home.ts";
import type { Ancestor } from "../runner.ts";

/** The environment variable of a gateway that follows the one which has started it. */
export const HEIR = "WEIR_HEIR";

/** What the next gateway must know of the one before. */
export interface Estate {
  pid: number;
  host: string;
  /** The port on which it listens. */
  port: number;
  home: StateHome;
  /** SHA-256 of the path or URL of the store. */
  store: string;
  /** Paths by which workers find the keeper: its own, and those of gateways before it. */
  sockets: readonly string[];
  /** URL of the admin API, and the credential of the run. */
  admin?: string;
  credential: string;
  /** The package runner with which the gateway ends, and the processes up to it. */
  ancestors: readonly Ancestor[];
}

export type ToHeir =
  | { kind: "estate"; estate: Estate }
  /** The keeper has ended: the store is free. */
  | { kind: "keeper" }
  /** The locks of addresses are free. */
  | { kind: "released" }
  /** The workers close their listeners as soon as the answer is `alone`. */
  | { kind: "closing" }
  | { kind: "closed" };

export type FromHeir =
  /** The config is valid and all is loaded; the next step needs the store. */
  | { kind: "prepared" }
  /** Process id of the keeper, which has the store from now on. */
  | { kind: "keeper"; pid: number }
  /** All workers listen, and new connections go to them. */
  | { kind: "serving" }
  | { kind: "alone" }
  /** Why it ends, in one sentence. */
  | { kind: "failed"; message: string };
