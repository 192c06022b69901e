/** The manifest of a feature. It is data: the code behind it is imported where it runs. */
import type { CommandHead } from "../cli/command.ts";
import type { Section } from "../config/section.ts";

export interface Feature {
  /** Its folder, and its name for `--without`. */
  readonly name: string;
  /** Other features, without which weir neither builds nor starts with this one. */
  readonly needs?: readonly string[];
  /** Its options in weir.yaml, which its code reads by `section.of(config)`. */
  readonly section?: Section;
  readonly commands?: readonly CommandHead[];
}

/**
 * The features of `src/features.ts`, sorted by name: the order of a module's exports is not that of its lines.
 * @param exported the module
 */
export function featuresIn(exported: Readonly<Record<string, Feature>>): readonly Feature[] {
  return Object.values(exported).sort((a, b) => (a.name < b.name ? -1 : 1));
}
