/** Draws whose outcome may stay unknown: each leaves a note in its transaction, so that the node can find out later. */
import type { Nano } from "../../../ledger/money.ts";
import { drawAll, giveBack } from "../accounts.ts";
import type { Sql } from "../sql.ts";
import { type Draw, type Drawn, StoreLost } from "../store.ts";

export const DRAW_TABLES = `
CREATE TABLE draws (life text, number bigint, node text NOT NULL, amounts text NOT NULL, PRIMARY KEY (life, number));
`;

/** @param unclear accounts of which another node has not answered: what it has may suffice for a draw that was refused */
export function markUnclear(drawn: Drawn, { limit, need }: Draw, unclear: ReadonlySet<string>): Drawn {
  const { row, amount } = drawn;
  if (amount > 0 || !unclear.has(row.account)) return drawn;
  const isUnclear = limit - row.spent - row.assumed - row.own >= need;
  return isUnclear ? { ...drawn, isUnclear } : drawn;
}

export class Draws {
  readonly #node: string;
  readonly #life: string;
  #last = 0;
  readonly #running = new Set<number>();
  /** The server did not say whether it granted them. */
  readonly #unclear = new Set<number>();

  constructor(node: string, life: string) {
    this.#node = node;
    this.#life = life;
  }

  /** Grants all draws or none. @throws StoreLost if the outcome is unknown; {@link undo} returns then what was granted */
  async draw(sql: Sql, draws: readonly Draw[]): Promise<readonly Drawn[]> {
    const number = ++this.#last;
    this.#running.add(number);
    try {
      return await drawAll(sql, this.#node, draws, (tx, amounts) =>
        tx.insert(
          "draws",
          ["life", "number", "node", "amounts"],
          [[this.#life, number, this.#node, JSON.stringify([...amounts])]],
        ),
      );
    } catch (cause) {
      if (cause instanceof StoreLost) this.#unclear.add(number);
      throw cause;
    } finally {
      this.#running.delete(number);
    }
  }

  /** Returns what draws of unknown outcome were granted. */
  async undo(sql: Sql): Promise<void> {
    for (const number of this.#unclear) {
      await sql.transaction(async (tx) => {
        const [note] = await tx.all<{ amounts: string }>(
          "DELETE FROM draws WHERE life = $1 AND number = $2 RETURNING amounts",
          [this.#life, number],
        );
        const amounts = note ? (JSON.parse(note.amounts) as [string, Nano][]) : [];
        for (const [account, amount] of amounts) await giveBack(tx, this.#node, account, amount);
      });
      this.#unclear.delete(number);
    }
  }

  /** Deletes the notes that are no longer needed, and those of earlier runs of the keeper. */
  async forget(sql: Sql): Promise<void> {
    const first = Math.min(this.#last + 1, ...this.#running, ...this.#unclear);
    await sql.run("DELETE FROM draws WHERE node = $1 AND (life <> $2 OR number < $3)", [
      this.#node,
      this.#life,
      first,
    ]);
  }
}
