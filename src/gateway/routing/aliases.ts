/** Aliases of the config: exact model names, and patterns such as `claude-*`. */
import type { Pattern } from "./pattern.ts";
import { bySpecificity, compilePattern } from "./pattern.ts";

export class Aliases {
  /** Exact aliases, in the order of the config. */
  readonly names: readonly string[];
  readonly #exact: ReadonlyMap<string, string>;
  readonly #patterns: readonly { pattern: Pattern; to: string }[];
  readonly #isTaken: (name: string) => boolean;

  /**
   * @param isTaken whether a name already names its provider (`provider/model`) or a route: alias patterns skip it
   * @throws Error when an alias points at another alias
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

  /** The model name that an alias stands for; the name itself if it is no alias. */
  resolve(name: string): string {
    const exact = this.#exact.get(name);
    if (exact !== undefined || this.#patterns.length === 0 || this.#isTaken(name)) return exact ?? name;
    // PROVIDER,MODEL names a model in claude-code-router: a pattern for any name does not stand for it.
    const patterns = this.#patterns.filter(
      ({ pattern }) => !name.includes(",") || pattern.text.includes(","),
    );
    return patterns.find(({ pattern }) => pattern.test(name))?.to ?? name;
  }
}
