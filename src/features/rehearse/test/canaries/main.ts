/**
 * Plants canaries at every place of the requests of all formats and kinds, and searches the outlines for them:
 * `bun src/features/rehearse/test/canaries/main.ts [turns] [every]`. Exits with 1 if one is found.
 */
import { plantAll } from "./plant-all.ts";

const [turns = 1, every = 1] = process.argv.slice(2).map(Number);
const { sent, answered, outlined, groups, leaks, astray } = await plantAll({ turns, every });
for (const [name, group] of groups)
  console.log(`${name.padEnd(24)}  ${group.sent} sent, ${group.outlined} outlined`);
const places = new Map<string, number>();
for (const { group, place, shape, found } of leaks) {
  const key = `${group} ${place.replace(/\d+/g, "")}`;
  const count = places.get(key) ?? 0;
  places.set(key, count + 1);
  if (count === 0) console.log(`FOUND ${group} ${place} (${shape}): ${JSON.stringify(found)}`);
}
console.log(
  `${sent} canaries, ${answered} answered, ${outlined} outlines, ${leaks.length} found in their outlines, ${astray.length} anywhere`,
);
process.exit(leaks.length + astray.length > 0 || outlined < 1_000 ? 1 : 0);
