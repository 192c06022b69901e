/** A database that was emptied, or another one in its place, opens no gateway that had keys: its node remembers that in its state folder. */
import type { KeyEntry } from "../../../ledger/policy.ts";
import { IN_MEMORY } from "../../settings.ts";
import { MarkFile, markPathOf } from "../mark.ts";
import type { BookStore } from "../store.ts";

type StoredPolicy = Awaited<ReturnType<BookStore["policy"]>>;

export class HadKeys {
  readonly #mark: MarkFile | undefined;
  /** Why calls need a key where the database has none, in one sentence. */
  why: string | undefined;

  /** @param spool file of the spool, beside which it is remembered */
  constructor(spool: string) {
    if (spool !== IN_MEMORY) this.#mark = new MarkFile(markPathOf(spool));
  }

  /** Before the key is valid. @throws Error with one sentence if that cannot be written */
  note({ kind }: Pick<KeyEntry, "kind">): void {
    if (kind === "call") this.#mark?.note({ closed: true }, true);
  }

  /** @param policy as the database has it now @returns the one that counts */
  keep(policy: StoredPolicy): StoredPolicy {
    const known = this.#mark?.read();
    const had = known === "unreadable" || known?.closed === true;
    this.why =
      had && policy.closed !== true
        ? "the PostgreSQL database has no keys, and had some: it was emptied, or is another one. Calls need a key all the same; restore the database, or create keys"
        : undefined;
    if (policy.closed) this.note({ kind: "call" });
    return had ? { ...policy, closed: true } : policy;
  }
}
