/** The fallbacks of the config: a list of models for a model name or pattern. */
import type { Fallback } from "../../core/settings.ts";
import type { Pattern } from "./pattern.ts";
import { bySpecificity, compilePattern } from "./pattern.ts";

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

  /** The most specific list for the client's model name or for the name that its alias stands for. */
  of(model: string, name: string): FallbackList | undefined {
    const exact = [model, name].flatMap((text) => this.#exact.get(text) ?? []);
    const [first] = exact.sort((a, b) => bySpecificity(a.pattern, b.pattern));
    return first ?? this.#patterns.find(({ pattern }) => pattern.test(model) || pattern.test(name));
  }
}
