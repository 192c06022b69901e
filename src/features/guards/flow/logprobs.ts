/** The logprobs of an answer spell its text once more, token by token: those of a value that is replaced go with it. */
import { isObject, type Json, type JsonObject } from "../../../core/json.ts";

/** A text of an answer, and what became of it. */
export interface Became {
  readonly before: string;
  readonly after: string;
}

/** @param texts all texts of what has the logprobs @returns undefined: none of them spells what changed */
export function withoutSpelled(logprobs: Json, texts: readonly Became[]): Json | undefined {
  if (Array.isArray(logprobs)) {
    const kept = keptOf(logprobs, texts);
    return kept && logprobs.filter((_, at) => kept.has(at));
  }
  if (!isObject(logprobs)) return undefined;
  const lists = Object.entries(logprobs).filter((one): one is [string, Json[]] => Array.isArray(one[1]));
  const changed: JsonObject = {};
  for (const [name, list] of lists) {
    const kept = keptOf(list, texts);
    if (!kept) continue;
    changed[name] = list.filter((_, at) => kept.has(at));
    // Alternatives for each token may be in a list of their own.
    for (const [other, items] of lists)
      if (items.length === list.length && items.every((item) => tokenOf(item) === undefined))
        changed[other] = items.filter((_, at) => kept.has(at));
  }
  return Object.keys(changed).length === 0 ? undefined : { ...logprobs, ...changed };
}

/** The places in a list of tokens that stay. @returns undefined: all of them, or it is another list */
function keptOf(list: readonly Json[], texts: readonly Became[]): ReadonlySet<number> | undefined {
  const tokens = list.map(tokenOf);
  if (tokens.length === 0 || tokens.every((token) => token === undefined)) return undefined;
  const spelled = tokens.join("");
  const same = texts.filter(({ before }) => before === spelled);
  if (same.some(({ before, after }) => before === after)) return undefined;
  const [text] = same;
  const kept = new Set<number>();
  // Which tokens spell the value is not known.
  if (!text) return kept;
  const { start, end } = changeOf(text);
  let from = 0;
  for (const [at, token = ""] of tokens.entries()) {
    if (from + token.length <= start || from >= end) kept.add(at);
    from += token.length;
  }
  return kept;
}

function tokenOf(item: Json): string | undefined {
  return isObject(item) && typeof item.token === "string" ? item.token : undefined;
}

/** What lies between the same beginning and the same end. */
function changeOf({ before, after }: Became): { start: number; end: number } {
  const most = Math.min(before.length, after.length);
  let start = 0;
  while (start < most && before[start] === after[start]) start++;
  let same = 0;
  while (same < most - start && before.at(-1 - same) === after.at(-1 - same)) same++;
  return { start, end: before.length - same };
}
