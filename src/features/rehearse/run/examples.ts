/** The first changed call of each group as a whole, bounded in size. */
import type { Json, JsonObject } from "../../../core/json.ts";
import type { Changed, Rehearsed } from "./rehearsal.ts";

/** Characters of JSON of one value. */
const MOST_OF_VALUE = 4_000;
/** Characters of JSON of all examples. */
const MOST_OF_ALL = 2_000_000;

/**
 * @param explain shows a changed call as a whole
 * @returns by the number of the call in the list of changed calls; the largest groups of each cause come first
 */
export function examplesOf(
  { groups, changed }: Rehearsed,
  explain: (changed: Changed) => JsonObject,
): JsonObject {
  const examples: Record<string, JsonObject> = {};
  let left = MOST_OF_ALL;
  for (const number of new Set(groups.map(({ first }) => first))) {
    const { outline, differences } = changed[number - 1]!;
    const shown = differences.map((one) => ({ ...one, before: cut(one.before), after: cut(one.after) }));
    const example = explain({ outline, differences: shown });
    left -= JSON.stringify(example).length;
    if (left < 0) break;
    examples[number] = example;
  }
  return examples;
}

function cut(value: Json): Json {
  const text = typeof value === "string" ? value : JSON.stringify(value);
  if (text.length <= MOST_OF_VALUE) return value;
  return `${text.slice(0, MOST_OF_VALUE)}… (${text.length} characters)`;
}
