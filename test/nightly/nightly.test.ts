/** `bun run nightly`: what counts as passed, failed and not run, and which runs there are. */
import { afterAll, expect, test } from "bun:test";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { Glob } from "bun";
import { runNightly } from "./nightly.ts";
import {
  countCells,
  countGoals,
  countHoles,
  countPlanted,
  countReplays,
  countTests,
  type Run,
  RUNS,
  STRESS,
} from "./runs.ts";

const ROOT = resolve(import.meta.dir, "../..");
const folder = mkdtempSync(join(tmpdir(), "weir-nightly-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const nightly = (...args: string[]) => {
  const ran = Bun.spawnSync([process.execPath, join(import.meta.dir, "main.ts"), ...args], { cwd: ROOT });
  return { code: ran.exitCode, output: ran.stdout.toString() + ran.stderr.toString() };
};

/** A run whose program prints text and ends with a code. */
const fake = (name: string, printed: string, code: number, more: Partial<Run> = {}): Run => ({
  name,
  about: "a program",
  command: ["-e", `console.log(${JSON.stringify(printed)}); process.exit(${code})`],
  ...more,
});

test("each run is one row: passed, failed or not run, and none of them hides another", async () => {
  const said: string[] = [];
  const rows = await runNightly(
    [
      fake("good", " 3 pass\n 1 skip\n 0 fail", 0),
      fake("bad", " 2 pass\n 1 fail", 1),
      fake("broken", "no sums", 3),
      fake("quiet", " 2 pass\n 1 fail", 0),
      fake("skipped", " 0 pass\n 9 skip\n 0 fail", 0),
      fake("empty", "", 0),
      fake("elsewhere", " 3 pass\n 0 fail", 0, { missing: async () => "no such program" }),
      fake("plain", "fine", 0, { count: () => undefined }),
    ],
    { root: ROOT, folder, say: (line) => said.push(line) },
  );
  expect(rows.map(({ name, verdict, note }) => [name, verdict, note])).toEqual([
    ["good", "passed", "1 skipped"],
    ["bad", "FAILED", "exit code 1"],
    ["broken", "FAILED", "exit code 3"],
    ["quiet", "FAILED", "1 failed"],
    ["skipped", "not run", "every test was skipped"],
    ["empty", "FAILED", "it printed no sums"],
    ["elsewhere", "not run", "no such program"],
    ["plain", "passed", ""],
  ]);
  const table = readFileSync(join(folder, "nightly.md"), "utf8");
  expect(table).toMatch(/^\| name +\| passed \| failed \| seconds \| verdict \| note +\|\n/);
  expect(table).toMatch(/^\| bad +\| 2 +\| 1 +\| \d+ +\| FAILED +\| exit code 1 +\|$/m);
  expect(table).toMatch(/^\| elsewhere +\| - +\| - +\| 0 +\| not run +\| no such program +\|$/m);
  expect(readFileSync(join(folder, "bad.log"), "utf8")).toBe(" 2 pass\n 1 fail\n");
  expect(existsSync(join(folder, "elsewhere.log"))).toBe(false);
  expect(said.at(-1)).toBe("8 of 8  plain: passed, 0 s");
});

test("a run that lasts says how far it is", async () => {
  const said: string[] = [];
  const slow = fake("slow", "", 0, { command: ["-e", "console.log('half'); await Bun.sleep(400)"] });
  await runNightly([slow], { root: ROOT, folder, say: (line) => said.push(line), everyMs: 100 });
  expect(said).toContainEqual(expect.stringMatching(/^ {2}slow, \d+ s: half$/));
});

test("the counts of each kind of output are read", () => {
  expect(countTests("\n 5 pass\n 0 fail\n\n 7 pass\n 2 skip\n 1 fail\n")).toEqual({
    passed: 7,
    failed: 1,
    skipped: 2,
  });
  expect(countTests("crashed")).toBeUndefined();
  expect(countGoals("\n64 rows, 5 that do not hold, 1 goals without a row.\n")).toEqual({
    passed: 59,
    failed: 5,
    skipped: 1,
  });
  expect(countPlanted("native chat  3  3\nall  202  201\n")).toEqual({ passed: 201, failed: 1, skipped: 0 });
  expect(countCells("900 cells, 12000 assertions in 7.1 s, 3 do not hold\n")).toMatchObject({
    ...{ passed: 11997, failed: 3 },
  });
  expect(countHoles("89 faults, 88 found; 1000 seeds, 2 false alarms\n")).toMatchObject({
    ...{ passed: 1086, failed: 3 },
  });
  const replays =
    "Native exchanges: 480 recordings, 480 as they must be, 0 refused or an error, 0 failed\n" +
    "Native answers: 627 answers, 625 same, 0 errors, 2 failed\n";
  expect(countReplays(replays)).toEqual({ passed: 1105, failed: 2, skipped: 0 });
});

test("--list shows every run, --only chooses, and an unknown name ends with 2", () => {
  const list = nightly("--list");
  expect(list.code).toBe(0);
  expect(
    list.output
      .trim()
      .split("\n")
      .map((line) => line.split(" ")[0]!),
  ).toEqual(RUNS.map(({ name }) => name));
  expect(nightly("--list", "--only", "soak,tally").output.trim().split("\n")).toHaveLength(2);
  expect(nightly("--only", "soak,nothing")).toMatchObject({
    code: 2,
    output: "There is no run nothing; --list shows them.\n",
  });
});

test("every variable that makes tests long has a run, and every file of a run is there", async () => {
  const read = new Set<string>();
  for await (const path of new Glob("test/**/*.ts").scan(ROOT))
    for (const [, name] of (await Bun.file(join(ROOT, path)).text()).matchAll(
      /(?:process\.env\["|isSet\(")(LONG_\w+)"/g,
    ))
      read.add(name!);
  const set = new Set(
    RUNS.flatMap(({ env = {} }) => Object.keys(env).filter((name) => name.startsWith("LONG_"))),
  );
  expect([...set].sort()).toEqual([...read].sort());
  const paths = RUNS.flatMap(({ command }) => command.filter((word) => word.startsWith("test/")));
  expect(paths.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
});

test("`bun run stress` runs the files that the nightly run does", async () => {
  const { scripts } = (await Bun.file(join(ROOT, "package.json")).json()) as {
    scripts: Record<string, string>;
  };
  expect(scripts["stress"]).toEndWith(`LONG_STRESS=1 bun test --timeout 600000 ${STRESS.join(" ")}`);
});
