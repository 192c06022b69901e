/** The policy as the keeper has sent it: complete once, then by changes. */
import type { BooksDown } from "../messages.ts";
import type { Policy } from "../policy.ts";

type Changes = Extract<BooksDown, { kind: "changes" }>;

export function applyChanges(
  policy: Policy,
  { version, closed, unreleased, upserts, removed }: Changes,
): Policy {
  return {
    version,
    closed,
    ...(unreleased && { unreleased }),
    keys: merge(policy.keys, upserts.keys, removed),
    budgets: merge(policy.budgets, upserts.budgets, removed),
    rates: merge(policy.rates, upserts.rates, removed),
  };
}

function merge<Entry extends { id: string }>(
  entries: readonly Entry[],
  upserts: readonly Entry[] = [],
  removed: readonly string[],
): readonly Entry[] {
  const isGone = removed.length > 0 && entries.some(({ id }) => removed.includes(id));
  if (upserts.length === 0 && !isGone) return entries;
  const byId = new Map(entries.map((entry) => [entry.id, entry]));
  for (const id of removed) byId.delete(id);
  for (const entry of upserts) byId.set(entry.id, entry);
  return [...byId.values()];
}
