/** The categories that clients of OpenAI know: its SDK declares each of them. */
import type { ModerationResult } from "../../core/moderation.ts";
import type { Json, JsonObject } from "../../core/json.ts";
import type { Score } from "../../core/rerank.ts";

export const CATEGORIES = [
  "harassment",
  "harassment/threatening",
  "hate",
  "hate/threatening",
  "illicit",
  "illicit/violent",
  "self-harm",
  "self-harm/intent",
  "self-harm/instructions",
  "sexual",
  "sexual/minors",
  "violence",
  "violence/graphic",
] as const;

export function isFlagged({ flagged, categories }: ModerationResult): boolean {
  return flagged ?? Object.values(categories).includes(true);
}

/**
 * A result in the shape of OpenAI. Names of other vendors stay as they are, behind those that its clients know; what the vendor did
 * not judge is false, and `weir.not_measured` names it.
 */
export function writeResult(result: ModerationResult): JsonObject {
  const [categories, scores, applied] = [result.categories, result.scores, result.applied ?? {}].map(
    (members) => new Map<string, unknown>(Object.entries(members ?? {})),
  ) as [Map<string, boolean | null>, Map<string, Score>, Map<string, unknown>];
  const names = [...new Set([...CATEGORIES, ...categories.keys(), ...scores.keys()])];
  const missing = new Set<string>(CATEGORIES.filter((name) => !categories.has(name) && !scores.has(name)));
  const each = (value: (name: string) => Json) =>
    Object.fromEntries(names.map((name) => [name, value(name)]));
  return {
    flagged: isFlagged(result),
    categories: each((name) => categories.get(name) ?? (categories.has(name) ? null : false)),
    category_scores: each((name) => (scores.get(name) ?? 0) as Json),
    category_applied_input_types: each((name) => {
      const types = applied.get(name);
      if (Array.isArray(types)) return types as Json[];
      return missing.has(name) ? [] : ["text"];
    }),
    ...(missing.size > 0 && { weir: { not_measured: [...missing] } }),
  };
}
