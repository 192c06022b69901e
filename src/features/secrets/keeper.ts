/** The part in the keeper: it has what each worker tells of its secrets. */
import type { KeeperHost, KeeperPart } from "../../keeper/seams.ts";
import type { SecretRow } from "./rows.ts";
import { rewrap, secretRows } from "./slots.ts";

const STALE = "secrets_stale";

export function start(host: KeeperHost): KeeperPart<readonly SecretRow[]> {
  const told = new Map<object, readonly SecretRow[]>();
  /** References that an alert says are stale. */
  let stale = new Set<string>();
  const warn = () => {
    const rows = joined([...told.values()].flat());
    const faulty = rows.filter(({ fault }) => fault !== undefined);
    const now = new Set(faulty.map(({ reference }) => reference));
    for (const { reference, fault, readAt } of faulty)
      if (!stale.has(reference))
        host.warn({
          ...{ event: "secret", condition: STALE, subject: reference, isOver: false },
          message: `${fault}${readAt === undefined ? "" : "; the last value stays in use"}`,
          facts: { readAt: readAt === undefined ? null : new Date(readAt).toISOString() },
        });
    for (const reference of stale)
      if (!now.has(reference))
        host.warn({
          ...{ event: "secret", condition: STALE, subject: reference, isOver: true, facts: {} },
          message: `the secret \${${reference}} can be read again`,
        });
    stale = now;
  };
  rewrap.set(host.offers, () => host.rewrap());
  secretRows.set(host.offers, () => joined([...told.values()].flat()));
  return {
    connect() {
      const worker = {};
      return {
        receive(rows) {
          told.set(worker, rows);
          warn();
        },
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
