/**
 * A file with one line of JSON for each model, sorted, behind a line about the file itself. It is never parsed as a whole: a
 * look-up finds the line of its model, so that neither the start nor the first call waits for 2,000 others.
 */

/** The first line. */
export interface FileHead {
  /** Where the facts are from: `litellm`, with its version and licence. */
  source: string;
  version: string;
  licence: string;
  /** When they were imported: `2026-11-20`. */
  date: string;
  /** Providers that serve the models of another one under the same names, and charge its prices. */
  sameAs: Readonly<Record<string, string>>;
}

/** Every other line. */
export interface NamedLine {
  provider: string;
  /** The provider's name of the model; `*` is every model that has no line of its own. */
  model: string;
  /** The model whose line holds: this one is another name. */
  as?: string;
}

export class LineFile<Line extends NamedLine> {
  readonly head: FileHead;
  readonly #text: string;
  /** Where the lines begin, by their names up to the comma; absent: look-ups search the text. */
  #starts?: ReadonlyMap<string, number>;

  /** @param text as the importer writes it */
  constructor(text: string) {
    this.#text = text;
    this.head = JSON.parse(text.slice(0, text.indexOf("\n"))) as FileHead;
  }

  /** All models, for listings. Parses the whole file. */
  lines(): Line[] {
    const lines = this.#text.split("\n").slice(1);
    return lines.filter((line) => line !== "").map((line) => JSON.parse(line) as Line);
  }

  /** Makes each look-up a thousand times faster; worth its milliseconds for a hundred look-ups. */
  buildIndex(): this {
    if (this.#starts) return this;
    const starts = new Map<string, number>();
    for (const { 0: name, index } of this.#text.matchAll(NAME)) starts.set(name, index);
    this.#starts = starts;
    return this;
  }

  /**
   * The line of a model: by its name, else without the date at its end, else that of all models of the provider.
   * Never by a part of the name: a part that fits would invent facts for models of others.
   */
  lookup(provider: string, model: string): Line | undefined {
    const name = this.head.sameAs[provider] ?? provider;
    for (const candidate of [model, withoutDate(model), "*"]) {
      const line = candidate === undefined ? undefined : this.#line(name, candidate);
      if (line) return line;
    }
    return undefined;
  }

  /** All models of a provider. Parses their lines. */
  linesOf(provider: string): Line[] {
    const begin = `\n{"provider":${JSON.stringify(this.head.sameAs[provider] ?? provider)},`;
    const lines: Line[] = [];
    for (let at = this.#text.indexOf(begin); at >= 0; at = this.#text.indexOf(begin, at + 1))
      lines.push(JSON.parse(this.#text.slice(at + 1, this.#text.indexOf("\n", at + 1))) as Line);
    return lines;
  }

  #line(provider: string, model: string): Line | undefined {
    const name = `\n{"provider":${JSON.stringify(provider)},"model":${JSON.stringify(model)},`;
    const at = this.#starts ? (this.#starts.get(name) ?? -1) : this.#text.indexOf(name);
    if (at < 0) return undefined;
    const line = JSON.parse(this.#text.slice(at + 1, this.#text.indexOf("\n", at + 1))) as Line;
    return line.as === undefined ? line : this.#line(provider, line.as);
  }
}

/** The beginning of a line, with the end of the line before it. */
const NAME = /\n\{"provider":"[^"]*","model":"[^"]*",/g;

/** `-20250929`, `@20250929` or `-2025-09-29`. */
const DATE = /[-@](\d{8}|\d{4}-\d{2}-\d{2})$/;

/** The name without the date at its end; undefined if there is none. */
export function withoutDate(model: string): string | undefined {
  const bare = model.replace(DATE, "");
  return bare === model ? undefined : bare;
}
