/** The nodes of a shared store: who they are, who is silent, and what becomes of the money of a silent one. */
import type { Nano } from "../../../ledger/money.ts";
import { NODES } from "../numbers.ts";
import type { Sql } from "../sql.ts";
import { releaseParts } from "./rate-parts.ts";

/** Of the lock under which nodes choose their numbers. */
const LOCK = 0x6e_6f_64_65;

/** The entry of `meta` that a copied store has until a gateway uses it. */
export const COPIED = "copied";

export const NODE_TABLES = `
CREATE TABLE nodes (node text PRIMARY KEY, life text NOT NULL, slot bigint NOT NULL UNIQUE,
  seen_at timestamptz NOT NULL DEFAULT now(), lapsed bigint NOT NULL DEFAULT 0);
-- lapsed: an amount that is booked as assumed, because its node is silent.
ALTER TABLE grants ADD lapsed bigint NOT NULL DEFAULT 0;
`;

export class Nodes {
  readonly #node: string;
  readonly #life: string;
  readonly #leaseMs: number;

  /** @param life names this run of the keeper @param leaseMs a node that is silent for this time loses its grants */
  constructor(node: string, life: string, leaseMs: number) {
    this.#node = node;
    this.#life = life;
    this.#leaseMs = leaseMs;
  }

  /**
   * Announces this node. @returns its number, 0 to 63, which no other node has
   * @throws Error with one sentence if all numbers are taken
   */
  async hello(sql: Sql): Promise<number> {
    return sql.transaction(async (tx) => {
      await tx.all("SELECT pg_advisory_xact_lock($1)", [LOCK]);
      await revive(tx, this.#node);
      await tx.run("DELETE FROM meta WHERE name = $1", [COPIED]);
      await releaseParts(tx, this.#node);
      const [known] = await tx.all<{ slot: number }>(
        "UPDATE nodes SET life = $2, seen_at = now() WHERE node = $1 RETURNING slot",
        [this.#node, this.#life],
      );
      if (known) return known.slot;
      await tx.run(
        `DELETE FROM nodes WHERE lapsed = 1 AND seen_at < now() - interval '1 day'
         AND NOT EXISTS (SELECT 1 FROM grants WHERE grants.node = nodes.node AND (amount <> 0 OR lapsed <> 0))`,
      );
      const taken = new Set(
        (await tx.all<{ slot: number }>("SELECT slot FROM nodes")).map(({ slot }) => slot),
      );
      const slot = Array.from({ length: NODES }, (_, n) => n).find((n) => !taken.has(n));
      if (slot === undefined)
        throw new Error(`${NODES} gateways use this PostgreSQL database: that is the maximum`);
      await tx.run("INSERT INTO nodes (node, life, slot) VALUES ($1, $2, $3)", [
        this.#node,
        this.#life,
        slot,
      ]);
      return slot;
    });
  }

  /**
   * Reports that this node is alive, takes back the money that others booked as assumed in its silence, and books that of nodes
   * which are silent now. @throws Error with one sentence if another gateway uses the name of this node
   */
  async beat(sql: Sql): Promise<void> {
    const [row] = await sql.all<{ lapsed: number }>(
      "UPDATE nodes SET seen_at = now() WHERE node = $1 AND life = $2 RETURNING lapsed",
      [this.#node, this.#life],
    );
    if (!row)
      throw new Error(
        `another gateway uses the name of this one (${this.#node}): give each gateway a state folder of its own`,
      );
    if (row.lapsed === 1) await sql.transaction((tx) => revive(tx, this.#node));
    await sql.transaction((tx) => this.#lapse(tx));
  }

  /** This node ends; its name is forgotten if it has returned all money. */
  async goodbye(sql: Sql): Promise<void> {
    await sql.transaction((tx) => releaseParts(tx, this.#node));
    await sql.run(
      `DELETE FROM nodes WHERE node = $1 AND life = $2
       AND NOT EXISTS (SELECT 1 FROM grants WHERE grants.node = $1 AND (amount <> 0 OR lapsed <> 0))`,
      [this.#node, this.#life],
    );
  }

  async #lapse(tx: Sql): Promise<void> {
    const silent = await tx.all<{ node: string }>(
      `SELECT node FROM nodes WHERE lapsed = 0 AND seen_at < now() - $1 * interval '1 millisecond'
       ORDER BY node FOR UPDATE SKIP LOCKED`,
      [this.#leaseMs],
    );
    for (const { node } of silent) {
      const why = `the gateway ${node} was silent for ${Math.round(this.#leaseMs / 1000)} s`;
      const grants = await tx.all<Grant>(
        "SELECT account, amount FROM grants WHERE node = $1 AND amount > 0 ORDER BY account",
        [node],
      );
      for (const grant of grants) await move(tx, node, grant, why);
      await tx.run("UPDATE nodes SET lapsed = 1 WHERE node = $1", [node]);
    }
  }
}

interface Grant {
  account: string;
  amount: Nano;
}

/** Money that was booked as assumed because this node was silent is granted to it again: the node knows how it was used. */
async function revive(tx: Sql, node: string): Promise<void> {
  const [row] = await tx.all<{ lapsed: number }>("SELECT lapsed FROM nodes WHERE node = $1 FOR UPDATE", [
    node,
  ]);
  if (row?.lapsed !== 1) return;
  const grants = await tx.all<Grant>(
    "SELECT account, -lapsed AS amount FROM grants WHERE node = $1 AND lapsed <> 0 ORDER BY account",
    [node],
  );
  for (const grant of grants) await move(tx, node, grant, `the gateway ${node} is back`);
  await tx.run("UPDATE nodes SET lapsed = 0 WHERE node = $1", [node]);
}

/** Moves an amount from what is granted to what is assumed; a negative amount moves back. */
async function move(tx: Sql, node: string, { account, amount }: Grant, why: string): Promise<void> {
  await tx.run("UPDATE accounts SET granted = granted - $2, assumed = assumed + $2 WHERE account = $1", [
    account,
    amount,
  ]);
  await tx.run(
    "UPDATE grants SET amount = amount - $3, lapsed = lapsed + $3 WHERE account = $1 AND node = $2",
    [account, node, amount],
  );
  await tx.run("INSERT INTO assumptions (at, account, amount, why) VALUES ($1, $2, $3, $4)", [
    Date.now(),
    account,
    amount,
    why,
  ]);
}
