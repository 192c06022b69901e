/** Mistakes in what a file contains that a schema cannot express. */
import type { Fault } from "./error.ts";
import { setFaults, type WrittenSets } from "./model-sets.ts";
import type { Options } from "./options.ts";
import type { WrittenConfig } from "./section.ts";

/** Faults of the sections that the file has, and of the names of sets of models in them. */
export function writtenFaults({ sections }: Options, written: WrittenConfig): Fault[] {
  const own = sections.flatMap((section) => {
    const value = written[section.name];
    return value === undefined ? [] : (section.faults?.(value, written) ?? []);
  });
  return [...own, ...setFaults(written as WrittenSets)];
}
