/**
 * All tests: `bun run test`. With arguments, `bun test` gets them as they are. Without, the binary is built once; then files run in
 * several processes side by side, because most of them wait for sockets and timers: first from source, then those that run weir
 * as a process, and the wire tests once more, with the binary, which starts in a sixth of the processor time. Files whose
 * measurements others would disturb run last, alone. The last lines are the sums of all.
 */
import { resolve } from "node:path";
import { buildBinary } from "./faults/armour.ts";
import { STARTING } from "./nightly/runs.ts";

const ROOT = resolve(import.meta.dir, "..");

/** Files that judge the memory, the descriptors or the speed of a process, which others would disturb. */
const ALONE = ["bombs", "kept", "leak", "streams", "upstream"].map((name) => `test/faults/${name}.test.ts`);

/** Files at a time. */
const PARALLEL = ["--parallel=3"];

/** Longest time of a test. Milliseconds. */
const TIMEOUT = ["--timeout", "600000"];

interface Counts {
  pass: number;
  fail: number;
}

async function runTests(
  args: readonly string[],
  target = process.env["WEIR_TARGET"],
): Promise<Counts & { code: number }> {
  const child = Bun.spawn([process.execPath, "test", ...TIMEOUT, ...args], {
    cwd: ROOT,
    env: { ...process.env, ALL_TESTS: "1", WEIR_TARGET: target },
    stdin: "ignore",
    stdout: "inherit",
    stderr: "pipe",
  });
  const counts: Counts = { pass: 0, fail: 0 };
  const decoder = new TextDecoder();
  let rest = "";
  // `bun test` writes its report to standard error, and the sums as the last lines of it.
  for await (const piece of child.stderr) {
    process.stderr.write(piece);
    const lines = (rest + decoder.decode(piece, { stream: true })).split("\n");
    rest = lines.pop()!;
    for (const line of lines) {
      const [, count, what] = /^ *(\d+) (pass|fail)$/.exec(line) ?? [];
      if (count !== undefined) counts[what as keyof Counts] = Number(count);
    }
  }
  return { ...counts, code: await child.exited };
}

const given = process.argv.slice(2);
if (given.length > 0) process.exit((await runTests(given)).code);

buildBinary();
const ignored = [...STARTING.map((folder) => `${folder}**`), ...ALONE];
const parts = [
  await runTests([...PARALLEL, ...ignored.flatMap((path) => ["--path-ignore-patterns", path])]),
  await runTests([...PARALLEL, ...STARTING, "test/wire/"], "binary"),
  await runTests(ALONE),
];
const sum = (of: (part: (typeof parts)[number]) => number) =>
  parts.reduce((total, part) => total + of(part), 0);
console.error(`\n ${sum(({ pass }) => pass)} pass\n ${sum(({ fail }) => fail)} fail`);
process.exit(Math.max(...parts.map(({ code }) => code)));
