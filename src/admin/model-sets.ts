/** Named sets of models in the operations of the admin API: `@cheap` in a scope, a budget, a rate limit or a filter. */
import { noSetClause, patternsOf, setNamed, unknownSets } from "../core/model-sets.ts";
import type { Subject } from "../ledger/policy.ts";
import { invalid } from "../operator/errors.ts";
import type { AdminRequest } from "./operation.ts";

type Given = Pick<AdminRequest, "books">;

/** The models in a rule about a subject. */
export function modelsOf({ kind, what }: Subject): readonly string[] {
  return kind === "model" ? [what] : [];
}

/**
 * Refuses a new rule that names a set which the configuration does not have. A store that no gateway has open is changed without
 * its configuration, so nothing is known there.
 * @param path of the member: `/scopes/models` @throws AdminError 400
 */
export function expectSets({ books }: Given, models: readonly string[] = [], path: string): void {
  const sets = books.policy().modelSets;
  const [lost] = sets ? unknownSets(models, sets) : [];
  if (sets && lost !== undefined) throw invalid(`${sentence(noSetClause(lost, sets))}.`, path);
}

/** The sets that a rule names, as an answer shows them: their patterns, `null` for one that does not exist. */
export function setsOf(
  { books }: Given,
  models: readonly string[] = [],
): { sets?: Record<string, readonly string[] | null> } {
  const known = books.policy().modelSets;
  const named = models.filter((text) => setNamed(text) !== undefined);
  if (!known || named.length === 0) return {};
  return { sets: Object.fromEntries(named.map((text) => [text, patternsOf(text, known) ?? null])) };
}

/** The patterns of a filter. @param path `?model` @throws AdminError 400 */
export function patternsFor(given: Given, text: string, path: string): readonly string[] {
  const sets = given.books.policy().modelSets ?? {};
  const patterns = patternsOf(text, sets);
  if (patterns) return patterns;
  throw invalid(`${sentence(noSetClause(text.slice(1), sets))}.`, path);
}

function sentence(clause: string): string {
  return clause.charAt(0).toUpperCase() + clause.slice(1);
}
