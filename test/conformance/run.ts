/** `bun run conformance [VENDOR …]`: replays the recordings and prints the table of counts; 1 when one failed. */
import { haveRecordings, NO_RECORDINGS, recordings } from "../helpers/recordings.ts";
import { replayNative } from "./native.ts";
import { faultLines, isGood, writeTable } from "./table.ts";

if (!haveRecordings) {
  console.log(NO_RECORDINGS);
  process.exit(0);
}
const vendors = process.argv.length > 2 ? process.argv.slice(2) : undefined;
const list = ["chat", "messages"].flatMap((api) => recordings({ api, vendors }));
const startedAt = performance.now();
const replays = await replayNative(list);
const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);

console.log(`Native lane, ${list.length} recordings, ${seconds} s\n\n${writeTable(replays)}`);
const faults = faultLines(replays);
if (faults.length > 0) console.log(`\n${faults.join("\n")}`);
process.exit(replays.every(isGood) ? 0 : 1);
