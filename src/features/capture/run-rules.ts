/** The rules of operators as a worker has them: those that have not ended, without any cost while there is none. */
import { withoutCredentials } from "../../core/client-headers.ts";
import type { Replica } from "../../core/replica.ts";
import type { Entry } from "../../gateway/seams.ts";
import { sessionHash } from "../../ledger/session-hash.ts";
import { forbids, isOnPath } from "./rules.ts";

/** A row of the table. */
export interface RuleRow {
  readonly id: string;
  readonly kind: string;
  readonly what: string;
  /** Milliseconds since 1970. PostgreSQL may give a text. */
  readonly ends: number | string;
}

/** Longest time of a timer. Milliseconds. */
const LONGEST_MS = 86_400_000;

type Asked = Pick<Entry, "call" | "format" | "bytes" | "spanOf">;

export class RunRules {
  readonly #rows: Replica<RuleRow>;
  readonly #now: () => number;
  #current: readonly RuleRow[] = [];
  #timer: Timer | undefined;

  /** @param now milliseconds since 1970 */
  constructor(rows: Replica<RuleRow>, now: () => number = Date.now) {
    this.#rows = rows;
    this.#now = now;
    rows.listen(() => this.#read());
  }

  /** There is a rule that has not ended. */
  get isAny(): boolean {
    return this.#current.length > 0;
  }

  matches(asked: Asked): boolean {
    const { call } = asked;
    if (!this.isAny || forbids(call)) return false;
    let session: string | undefined;
    return this.#current.some(({ kind, what }) => {
      if (kind === "key") return call.principal?.key?.id === what;
      if (kind === "path") return isOnPath(what, call.principal?.path ?? "/");
      return what === (session ??= sessionOf(asked));
    });
  }

  stop(): void {
    clearTimeout(this.#timer);
  }

  #read(): void {
    clearTimeout(this.#timer);
    const now = this.#now();
    this.#current = [...this.#rows.values()].filter(({ ends }) => Number(ends) > now);
    if (!this.isAny) return;
    const next = Math.min(...this.#current.map(({ ends }) => Number(ends)));
    this.#timer = setTimeout(() => this.#read(), Math.min(LONGEST_MS, next - now + 1));
    this.#timer.unref();
  }
}

/** As the books note it. @returns an empty text for a request that belongs to none */
function sessionOf({ call, format, bytes, spanOf }: Asked): string {
  const headers = withoutCredentials(call.headers);
  const session = format.client.facts.sessionOf?.({ headers, bytes, spanOf }) ?? "";
  return session === "" ? "" : sessionHash(call.principal?.id ?? "", session);
}
