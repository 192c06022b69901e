/** Captured calls for the admin API. Each look is in the audit log. */
import { AdminError } from "../../operator/errors.ts";
import { Slot } from "../../core/slot.ts";
import type { KeeperHost } from "../../keeper/seams.ts";
import type { Actor } from "../../keeper/store/store.ts";
import type { Captured } from "./captured.ts";
import type { Captures } from "./captures.ts";

/** What the part in the keeper offers to the operations. */
export const looks = new Slot<Looks>();

export class Looks {
  readonly #captures: Captures;
  readonly #note: KeeperHost["note"];

  /** @param note adds an entry to the audit log */
  constructor(captures: Captures, note: KeeperHost["note"]) {
    this.#captures = captures;
    this.#note = note;
  }

  has(id: string): boolean {
    try {
      return this.#captures.get(id) !== undefined;
    } catch {
      return false;
    }
  }

  /** @throws AdminError 503 */
  async read(id: string, actor: Actor): Promise<Captured | undefined> {
    const captured = orFault(() => this.#captures.get(id));
    if (captured) await this.#note(actor, "look", `calls/${id}/body`);
    return captured;
  }

  /** @param dryRun nothing is deleted @returns how many there are, or were @throws AdminError 503 */
  async deleteAll(actor: Actor, dryRun: boolean): Promise<{ rows: number; bytes: number }> {
    const known = orFault(() => this.#captures.size());
    if (dryRun) return known;
    const rows = orFault(() => this.#captures.deleteAll());
    await this.#note(actor, "prune", "captures", { rows });
    return { rows, bytes: known.bytes };
  }
}

/** @throws AdminError 503 if the file cannot be used */
function orFault<Value>(work: () => Value): Value {
  try {
    return work();
  } catch (cause) {
    const sentence = cause instanceof Error ? cause.message : String(cause);
    throw new AdminError(503, "store_failed", `The captured calls cannot be used: ${sentence}.`);
  }
}
