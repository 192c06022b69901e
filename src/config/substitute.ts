/** `${NAME}` inside texts of the config file. */
import { ConfigError, type Path } from "./error.ts";

export type Environment = Readonly<Record<string, string | undefined>>;

const REFERENCE = /\$(\$\{)|\$\{(?:([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\})?/g;

/**
 * Replaces `${NAME}` with the variable's value, and `${NAME:-text}` with `text` when it is not set or empty. `$${` is
 * a plain `${`.
 * @param at where the text stands
 * @throws ConfigError that names the variable, never its value.
 */
export function substitute(text: string, environment: Environment, at: () => string, path: Path): string {
  return text.replace(REFERENCE, (_whole, escaped?: string, name?: string, fallback?: string) => {
    if (escaped !== undefined) return escaped;
    if (name === undefined)
      throw new ConfigError(at(), "${ must be followed by the name of a variable and }", path);
    const value = environment[name];
    if (value !== undefined && (value !== "" || fallback === undefined)) return value;
    if (fallback !== undefined) return fallback;
    throw new ConfigError(at(), `the environment variable ${name} is not set`, path);
  });
}
