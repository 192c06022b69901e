/** The signals of a gateway in a process of its own, from before it listens: an unhandled one would end it with its calls. */
import { constants } from "node:os";
import { exitProcess } from "../process/exit.ts";

const ENDING = ["SIGTERM", "SIGINT"] as const;

export class Signals {
  #end: ((name: NodeJS.Signals) => void) | undefined;
  #reload: (() => void) | undefined;
  #upgrade: (() => void) | undefined;
  #isReloadWanted = false;

  constructor() {
    process.on("SIGUSR2", () => this.#upgrade?.());
    for (const name of ENDING)
      process.on(name, () => {
        if (this.#end) this.#end(name);
        // Nobody is served yet.
        else exitProcess(128 + constants.signals[name]);
      });
    process.on("SIGHUP", () => {
      if (this.#reload) this.#reload();
      else this.#isReloadWanted = true;
    });
  }

  /** Takes SIGTERM and SIGINT from now on. */
  onEnd(handle: (name: NodeJS.Signals) => void): void {
    this.#end = handle;
  }

  /** Handles another signal like SIGTERM. */
  pass(name: NodeJS.Signals): void {
    this.#end?.(name);
  }

  /** Takes SIGUSR2 from now on. */
  onUpgrade(handle: () => void): void {
    this.#upgrade = handle;
  }

  /** Takes SIGHUP from now on; one that came before is handled now. */
  onReload(handle: () => void): void {
    this.#reload = handle;
    if (this.#isReloadWanted) handle();
    this.#isReloadWanted = false;
  }
}
