/** Captured calls for the admin API. Each look is in the audit log. */
import { AdminError } from "../../operator/errors.ts";
import type { Captured } from "../../ledger/captured.ts";
import type { Actor } from "../store/store.ts";
import type { Captures } from "./captures.ts";

export interface CaptureAdminOptions {
  captures: Captures;
  /** Adds an entry to the audit log. */
  note(actor: Actor, action: string, subject: string, facts?: unknown): Promise<void>;
}

export class CaptureAdmin {
  readonly #options: CaptureAdminOptions;

  constructor(options: CaptureAdminOptions) {
    this.#options = options;
  }

  has(id: string): boolean {
    try {
      return this.#options.captures.get(id) !== undefined;
    } catch {
      return false;
    }
  }

  async read(id: string, actor: Actor): Promise<Captured | undefined> {
    const { captures, note } = this.#options;
    const captured = orFault(() => captures.get(id));
    if (captured) await note(actor, "look", `calls/${id}/body`);
    return captured;
  }

  async deleteAll(actor: Actor, dryRun: boolean): Promise<{ rows: number; bytes: number }> {
    const { captures, note } = this.#options;
    const known = orFault(() => captures.size());
    if (dryRun) return known;
    const rows = orFault(() => captures.deleteAll());
    await note(actor, "prune", "captures", { rows });
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
