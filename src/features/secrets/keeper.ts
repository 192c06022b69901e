/** The part in the keeper: it has what each worker tells of its secrets. */
import type { KeeperHost, KeeperPart } from "../../keeper/seams.ts";
import type { SecretRow } from "./rows.ts";
import { secretRows } from "./slots.ts";

export function start(host: KeeperHost): KeeperPart<readonly SecretRow[]> {
  const told = new Map<object, readonly SecretRow[]>();
  secretRows.set(host.offers, () => joined([...told.values()].flat()));
  return {
    connect() {
      const worker = {};
      return {
        receive: (rows) => void told.set(worker, rows),
        ended: () => void told.delete(worker),
      };
    },
  };
}

/** One row for each reference: that of the worker whose value is the oldest. */
function joined(rows: readonly SecretRow[]): SecretRow[] {
  const oldest = new Map<string, SecretRow>();
  for (const row of rows) {
    const known = oldest.get(row.reference);
    if (!known || (row.readAt ?? 0) < (known.readAt ?? 0) || (row.fault && !known.fault))
      oldest.set(row.reference, row);
  }
  return [...oldest.values()].sort((a, b) => (a.reference < b.reference ? -1 : 1));
}
