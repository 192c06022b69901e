/**
 * Plants each fault of `faults.ts` in a copy of the source, and runs a short `weir guards prove`, which has to find it. Then runs
 * `--seeds N` proofs of the source as it is, from the seed `--from` on, which may find nothing. Exits with 1 if one is missed, or alarms without a fault.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { SourceCopy } from "../../../../../test/helpers/source-copy.ts";
import { FAULTS, type PlantedFault } from "./faults.ts";

const { values } = parseArgs({
  args: process.argv.slice(2),
  options: {
    only: { type: "string" },
    seeds: { type: "string", default: "0" },
    from: { type: "string", default: "1" },
    cells: { type: "string", default: "500" },
    parallel: { type: "string", default: "2" },
  },
});
const { only, cells } = values;

/** The proof ends a call that waits for good; a fault may also let it work for good. */
const LONGEST_MS = 240_000;

interface Proved {
  readonly code: number | null;
  readonly words: string;
}

async function prove(root: string, seed: number): Promise<Proved> {
  const args = ["guards", "prove", "--first", "--cells", cells, "--seed", String(seed)];
  const child = Bun.spawn([process.execPath, join(root, "src/main.ts"), ...args], {
    cwd: root,
    stdout: "pipe",
    stderr: "pipe",
  });
  const timer = setTimeout(() => child.kill("SIGKILL"), LONGEST_MS);
  const [out, err] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  await child.exited;
  clearTimeout(timer);
  const words =
    /^.*: it does not\n.*$/m.exec(out)?.[0].replace("\n  weir guards prove --cell", "") ??
    (err.trim().split("\n").at(-1) || "it does not end");
  return { code: child.exitCode, words };
}

async function plant(copy: SourceCopy, { file, from, to }: PlantedFault): Promise<Proved> {
  const path = join(copy.root, "src", file);
  const source = readFileSync(path, "utf8");
  if (source.split(from).length !== 2) return { code: 0, words: `the source has not once: ${from}` };
  writeFileSync(
    path,
    source.replace(from, () => to),
  );
  const proved = await prove(copy.root, 1);
  writeFileSync(path, source);
  return proved;
}

/** Does work in several copies of the source. */
async function inCopies<Item>(
  items: Iterable<Item>,
  work: (copy: SourceCopy, item: Item) => Promise<void>,
): Promise<void> {
  const rest = items[Symbol.iterator]();
  const run = async () => {
    const copy = new SourceCopy();
    try {
      for (let next = rest.next(); !next.done; next = rest.next()) await work(copy, next.value);
    } finally {
      copy.remove();
    }
  };
  await Promise.all(Array.from({ length: Number(values.parallel) }, run));
}

const faults = only === undefined ? FAULTS : FAULTS.filter(({ name }) => name.includes(only));
let missed = 0;
let alarms = 0;
await inCopies(faults, async (copy, fault) => {
  const { code, words } = await plant(copy, fault);
  if (code === 0) missed++;
  console.log(
    `${code === 0 ? "MISSED" : "found "}  ${fault.name}: ${code === 0 && words === "" ? "" : words.slice(0, 160)}`,
  );
});
const seeds = Array.from({ length: Number(values.seeds) }, (_, at) => at + Number(values.from));
await inCopies(seeds, async ({ root }, seed) => {
  const { code, words } = await prove(root, seed);
  if (code === 0) return;
  alarms++;
  console.log(`ALARM   seed ${seed}: ${words.slice(0, 200)}`);
});
console.log(
  `${faults.length} faults, ${faults.length - missed} found; ${seeds.length} seeds, ${alarms} false alarms`,
);
process.exit(missed + alarms > 0 ? 1 : 0);
