/**
 * Notices between nodes over PostgreSQL: the policy has changed, a budget has changed and the others shall confirm it, and
 * one of them needs money that others have free.
 */
import type { Nano } from "../../../ledger/money.ts";
import type { Postgres } from "./driver.ts";

const CHANNEL = "weir";
/** How long a node waits for the others to return money, and while one of them owes an earlier answer. Milliseconds. */
const RECALL_MS = 1_000;
const LATE_MS = 200;
/** How long a node waits for the others to settle a budget. Milliseconds. */
const SETTLE_MS = 5_000;

type Notice =
  | { kind: "policy"; from: string }
  | { kind: "recall"; from: string; account: string }
  | { kind: "returned"; from: string; to: string; account: string; amount: Nano }
  | { kind: "settle"; from: string; budget: string; id: string }
  | { kind: "settled"; from: string; to: string; id: string };

export interface NoticeEvents {
  /** Another node has changed the policy. */
  changed(): void;
  /** Returns the money of an account that no worker of this node holds. @returns the amount */
  recall(account: string): Promise<Nano>;
  /** Takes a changed budget over, so that no call passes by its former limit. @throws Error if that is not certain */
  settle(budget: string): Promise<void>;
}

interface Round {
  /** Nodes that have not answered. */
  missing: Set<string>;
  done: PromiseWithResolvers<void>;
}

export class Notices {
  readonly #node: string;
  readonly #events: NoticeEvents;
  #stop: (() => void) | undefined;
  /** Recalls that run, by account: draws that need the same money wait for one. */
  readonly #recalls = new Map<string, Promise<boolean>>();
  /** By account, or by the id of the notice. */
  readonly #rounds = new Map<string, Round>();
  /** Nodes that have not answered in time. */
  readonly #late = new Set<string>();

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
    // Notices of the meantime are lost.
    this.#events.changed();
  }

  stop(): void {
    this.#stop?.();
    this.#stop = undefined;
  }

  /** Notifies the other nodes that the policy has changed. */
  async tellPolicy(sql: Postgres): Promise<void> {
    await this.#tell(sql, { kind: "policy", from: this.#node });
  }

  /** Asks the other nodes for what they have drawn of accounts and no worker holds. @returns accounts of which a node has not answered */
  async recallAll(sql: Postgres, accounts: readonly string[]): Promise<ReadonlySet<string>> {
    const isUnclear = await Promise.all(accounts.map((account) => this.#recallOnce(sql, account)));
    return new Set(accounts.filter((_, at) => isUnclear[at]));
  }

  #recallOnce(sql: Postgres, account: string): Promise<boolean> {
    const running = this.#recalls.get(account);
    if (running) return running;
    const recall = this.#recall(sql, account).finally(() => this.#recalls.delete(account));
    this.#recalls.set(account, recall);
    return recall;
  }

  /** Has the other nodes settle a budget. @returns those that have not done it in time */
  async settle(sql: Postgres, budget: string): Promise<readonly string[]> {
    const nodes = await sql.all<{ node: string }>(
      "SELECT node FROM nodes WHERE node <> $1 AND lapsed = 0 AND seen_at > now() - interval '30 seconds'",
      [this.#node],
    );
    const id = crypto.randomUUID();
    const notice: Notice = { kind: "settle", from: this.#node, budget, id };
    return [...(await this.#ask(sql, id, nodes, SETTLE_MS, notice))];
  }

  /** @returns whether a node has not answered */
  async #recall(sql: Postgres, account: string): Promise<boolean> {
    const holders = await sql.all<{ node: string }>(
      `SELECT grants.node FROM grants JOIN nodes ON nodes.node = grants.node
       WHERE account = $1 AND grants.node <> $2 AND amount > 0 AND nodes.seen_at > now() - interval '30 seconds'`,
      [account, this.#node],
    );
    const ms = holders.every(({ node }) => this.#late.has(node)) ? LATE_MS : RECALL_MS;
    const notice: Notice = { kind: "recall", from: this.#node, account };
    const missing = await this.#ask(sql, account, holders, ms, notice);
    for (const node of missing) this.#late.add(node);
    return missing.size > 0;
  }

  /** @returns when all nodes have answered, or after a time, with those that have not */
  async #ask(
    sql: Postgres,
    name: string,
    nodes: readonly { node: string }[],
    ms: number,
    notice: Notice,
  ): Promise<ReadonlySet<string>> {
    const round: Round = {
      missing: new Set(nodes.map(({ node }) => node)),
      done: Promise.withResolvers<void>(),
    };
    if (nodes.length === 0) return round.missing;
    this.#rounds.set(name, round);
    const timer = setTimeout(round.done.resolve, ms);
    try {
      await this.#tell(sql, notice);
      await round.done.promise;
    } finally {
      clearTimeout(timer);
      this.#rounds.delete(name);
    }
    return round.missing;
  }

  async #receive(sql: Postgres, text: string): Promise<void> {
    const notice = parse(text);
    if (!notice || notice.from === this.#node) return;
    if (notice.kind === "policy") return this.#events.changed();
    if (notice.kind === "recall" || notice.kind === "settle") return this.#answer(sql, notice);
    this.#late.delete(notice.from);
    if (notice.to !== this.#node) return;
    const round = this.#rounds.get(notice.kind === "returned" ? notice.account : notice.id);
    if (!round?.missing.delete(notice.from)) return;
    if (round.missing.size === 0) round.done.resolve();
  }

  async #answer(sql: Postgres, notice: Extract<Notice, { kind: "recall" | "settle" }>): Promise<void> {
    const { from: to } = notice;
    try {
      if (notice.kind === "settle") {
        await this.#events.settle(notice.budget);
        return await this.#tell(sql, { kind: "settled", from: this.#node, to, id: notice.id });
      }
      const { account } = notice;
      const amount = await this.#events.recall(account);
      await this.#tell(sql, { kind: "returned", from: this.#node, to, account, amount });
    } catch {
      // The other node does not wait long, and asks again when it needs the answer.
    }
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
