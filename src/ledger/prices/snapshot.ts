/** The price book: the prices and limits of each model. */
import type { PriceRule } from "../charge.ts";
import { LineFile } from "./line-file.ts";

/** One line: a rule without what all lines have in common, or another name of a model. */
export type SnapshotLine = Omit<PriceRule, "ref" | "source"> & { as?: string };

export class Snapshot extends LineFile<SnapshotLine> {
  /** `litellm 2026-11-20`, as {@link PriceRule.source} has it. */
  get source(): string {
    return `${this.head.source} ${this.head.date}`;
  }

  /** The rule of a model. */
  find(provider: string, model: string): Omit<PriceRule, "ref"> | undefined {
    const line = this.lookup(provider, model);
    return line && { ...line, source: this.source };
  }
}
