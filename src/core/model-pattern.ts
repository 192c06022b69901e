/**
 * Matching of model patterns. Scopes of keys, budgets, limits, aliases, fallbacks, prices and filters all mean the same: a pattern
 * is a name in which `*` stands for any text, and it matches a model by any of its names.
 */
import { globMatches } from "./glob.ts";

/**
 * The names of a model: the provider's, `provider/model`, and the one that the client asked for, if a call is meant.
 * A provider's name with a slash is none: `openai/gpt-oss-120b` of groq would look like a model of openai.
 */
export function namesOf(provider: string, model: string, asked?: string): readonly string[] {
  const long = `${provider}/${model}`;
  const names = model.includes("/") ? [long] : [model, long];
  return asked === undefined || names.includes(asked) ? names : [asked, ...names];
}

/** The same for lists that belong to one provider, whose own names all are meant. */
export function ownNamesOf(provider: string, model: string): readonly string[] {
  return [model, `${provider}/${model}`];
}

/** Whether a pattern matches one of the names of a model. Takes time linear in the names, whatever the pattern. */
export function matchesModel(pattern: string, names: readonly string[]): boolean {
  return names.some((name) => globMatches(pattern, name));
}

/** Whether one of several patterns does. */
export function matchesAny(patterns: readonly string[], names: readonly string[]): boolean {
  return patterns.some((pattern) => matchesModel(pattern, names));
}

/** Says that a pattern matches no model. @param where `the budget claude` */
export function unmatchedSentence(pattern: string, where: string): string {
  return `${where}: no model that weir knows matches ${JSON.stringify(pattern)}; see weir models.`;
}
