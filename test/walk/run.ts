/**
 * `bun run walk`: the files that one streamed call enters, by room, for a call in its own language and for a translated one.
 * Fails if a walk has become longer than it may be.
 */
import { dirname } from "node:path";
import { walkOf } from "./walk.ts";

/** Files that a walk may enter. A longer walk needs a reason. */
const LIMITS = { native: 105, translated: 135 } as const;

let failed = 0;
for (const [walk, limit] of Object.entries(LIMITS) as [keyof typeof LIMITS, number][]) {
  const files = await walkOf(walk);
  const lines = files.reduce((sum, file) => sum + file.lines, 0);
  if (files.length > limit) failed++;
  console.log(`${walk}: ${files.length} files (at most ${limit}), ${lines} lines`);
  const rooms = Map.groupBy(files, ({ file }) => dirname(file));
  for (const [room, entered] of [...rooms].sort((a, b) => b[1].length - a[1].length))
    console.log(`  ${room}: ${entered.map(({ file }) => file.slice(room.length + 1)).join(" ")}`);
}
console.log(`\n ${Object.keys(LIMITS).length - failed} pass\n ${failed} fail`);
process.exit(failed > 0 ? 1 : 0);
