/** Lists of patterns over names: `*` stands for any text, `!` in front takes names away, and the last pattern that matches decides. */
import { globMatches } from "../../core/glob.ts";

/** Whether a list permits a name. A list that only takes away permits all others. */
export function permits(patterns: readonly string[], name: string): boolean {
  let permitted = patterns[0]?.startsWith("!") ?? false;
  for (const pattern of patterns) {
    const takes = pattern.startsWith("!");
    if (globMatches(takes ? pattern.slice(1) : pattern, name)) permitted = !takes;
  }
  return permitted;
}

/** Whether a list permits everything that a pattern stands for: conservative, as it compares text. */
export function covers(patterns: readonly string[], pattern: string): boolean {
  return !patterns.some((one) => one.startsWith("!")) && patterns.some((one) => globMatches(one, pattern));
}
