/** The fallbacks of the config: a list of models for a model name or pattern. */
import { namesOf } from "../../core/model-pattern.ts";
import type { Fallback } from "../../core/settings.ts";
import type { Pattern } from "./pattern.ts";
import { bySpecificity, compilePattern } from "./pattern.ts";
import type { Choice } from "./plan.ts";

/** The fallbacks of the models that match a pattern. */
export interface FallbackList {
  pattern: Pattern;
  models: readonly Fallback[];
}

export class FallbackLists {
  /** Sorted, the most specific pattern first. */
  readonly all: readonly FallbackList[];
  readonly #exact: ReadonlyMap<string, FallbackList>;
  readonly #patterns: readonly FallbackList[];

  /** @param options model name or pattern → its fallback models, in order */
  constructor(options: Readonly<Record<string, readonly Fallback[]>>) {
    this.all = Object.entries(options)
      .map(([text, models]) => ({ pattern: compilePattern(text), models }))
      .sort((a, b) => bySpecificity(a.pattern, b.pattern));
    this.#exact = new Map(
      this.all.filter(({ pattern }) => pattern.exact).map((list) => [list.pattern.text, list]),
    );
    this.#patterns = this.all.filter(({ pattern }) => !pattern.exact);
  }

  /** The most specific list for one of these names, or for one of the names of the chosen models. */
  of(given: readonly string[], choices: readonly Choice[]): FallbackList | undefined {
    const served = choices.flatMap(({ target }) => namesOf(target.provider.name, target.model));
    const names = [...new Set([...given, ...served])];
    const exact = names.flatMap((text) => this.#exact.get(text) ?? []);
    const [first] = exact.sort((a, b) => bySpecificity(a.pattern, b.pattern));
    return first ?? this.#patterns.find(({ pattern }) => names.some((name) => pattern.test(name)));
  }
}
