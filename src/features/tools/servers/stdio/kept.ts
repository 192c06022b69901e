/** A program, from the wish for it until its group has ended. */
import type { Era } from "../../wire/revisions.ts";
import type { ClientFacts, ConnectionEvents } from "../connection.ts";
import type { StdioConnection } from "./stdio.ts";

export interface ProgramConfig {
  readonly command: readonly string[];
  /** `{folder}` in a value stands for a lasting folder of the server and principal. */
  readonly env: Readonly<Record<string, string>>;
  readonly era: "auto" | Era;
}

export interface Wanted {
  /** Name of the server. */
  readonly server: string;
  readonly config: ProgramConfig;
  /** Whom the program counts for; one text for all where all share it. */
  readonly principal: string;
  readonly client: ClientFacts;
  /** See {@link Opening.preferred}. */
  readonly preferred: Era;
  /** Calls of several principals share it: what could belong to several of them is refused or dropped. */
  readonly isMixed?: boolean;
  /** `{folder}` is the program's own folder, which ends with it. */
  readonly isPassing?: boolean;
}

/** Who has just been given a connection has not asked yet. Milliseconds. */
const FRESH_MS = 50;

export class Kept {
  readonly wanted: Wanted;
  readonly events: ConnectionEvents;
  /** It counts for the limits: it has a process, also one that ends. */
  hasPlace = false;
  /** Undefined while it starts. */
  connection: StdioConnection | undefined;
  /** The same from its first moment on; another one if the first start was none. */
  starting: StdioConnection | undefined;
  /** Who got it has ended it, and need not be told. */
  isQuiet = false;
  /** Its folder, which ends with it. */
  folder: string | undefined;
  /** It ends; resolves when it has. */
  ending: Promise<void> | undefined;

  constructor(wanted: Wanted, events: ConnectionEvents) {
    this.wanted = wanted;
    this.events = events;
  }

  /** Time since it was used, 0 while it starts or has requests. Milliseconds. */
  get idle(): number {
    if (!this.connection || this.connection.running > 0) return 0;
    return performance.now() - this.connection.lastUse;
  }

  /** It may be ended for another one. */
  get isSpare(): boolean {
    return !this.ending && this.idle > FRESH_MS;
  }
}

/** What makes the programs of a server others. */
export function printOf({ config: { command, env, era } }: Wanted): string {
  return JSON.stringify([command, Object.entries(env).sort(), era]);
}
