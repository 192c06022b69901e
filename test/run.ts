/**
 * All tests: `bun run test`. With arguments, `bun test` gets them as they are. Without, the binary is built once; then files run in
 * several processes side by side, because most of them wait for sockets and timers: first from source, then those that run weir
 * as a process, and the wire tests, also those of features, once more, with the binary, which starts in a sixth of the processor
 * time. Files whose measurements others would disturb run last, alone. Up to three files that fail in a part run once more alone.
 * The last lines are the sums of all, and the files that passed only alone.
 */
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { buildBinary } from "./faults/armour.ts";
import { type FileCounts, runFiles } from "./helpers/file-runs.ts";
import { STARTING } from "./nightly/runs.ts";

const ROOT = resolve(import.meta.dir, "..");

/** Files that judge the memory, the descriptors or the speed of a process, which others would disturb. */
const ALONE = [
  ...["bombs", "kept", "leak", "streams", "upstream"].map((name) => `test/faults/${name}.test.ts`),
  "test/wire/kinds/aborts.test.ts",
];

/** Processes side by side. */
const WIDTH = 3;

const ENV = { ...process.env, ALL_TESTS: "1" };

const given = process.argv.slice(2);
if (given.length > 0) {
  const args = ["test", "--timeout", "600000", ...given];
  const child = Bun.spawn([process.execPath, ...args], {
    cwd: ROOT,
    env: ENV,
    stdio: ["ignore", "inherit", "inherit"],
  });
  process.exit(await child.exited);
}

/** A test of a feature that runs against each kind of gateway. */
function isWireOfFeature(file: string): boolean {
  return (
    file.startsWith("src/features/") && readFileSync(join(ROOT, file), "utf8").includes("helpers/gateway.ts")
  );
}

buildBinary();
const all = [...new Bun.Glob("{src,test,plugins}/**/*.test.{ts,tsx}").scanSync({ cwd: ROOT })].sort();
const isStarting = (file: string) => STARTING.some((folder) => file.startsWith(folder));
const starting = all.filter(isStarting);
const fromSource = all.filter((file) => !isStarting(file) && !ALONE.includes(file));
const wire = fromSource.filter((file) => file.startsWith("test/wire/") || isWireOfFeature(file));
const withBinary = { ...ENV, WEIR_TARGET: "binary" };
const parts: FileCounts[] = [
  await runFiles(fromSource, { cwd: ROOT, env: ENV, width: WIDTH }),
  await runFiles([...starting, ...wire], { cwd: ROOT, env: withBinary, width: WIDTH }),
  await runFiles(ALONE, { cwd: ROOT, env: ENV, width: 1 }),
];
const passed = parts.reduce((sum, { pass }) => sum + pass, 0);
const failed = parts.reduce((sum, { fail }) => sum + fail, 0);
const unsteady = parts.flatMap((part) => part.unsteady);
if (unsteady.length > 0)
  console.error(`\nfailed beside other files and passed alone: ${unsteady.join(", ")}`);
console.error(`\n ${passed} pass\n ${failed} fail`);
process.exit(failed > 0 ? 1 : 0);
