/** Patterns for model names: exact names, and globs with `*`. */
import { globMatches } from "../../core/glob.ts";

export interface Pattern {
  text: string;
  /** The pattern has no `*`. */
  exact: boolean;
  test(name: string): boolean;
  /** The model name for the provider: a pattern whose only `*` is its end `/*` strips its prefix. */
  strip(name: string): string;
}

export function compilePattern(text: string): Pattern {
  if (!text.includes("*")) return { text, exact: true, test: (name) => name === text, strip: (name) => name };
  const prefix = text.endsWith("/*") && text.indexOf("*") === text.length - 1 ? text.slice(0, -1) : undefined;
  return {
    text,
    exact: false,
    test: (name) => globMatches(text, name) && name !== prefix,
    strip: (name) => (prefix ? name.slice(prefix.length) : name),
  };
}

/** Sort order: exact names first, then longer patterns before shorter ones. */
export function bySpecificity(a: Pattern, b: Pattern): number {
  return Number(b.exact) - Number(a.exact) || b.text.length - a.text.length;
}
