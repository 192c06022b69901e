/** Deletes the accounts of callers that are gone, while the process of the tools runs. */
import type { GoneCallers } from "../../../gateway/gone.ts";
import type { AskConnect } from "./connecting.ts";

const EVERY_MS = 60_000;

export class Forgetting {
  readonly #gone: GoneCallers;
  readonly #ask: AskConnect;
  readonly #isRunning: () => boolean;
  #timer: ReturnType<typeof setInterval> | undefined;

  /** @param isRunning whether the process runs: an ask would start it */
  constructor(gone: GoneCallers, ask: AskConnect, isRunning: () => boolean) {
    this.#gone = gone;
    this.#ask = ask;
    this.#isRunning = isRunning;
  }

  /** @param isOn whether callers may have accounts */
  set(isOn: boolean): void {
    if (!isOn) {
      clearInterval(this.#timer);
      this.#timer = undefined;
      return;
    }
    if (this.#timer) return;
    this.#timer = setInterval(() => void this.look().catch(() => {}), EVERY_MS);
    this.#timer.unref();
  }

  /** @throws Error while the process is away */
  async look(): Promise<void> {
    if (!this.#isRunning()) return;
    const answer = await this.#ask({ owners: true });
    if (!("owners" in answer)) return;
    for (const owner of answer.owners) if (this.#gone.has(owner)) await this.#ask({ forget: owner });
  }
}
