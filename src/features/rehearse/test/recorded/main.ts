/**
 * Rehearses recorded calls with two identical sides, which may differ in nothing:
 * `bun src/features/rehearse/test/recorded/main.ts [calls] [binary]`. Exits with 1 if a call differs.
 */
import { resolve } from "node:path";
import { haveRecordings, NO_RECORDINGS } from "../../../../../test/helpers/recordings.ts";
import { rehearseIdentical } from "./identical.ts";
import { manyCalls } from "../../release/calls.ts";
import { outlinedRecordings } from "./outlines.ts";

const [count = "100000", binary] = process.argv.slice(2);
if (!haveRecordings) throw new Error(NO_RECORDINGS);
const recorded = outlinedRecordings().map(({ outline }) => outline);
const calls = [...manyCalls(recorded, Number(count))];
console.log(`${recorded.length} recorded requests, ${calls.length} calls`);
const { done, cpuSeconds, seconds } = await rehearseIdentical(calls, binary && resolve(binary));
const { same, changed, unknown, groups } = done;
console.log(`${same} the same, ${changed.length} changed, ${unknown.length} need their tape`);
for (const { cause, what, calls } of groups.slice(0, 20)) console.log(`  ${cause}: ${what} (${calls})`);
const rate = (time: number) => Math.round(calls.length / time).toLocaleString("en");
console.log(
  `${rate(seconds)} calls a second, ${rate(cpuSeconds)} a second of the processor, both sides together`,
);
process.exit(changed.length > 0 ? 1 : 0);
