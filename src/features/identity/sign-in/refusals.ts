/** Refused sign-ins in the audit log. Every visitor of the page can be refused, so the entries of a minute are bounded. */
import type { KeeperHost } from "../../../keeper/seams.ts";
import { TokenFault } from "../tokens/fault.ts";

const WINDOW_MS = 60_000;
/** Most entries of a minute for one address, and for all. */
const MOST_OF_ADDRESS = 5;
const MOST = 60;

export interface RefusedSignIn {
  /** Name of the attempt, as the page shows it. */
  readonly attempt: string;
  readonly provider: string;
  /** Of the client. */
  readonly address: string;
  readonly cause: unknown;
}

export class RefusalNotes {
  readonly #host: Pick<KeeperHost, "note" | "report">;
  readonly #now: () => number;
  #begunAt = -Infinity;
  /** Entries since then, by address, and refusals without one. */
  #entries = new Map<string, number>();
  #count = 0;
  #more = 0;

  constructor(host: Pick<KeeperHost, "note" | "report">, now: () => number) {
    this.#host = host;
    this.#now = now;
  }

  /** Nothing of what the client or the provider sent is in the entry: the log of the gateway has it under the attempt's name. */
  add({ attempt, provider, address, cause }: RefusedSignIn): void {
    if (this.#now() - this.#begunAt >= WINDOW_MS) {
      this.#begunAt = this.#now();
      this.#entries = new Map();
      this.#count = 0;
    }
    const own = this.#entries.get(address) ?? 0;
    if (own >= MOST_OF_ADDRESS || this.#count >= MOST) {
      this.#more++;
      return;
    }
    this.#entries.set(address, own + 1);
    this.#count++;
    const reason = cause instanceof TokenFault ? cause.reason : "failed";
    const facts = { reason, attempt, ...(this.#more > 0 && { notListedBefore: this.#more }) };
    this.#more = 0;
    this.#host
      .note({ actor: "none", address }, "sign-in refused", `sign-in/${provider}`, facts)
      .catch((thrown: Error) => this.#host.report(`identity: no audit entry: ${thrown.message}`));
  }
}
