/** What nodes tell each other over PostgreSQL: the policy has changed, and one of them needs money that others have free. */
import type { Nano } from "../../../ledger/money.ts";
import type { Postgres } from "./driver.ts";

const CHANNEL = "weir";
/** How long a node waits for the others to return money. Milliseconds. */
const RECALL_MS = 200;

type Notice =
  | { kind: "policy"; from: string }
  | { kind: "recall"; from: string; account: string }
  | { kind: "returned"; from: string; to: string; account: string; amount: Nano };

export interface NoticeEvents {
  /** Another node has changed the policy. */
  changed(): void;
  /** Returns the money of an account that no worker of this node holds. @returns the amount */
  recall(account: string): Promise<Nano>;
}

interface Round {
  /** Nodes that have not answered. */
  missing: Set<string>;
  returned: Nano;
  done: PromiseWithResolvers<void>;
}

export class Notices {
  readonly #node: string;
  readonly #events: NoticeEvents;
  #stop: (() => void) | undefined;
  /** Recalls that run, by account: draws that need the same money wait for one. */
  readonly #recalls = new Map<string, Promise<Nano>>();
  readonly #rounds = new Map<string, Round>();

  constructor(node: string, events: NoticeEvents) {
    this.#node = node;
    this.#events = events;
  }

  get isListening(): boolean {
    return this.#stop !== undefined;
  }

  /** Listens on a connection of its own. */
  async listen(sql: Postgres): Promise<void> {
    this.stop();
    const stop = await sql.listen(
      CHANNEL,
      (text) => void this.#receive(sql, text),
      () => {
        if (this.#stop === stop) this.#stop = undefined;
      },
    );
    this.#stop = stop;
    // What was told in the meantime is lost.
    this.#events.changed();
  }

  stop(): void {
    this.#stop?.();
    this.#stop = undefined;
  }

  /** Tells the other nodes that the policy has changed. */
  async tellPolicy(sql: Postgres): Promise<void> {
    await this.#tell(sql, { kind: "policy", from: this.#node });
  }

  /** Asks the other nodes for what they have drawn of an account and no worker holds. @returns what they have returned */
  recall(sql: Postgres, account: string): Promise<Nano> {
    const running = this.#recalls.get(account);
    if (running) return running;
    const recall = this.#recall(sql, account).finally(() => this.#recalls.delete(account));
    this.#recalls.set(account, recall);
    return recall;
  }

  async #recall(sql: Postgres, account: string): Promise<Nano> {
    const holders = await sql.all<{ node: string }>(
      `SELECT grants.node FROM grants JOIN nodes ON nodes.node = grants.node
       WHERE account = $1 AND grants.node <> $2 AND amount > 0 AND nodes.seen_at > now() - interval '30 seconds'`,
      [account, this.#node],
    );
    if (holders.length === 0) return 0;
    const round: Round = {
      missing: new Set(holders.map(({ node }) => node)),
      returned: 0,
      done: Promise.withResolvers<void>(),
    };
    this.#rounds.set(account, round);
    const timer = setTimeout(round.done.resolve, RECALL_MS);
    try {
      await this.#tell(sql, { kind: "recall", from: this.#node, account });
      await round.done.promise;
    } finally {
      clearTimeout(timer);
      this.#rounds.delete(account);
    }
    return round.returned;
  }

  async #receive(sql: Postgres, text: string): Promise<void> {
    const notice = parse(text);
    if (!notice || notice.from === this.#node) return;
    if (notice.kind === "policy") return this.#events.changed();
    if (notice.kind === "recall") {
      const { from, account } = notice;
      try {
        const amount = await this.#events.recall(account);
        await this.#tell(sql, { kind: "returned", from: this.#node, to: from, account, amount });
      } catch {
        // The other node does not wait long, and asks again when it needs the money.
      }
      return;
    }
    const round = notice.to === this.#node ? this.#rounds.get(notice.account) : undefined;
    if (!round?.missing.delete(notice.from)) return;
    round.returned += notice.amount;
    if (round.missing.size === 0) round.done.resolve();
  }

  async #tell(sql: Postgres, notice: Notice): Promise<void> {
    await sql.notify(CHANNEL, JSON.stringify(notice));
  }
}

function parse(text: string): Notice | undefined {
  try {
    return JSON.parse(text) as Notice;
  } catch {
    return undefined;
  }
}
