/** Names of the operator's own: exact ones, and patterns such as `claude-*`. */
import type { Pattern } from "./pattern.ts";
import { bySpecificity, compilePattern } from "./pattern.ts";

export class Aliases {
  /** Exact aliases, in the order of the config. */
  readonly names: readonly string[];
  readonly #exact: ReadonlyMap<string, string>;
  readonly #patterns: readonly { pattern: Pattern; to: string }[];
  readonly #isTaken: (name: string) => boolean;

  /**
   * @param isTaken whether a name says who serves it by itself (`provider/model`, a route): no alias pattern holds for it
   * @throws Error when an alias points at another one
   */
  constructor(aliases: Readonly<Record<string, string>>, isTaken: (name: string) => boolean) {
    const entries = Object.entries(aliases);
    const exact = entries.filter(([alias]) => !alias.includes("*"));
    this.#exact = new Map(exact);
    this.#patterns = entries
      .filter(([alias]) => alias.includes("*"))
      .map(([alias, to]) => ({ pattern: compilePattern(alias), to }))
      .sort((a, b) => bySpecificity(a.pattern, b.pattern));
    this.names = exact.map(([alias]) => alias);
    this.#isTaken = isTaken;
    for (const [alias, name] of entries)
      if (this.#exact.has(name))
        throw new Error(
          `The alias "${alias}" points at "${name}", which is an alias itself; name the model directly.`,
        );
  }

  /** The model a name stands for; the name itself when it is no alias. */
  meant(name: string): string {
    const exact = this.#exact.get(name);
    if (exact !== undefined || this.#patterns.length === 0 || this.#isTaken(name)) return exact ?? name;
    return this.#patterns.find(({ pattern }) => pattern.test(name))?.to ?? name;
  }
}
