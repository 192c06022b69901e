/**
 * A price book: one line of JSON for each model, sorted, behind a line about the snapshot itself. It is never parsed as
 * a whole: a look-up finds the line of its model, so that neither the start nor the first call waits for 2,000 others.
 */
import type { PriceRule } from "../charge.ts";

/** The first line. */
export interface SnapshotHead {
  /** Where the numbers are from: `litellm`, with its version and licence. */
  source: string;
  version: string;
  licence: string;
  /** When they were imported: `2026-11-20`. */
  date: string;
  /** Providers that charge the prices of another one. */
  sameAs: Readonly<Record<string, string>>;
}

/** One line: a rule without what all lines have in common, or another name of a model. */
export type SnapshotLine = Omit<PriceRule, "ref" | "source"> & { as?: string };

export class Snapshot {
  readonly head: SnapshotHead;
  readonly #text: string;

  /** @param text as the importer writes it */
  constructor(text: string) {
    this.#text = text;
    this.head = JSON.parse(text.slice(0, text.indexOf("\n"))) as SnapshotHead;
  }

  /** `litellm 2026-11-20`, as {@link PriceRule.source} has it. */
  get source(): string {
    return `${this.head.source} ${this.head.date}`;
  }

  /** All models, for listings. Parses the whole snapshot. */
  lines(): SnapshotLine[] {
    const lines = this.#text.split("\n").slice(1);
    return lines.filter((line) => line !== "").map((line) => JSON.parse(line) as SnapshotLine);
  }

  /**
   * The rule of a model: by its name, else without the date at its end, else that of all models of the provider.
   * Never by a part of the name: a part that fits would invent prices for models of others.
   */
  find(provider: string, model: string): Omit<PriceRule, "ref"> | undefined {
    const name = this.head.sameAs[provider] ?? provider;
    for (const candidate of [model, withoutDate(model), "*"]) {
      const line = candidate === undefined ? undefined : this.#line(name, candidate);
      if (line) return { ...line, source: this.source };
    }
    return undefined;
  }

  #line(provider: string, model: string): SnapshotLine | undefined {
    const start = `\n{"provider":${JSON.stringify(provider)},"model":${JSON.stringify(model)},`;
    const at = this.#text.indexOf(start);
    if (at < 0) return undefined;
    const line = JSON.parse(this.#text.slice(at + 1, this.#text.indexOf("\n", at + 1))) as SnapshotLine;
    return line.as === undefined ? line : this.#line(provider, line.as);
  }
}

/** `-20250929`, `@20250929` or `-2025-09-29`. */
const DATE = /[-@](\d{8}|\d{4}-\d{2}-\d{2})$/;

/** The name without the date at its end; undefined if there is none. */
export function withoutDate(model: string): string | undefined {
  const bare = model.replace(DATE, "");
  return bare === model ? undefined : bare;
}
