/** `bun run tally`: 20,000 calls that are compared, and 20 kills each of a worker, of the keeper and of all processes. Exits with 1 if the books are wrong. */
import { tally } from "./tally.ts";

const number = (name: string, otherwise: number) => Number(process.env[name] ?? otherwise);
const kills = number("KILLS", 20);
const began = performance.now();
const report = await tally({
  calls: number("CALLS", 20_000),
  parallel: number("PARALLEL", 40),
  workers: number("WORKERS", 2),
  kills: { worker: kills, keeper: kills, all: kills },
});
const { wrong, ...sums } = report;
console.log(JSON.stringify(sums, undefined, 2));
let faults = report.audit.code;
for (const [what, found] of Object.entries(wrong)) {
  faults += found.length;
  console.log(`${what}: ${found.length} wrong`);
  for (const line of found.slice(0, 10)) console.log(`  ${line}`);
}
console.log(`${Math.round((performance.now() - began) / 1_000)} s`);
process.exit(faults === 0 ? 0 : 1);
