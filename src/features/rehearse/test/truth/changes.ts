/** The changes that a rehearsal has to see through: 200 of them, each as data. */
import { CONFIG_CHANGES } from "./changes-config.ts";
import { FAULTS } from "./changes-faults.ts";
import { PLUGIN_CHANGES } from "./changes-plugins.ts";
import { PRICE_CHANGES } from "./changes-prices.ts";
import type { Change } from "./change.ts";
import { seededRandom } from "../../../../../test/helpers/recordings.ts";

export type { Change } from "./change.ts";

/** All changes, in a fixed order. */
export const CHANGES: readonly Change[] = [...CONFIG_CHANGES, ...PRICE_CHANGES, ...PLUGIN_CHANGES, ...FAULTS];

/** Some of them, of all kinds. @param seed decides which */
export function someChanges(most: number, seed = 1): readonly Change[] {
  if (most >= CHANGES.length) return CHANGES;
  const random = seededRandom(seed);
  return CHANGES.map((change) => ({ change, at: random() }))
    .sort((one, other) => one.at - other.at)
    .slice(0, most)
    .map(({ change }) => change);
}
