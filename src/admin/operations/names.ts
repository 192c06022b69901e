/** Names for suggestions. */
import { isWithin } from "../../ledger/keys/path.ts";
import type { UsedNames } from "../../keeper/reports/names.ts";
import { seesSubject } from "../entries.ts";
import { answers } from "../operation.ts";
import { listNames } from "../../operator/names.ts";

export const nameOperations = [
  answers(listNames, async (given) => {
    const { books, caller } = given;
    const policy = books.policy();
    const keys = policy.keys.filter(({ path }) => isWithin(path, caller.path));
    const used = await books.names(caller.path);
    const paths = [...keys.map(({ path }) => path), ...used.paths].flatMap(withParents);
    return {
      json: {
        ...used,
        keys: keys.map((key) => ({
          ...{ id: key.id, name: key.name, path: key.path, kind: key.kind },
          gone: key.revokedAt !== undefined || (key.expiresAt ?? Infinity) <= given.now,
        })),
        paths: sortedNames(paths.filter((path) => isWithin(path, caller.path))),
        tags: sortedNames([...keys.flatMap(({ tags }) => tags), ...used.tags]),
        budgets: policy.budgets
          .filter(({ on }) => seesSubject(caller, on, policy))
          .map(({ id, name }) => ({ id, name })),
      } satisfies UsedNames & Record<string, unknown>,
    };
  }),
];

/** `/eng/search`: itself, `/eng` and `/`. */
function withParents(path: string): string[] {
  const parts = path.split("/").filter((part) => part !== "");
  return ["/", ...parts.map((_, index) => `/${parts.slice(0, index + 1).join("/")}`)];
}

function sortedNames(names: readonly string[]): string[] {
  return [...new Set(names)].sort();
}
