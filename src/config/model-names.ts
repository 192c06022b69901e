/** Names that options have for providers, models and aliases. */

/** Names of providers: the part before the slash in `provider/model`. */
export const PROVIDER_NAME = /^[a-z][a-z0-9-]*$/;

/** Names of models and routes. */
export const MODEL_NAME = /^[\w.:/@+-]{1,200}$/;

/** Names of models, or patterns over them. */
export const MODEL_PATTERN = /^[\w.:/@+*-]{1,200}$/;

/** Names of aliases, and patterns. claude-code-router's names of models have a comma: `PROVIDER,MODEL`. */
export const ALIAS_NAME = /^[\w.:/@+*,-]{1,200}$/;

/** The fault of a text that does not match {@link MODEL_PATTERN}. */
export function patternFault(pattern: string): string | undefined {
  if (pattern === "") return "is empty";
  return MODEL_PATTERN.test(pattern) ? undefined : "must be a model name or a pattern with *";
}

/** The fault of a text that does not match {@link MODEL_NAME}. */
export function nameFault(name: string): string {
  if (name === "") return "is empty";
  if (/\s/.test(name)) return "must be a model name without spaces";
  if (name.includes("*")) return "must be a model name without *";
  if (name.length > 200) return "must be a model name of at most 200 characters";
  return "must be a model name of letters, digits and . : / @ + - _";
}
