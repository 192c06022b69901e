/** Copies of the source in which a fault is planted. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { SourceCopy } from "../../../../../test/helpers/source-copy.ts";
import type { FaultChange } from "./change.ts";

/** One copy for all faults, of which it has one at a time. */
export class FaultyCopy {
  readonly #copy = new SourceCopy();

  get root(): string {
    return this.#copy.root;
  }

  /** @throws Error if the source has not once what the fault replaces */
  async with<Result>(
    { file, from, to }: FaultChange,
    work: (root: string) => Promise<Result>,
  ): Promise<Result> {
    const path = join(this.root, "src", file);
    const source = readFileSync(path, "utf8");
    if (source.split(from).length !== 2) throw new Error(`${file} has not once: ${from}`);
    writeFileSync(
      path,
      source.replace(from, () => to),
    );
    try {
      return await work(this.root);
    } finally {
      writeFileSync(path, source);
    }
  }

  remove(): void {
    this.#copy.remove();
  }
}
