/** Changes in the store: one transaction and one entry of the audit log each. */
import type { AdminBooks } from "../../../admin/books.ts";
import type { KeeperHost } from "../../../keeper/seams.ts";
import type { Change } from "./rows.ts";
import type { ScimSettings } from "./settings.ts";

/** Reads from the store. */
export type Read = AdminBooks["read"];

export interface Changed<Value> {
  readonly value: Value;
  /** For the audit log; absent: nothing is changed, and nothing is written. */
  readonly entry?: { readonly before: unknown; readonly after: object | null };
}

export interface Outcome<Value> {
  readonly value: Value;
  /** Whether the access of somebody has changed. */
  readonly isAccessChanged: boolean;
}

/** Undoes a transaction that turned out to change nothing. */
class Unchanged extends Error {}

/** Most ids in an entry of the audit log. */
const MOST_IDS = 100;

export class Changes {
  readonly settings: ScimSettings;
  readonly #host: Pick<KeeperHost, "change" | "settled">;

  constructor(host: Pick<KeeperHost, "change" | "settled">, settings: ScimSettings) {
    this.#host = host;
    this.settings = settings;
  }

  /** Whether all workers have taken over what was changed before. */
  settled(): Promise<boolean> {
    return this.#host.settled();
  }

  /**
   * @param address of the client
   * @param work PostgreSQL may repeat it
   * @throws what `work` throws; then nothing is changed
   */
  async run<Value>(
    address: string | undefined,
    action: string,
    subject: string,
    work: (change: Change) => Promise<Changed<Value>>,
  ): Promise<Outcome<Value>> {
    const { settings } = this;
    let made: Outcome<Value> | undefined;
    const actor = { actor: "scim", ...(address !== undefined && { address }) };
    try {
      await this.#host.change(actor, action, subject, async (sql, version) => {
        const touched = new Set<string>();
        const { value, entry } = await work({ sql, version, settings, now: Date.now(), touched });
        made = { value, isAccessChanged: touched.size > 0 };
        if (!entry) throw new Unchanged();
        const { before, after } = entry;
        return { before, after: after && { ...after, ...listed("access", [...touched]) } };
      });
    } catch (cause) {
      if (!(cause instanceof Unchanged)) throw cause;
    }
    return made!;
  }
}

/** The ids of a change, as the audit log has them. */
export function listed(name: string, ids: readonly string[]): object {
  if (ids.length === 0) return {};
  if (ids.length <= MOST_IDS) return { [name]: ids };
  return { [name]: ids.slice(0, MOST_IDS), [`${name}InAll`]: ids.length };
}
