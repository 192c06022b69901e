/** Pins of a file in a worker: it looks now and then whether somebody has changed it. */
import { stat } from "node:fs/promises";
import type { ApprovedPins, ServerPins } from "./compare.ts";
import { readPinFile } from "./pin-file.ts";

/** A file that is the same in two looks is read. Milliseconds. */
const LOOK_MS = 1_000;

/** Nothing of the server is approved. */
const NOTHING: ServerPins = {};

export class DeclaredPins {
  readonly #fault: (sentence: string) => void;
  readonly #changed: () => void;
  #path: string | undefined;
  #servers: readonly string[] = [];
  #pins: ApprovedPins | undefined;
  /** What the file looked like when it was read, and last. */
  #read = "";
  #last = "";
  #timer: Timer | undefined;

  /** @param fault logs a sentence @param changed called when the pins are other ones */
  constructor(fault: (sentence: string) => void, changed: () => void) {
    this.#fault = fault;
    this.#changed = changed;
  }

  /** The pins of all servers of the config; undefined: it names no file. */
  get pins(): ApprovedPins | undefined {
    return this.#pins;
  }

  /** A config serves. @param servers their names */
  configure(path: string | undefined, servers: readonly string[]): void {
    clearInterval(this.#timer);
    this.#path = path;
    this.#servers = servers;
    if (path === undefined) return this.#take(undefined);
    this.#load(path);
    this.#read = "";
    this.#timer = setInterval(() => void this.#look(path), LOOK_MS);
    this.#timer.unref();
  }

  async #look(path: string): Promise<void> {
    const now = await stat(path).then(
      ({ ino, size, mtimeMs }) => `${ino} ${size} ${mtimeMs}`,
      () => "absent",
    );
    const isSettled = now === this.#last;
    this.#last = now;
    if (!isSettled || now === this.#read || path !== this.#path) return;
    this.#read = now;
    this.#load(path);
  }

  /** Of a file that cannot be read the pins before go on; without any, nothing is approved. */
  #load(path: string): void {
    let read = this.#pins ?? {};
    try {
      read = readPinFile(path);
    } catch (cause) {
      this.#fault(`tools: ${(cause as Error).message}: no change of it counts until it is repaired`);
    }
    const own = this.#servers.map(
      (name) => [name, Object.hasOwn(read, name) ? read[name]! : NOTHING] as const,
    );
    this.#take(Object.fromEntries(own));
  }

  #take(pins: ApprovedPins | undefined): void {
    if (JSON.stringify(pins) === JSON.stringify(this.#pins)) return;
    this.#pins = pins;
    this.#changed();
  }
}
