/** Grants of the workers: the parts that they hold, and the parts that are left. */
import type { Books } from "./books.ts";
import { readCells } from "./cells.ts";

export interface Granted {
  /** The amount that running attempts hold, as far as the cells of the workers say; else all that was granted. */
  held: number;
  /** The amount that no call holds. */
  left: number;
}

/** @returns what workers were granted of an account, by id. It reads the cells of the workers once. */
export function grantedBy(books: Pick<Books, "workers" | "accounts">): (account: string) => Granted {
  const cells = books.workers.map(({ life, cells }) => ({ life, left: cells && readCells(cells) }));
  return (id) => {
    const { accounts } = books;
    const shares = (accounts?.budgets.get(id) ?? accounts?.rates.get(id))?.shares;
    const granted: Granted = { held: 0, left: 0 };
    for (const { life, left: cell } of cells) {
      const share = shares?.get(life) ?? 0;
      const left = cell ? (cell.leftOf(id) ?? 0) : 0;
      granted.held += Math.max(0, share - left);
      granted.left += Math.max(0, Math.min(share, left));
    }
    return granted;
  };
}
