/**
 * Calls in flight at the deployments that have a limit of their own. There is no queue: a call that finds no room goes
 * elsewhere or is told so, because a hidden queue only moves the wait to where nobody sees it (`runtime.md` 4.8).
 */
import type { Deployment } from "../../core/provider.ts";

export class Rooms {
  /** By the deployment's name; nothing is counted where nothing is limited. */
  readonly #inFlight = new Map<string, number>();

  isFull({ name, concurrency }: Deployment): boolean {
    return concurrency !== undefined && (this.#inFlight.get(name) ?? 0) >= concurrency;
  }

  enter({ name, concurrency }: Deployment): void {
    if (concurrency !== undefined) this.#inFlight.set(name, (this.#inFlight.get(name) ?? 0) + 1);
  }

  /** Once for each that entered. */
  leave({ name, concurrency }: Deployment): void {
    if (concurrency === undefined) return;
    const left = this.#inFlight.get(name)! - 1;
    if (left > 0) this.#inFlight.set(name, left);
    else this.#inFlight.delete(name);
  }
}
