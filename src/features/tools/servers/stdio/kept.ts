/** A program in the pool, from the wish for it until its group has ended. */
import type { Era } from "../../wire/revisions.ts";
import type { ClientFacts, ConnectionEvents } from "../connection.ts";
import type { StdioConnection } from "./stdio.ts";

export interface ProgramConfig {
  readonly command: readonly string[];
  /** `{folder}` in a value stands for a lasting folder of the server and principal. */
  readonly env: Readonly<Record<string, string>>;
  /** How long it runs on without requests; Infinity: until who got it ends it. Milliseconds. */
  readonly idleMs: number;
  readonly era: "auto" | Era;
}

export interface Wanted {
  /** Name of the server. */
  readonly server: string;
  readonly config: ProgramConfig;
  /** Who shares a program: any text, for example the principal and the capabilities of its client. */
  readonly owner: string;
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
/** How often a program is looked at that shall end when its requests have. Milliseconds. */
const RETIRING_MS = 100;

export class Kept {
  readonly wanted: Wanted;
  /** What makes it another program. */
  readonly print: string;
  /** Those of who asked first. */
  readonly events: ConnectionEvents;
  idleMs: number;
  /** Undefined while it starts. */
  connection: StdioConnection | undefined;
  /** The same from its first moment on; another one if the first start was none. */
  starting: StdioConnection | undefined;
  /** Who got it has ended it, and need not be told. */
  isQuiet = false;
  opening!: Promise<StdioConnection>;
  /** Its folder, which ends with it. */
  folder: string | undefined;
  /** It ends; resolves when it has. */
  ending: Promise<void> | undefined;
  #isRetired = false;
  #timer: Timer | undefined;

  constructor(wanted: Wanted, events: ConnectionEvents) {
    this.wanted = wanted;
    this.print = printOf(wanted);
    this.events = events;
    this.idleMs = wanted.config.idleMs;
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

  /** Somebody gets its connection. */
  use({ idleMs }: ProgramConfig): void {
    this.idleMs = idleMs;
    if (this.connection) this.connection.lastUse = performance.now();
  }

  /** @param end called when it has been idle for its time */
  watch(end: () => void): void {
    clearTimeout(this.#timer);
    const ms = Math.max(RETIRING_MS, this.#isRetired ? 0 : this.idleMs);
    if (this.idle >= ms) return end();
    if (ms === Infinity) return;
    this.#timer = setTimeout(() => this.watch(end), Math.max(RETIRING_MS, ms - this.idle));
    this.#timer.unref();
  }

  /** Ends when its requests have. */
  retire(end: () => void): void {
    this.#isRetired = true;
    this.watch(end);
  }

  unwatch(): void {
    clearTimeout(this.#timer);
  }
}

export function printOf({ config: { command, env, era }, isMixed }: Wanted): string {
  return JSON.stringify([command, Object.entries(env).sort(), era, isMixed ?? false]);
}
