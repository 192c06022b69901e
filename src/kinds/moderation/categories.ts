/** The categories that clients of OpenAI know: its SDK declares each of them. */
import type { ModerationResult } from "../../core/moderation.ts";
import type { Json, JsonObject } from "../../core/json.ts";

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
  const { categories, scores, applied = {} } = result;
  const names = [...new Set([...CATEGORIES, ...Object.keys(categories), ...Object.keys(scores)])];
  const missing = CATEGORIES.filter((name) => categories[name] === undefined && scores[name] === undefined);
  const each = (value: (name: string) => Json) =>
    Object.fromEntries(names.map((name) => [name, value(name)]));
  return {
    flagged: isFlagged(result),
    categories: each((name) => categories[name] ?? (Object.hasOwn(categories, name) ? null : false)),
    category_scores: each((name) => (scores[name] ?? 0) as Json),
    category_applied_input_types: each((name) => [
      ...(applied[name] ?? (missing.includes(name as (typeof CATEGORIES)[number]) ? [] : ["text"])),
    ]),
    ...(missing.length > 0 && { weir: { not_measured: [...missing] } }),
  };
}
