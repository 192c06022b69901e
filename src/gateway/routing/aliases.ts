/** Aliases of the config: exact model names, and patterns such as `claude-*`. */
import type { Pattern } from "./pattern.ts";
import { bySpecificity, compilePattern } from "./pattern.ts";

/** Other names, as far as aliases need them. */
export interface Naming {
  isRoute(name: string): boolean;
  /** Whether a name or pattern begins with the name of a provider and a slash. */
  hasProvider(name: string): boolean;
  /** `provider/model` of a name that some provider serves without aliases. */
  longName(name: string): string | undefined;
}

export class Aliases {
  /** Exact aliases, in the order of the config. */
  readonly names: readonly string[];
  readonly #exact: ReadonlyMap<string, string>;
  readonly #patterns: readonly { pattern: Pattern; to: string }[];
  readonly #names: Naming;

  /** @throws Error when an alias points at another alias */
  constructor(aliases: Readonly<Record<string, string>>, names: Naming) {
    const entries = Object.entries(aliases);
    const exact = entries.filter(([alias]) => !alias.includes("*"));
    this.#exact = new Map(exact);
    this.#patterns = entries
      .filter(([alias]) => alias.includes("*"))
      .map(([alias, to]) => ({ pattern: compilePattern(alias), to }))
      .sort((a, b) => bySpecificity(a.pattern, b.pattern));
    this.names = exact.map(([alias]) => alias);
    this.#names = names;
    for (const [alias, name] of entries)
      if (this.#exact.has(name))
        throw new Error(
          `The alias "${alias}" points at "${name}", which is an alias itself; name the model directly.`,
        );
  }

  /** The model name that an alias stands for; the name itself if it is no alias. */
  resolve(name: string): string {
    const exact = this.#exact.get(name);
    if (exact !== undefined || this.#patterns.length === 0 || this.#names.isRoute(name)) return exact ?? name;
    const isLong = this.#names.hasProvider(name);
    const long = isLong ? name : this.#names.longName(name);
    const found = this.#patterns.find(({ pattern }) => {
      // Who writes `provider/model` means that provider, so only a pattern that names it too changes the model.
      // `PROVIDER,MODEL` names a model in claude-code-router: a pattern for any name does not stand for it.
      if (name.includes(",") && !pattern.text.includes(",")) return false;
      if (this.#names.hasProvider(pattern.text)) return long !== undefined && pattern.test(long);
      return !isLong && pattern.test(name);
    });
    return found?.to ?? name;
  }
}
