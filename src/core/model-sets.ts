/** Named sets of models: `@cheap` in place of a pattern stands for the patterns of the set `cheap`. */
import { matchesAny } from "./model-pattern.ts";

/** Patterns over names of models, by name of the set. */
export type ModelSets = Readonly<Record<string, readonly string[]>>;

/** Real names of models that begin with an @ have a slash (`@cf/meta/llama-3.1-8b`), so none of them looks like a set. */
const REFERENCE = /^@([\w.-]{1,64})$/;

/** The name of the set that a text stands for; undefined for a pattern. */
export function setNamed(text: string): string | undefined {
  // Most texts are patterns, and calls pay for this.
  return text.startsWith("@") ? REFERENCE.exec(text)?.[1] : undefined;
}

/** The patterns that a text stands for: itself, or those of the set that it names; undefined without such a set. */
export function patternsOf(text: string, sets: ModelSets): readonly string[] | undefined {
  const name = setNamed(text);
  if (name === undefined) return [text];
  return Object.hasOwn(sets, name) ? sets[name] : undefined;
}

/** Whether a pattern, or one of those of a set, matches one of the names of a model; undefined for a set that does not exist. */
export function matchesSet(text: string, names: readonly string[], sets: ModelSets): boolean | undefined {
  const patterns = patternsOf(text, sets);
  return patterns && matchesAny(patterns, names);
}

/** The names of the sets that texts stand for and that do not exist. */
export function unknownSets(texts: readonly string[], sets: ModelSets): string[] {
  return texts.filter((text) => patternsOf(text, sets) === undefined).map((text) => text.slice(1));
}

/** `there is no set of models named cheap; modelSets of the config has @fast and @small`. */
export function noSetClause(name: string, sets: ModelSets): string {
  const known = Object.keys(sets).map((one) => `@${one}`);
  const has = known.length === 0 ? "none" : known.slice(0, 20).join(", ");
  return `there is no set of models named ${name}; modelSets of the config has ${has}`;
}

/**
 * Values by pattern, with the patterns of a set in place of its name. A pattern that is named itself precedes one of a set, and an
 * earlier set a later one. A model that stands for itself, as in an alias, is left out.
 */
export function byPattern<Value>(
  values: Readonly<Record<string, Value>>,
  sets: ModelSets,
): Record<string, Value> {
  const found = new Map<string, Value>();
  for (const [text, value] of Object.entries(values)) {
    const isSet = setNamed(text) !== undefined;
    for (const pattern of patternsOf(text, sets) ?? [])
      if (!isSet || (!Object.hasOwn(values, pattern) && !found.has(pattern) && pattern !== value))
        found.set(pattern, value);
  }
  return Object.fromEntries(found);
}
