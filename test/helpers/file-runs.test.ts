/** The runner of all tests ends what blocks its process, names it, and loses no other file for it. */
import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runFiles } from "./file-runs.ts";

const folder = mkdtempSync(join(tmpdir(), "weir-runs-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function write(name: string, body: string): string {
  writeFileSync(
    join(folder, name),
    `import { expect, test } from "bun:test";\nimport { existsSync, writeFileSync } from "node:fs";\n${body}\n`,
  );
  return name;
}

const BLOCKS = "Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);";
const right = write("right.test.ts", `test("right", () => expect(1).toBe(1));`);
const wrong = write("wrong.test.ts", `test("wrong", () => expect(1).toBe(2));`);
const other = write("other.test.ts", `test("wrong too", () => expect(1).toBe(2));`);
const many = write(
  "many.test.ts",
  `for (let n = 0; n < 30; n++) test("right " + n, () => expect(n).toBe(n));`,
);
const broken = write("broken.test.ts", `throw new Error("does not load");`);
const blocked = write("blocked.test.ts", `test("blocked", () => { ${BLOCKS} });`);
const once = write(
  "once.test.ts",
  `const mark = ${JSON.stringify(join(folder, "mark"))};
test("blocked once", () => {
  if (existsSync(mark)) return;
  writeFileSync(mark, "");
  ${BLOCKS}
});`,
);

const unsteady = write(
  "unsteady.test.ts",
  `const mark = ${JSON.stringify(join(folder, "run"))};
test("right", () => expect(1).toBe(1));
test("right alone", () => {
  const isSecond = existsSync(mark);
  writeFileSync(mark, "");
  expect(isSecond).toBe(true);
});`,
);

async function run(files: readonly string[], perProcess: number) {
  let output = "";
  const counts = await runFiles(files, {
    cwd: folder,
    env: process.env,
    width: 2,
    files: perProcess,
    idleMs: 4_000,
    again: 2,
    print: (text) => void (output += text),
  });
  return { ...counts, output };
}

test("passed and failed tests, and a file that does not load, are counted", async () => {
  expect(await run([right, wrong, broken], 1)).toMatchObject({ pass: 1, fail: 2 });
}, 60_000);

test("a file that blocks its process is named and failed, and the files beside it are run", async () => {
  const { pass, fail, output } = await run([right, blocked], 2);
  expect({ pass, fail }).toEqual({ pass: 1, fail: 1 });
  expect(output).toContain("(fail) blocked.test.ts did not end");
}, 60_000);

test("a file that blocks once is named, and counts as what its second run says", async () => {
  const { pass, fail, output } = await run([right, once], 2);
  expect({ pass, fail }).toEqual({ pass: 2, fail: 0 });
  expect(output).toContain("Its share runs again, file by file.");
}, 60_000);

test("a file that fails beside others and passes alone is named and passes; one that fails twice fails once", async () => {
  const { pass, fail, output, unsteady: named } = await run([right, unsteady, wrong], 3);
  expect({ pass, fail, named }).toEqual({ pass: 3, fail: 1, named: [unsteady] });
  expect(output.match(/^\(fail\) wrong/gm)?.length).toBe(2);
}, 60_000);

test("bun repeats failed tests below many others: the last file has not failed, and hides no failure", async () => {
  const { pass, fail, output, unsteady: named } = await run([wrong, many], 2);
  expect(output).toContain("1 tests failed:");
  expect({ pass, fail, named }).toEqual({ pass: 30, fail: 1, named: [] });
  expect(output.match(/^many.test.ts:/gm)?.length).toBe(1);
}, 60_000);

test("more failed files than may run again do not", async () => {
  rmSync(join(folder, "run"), { force: true });
  const counts = await run([wrong, unsteady, other], 3);
  expect(counts).toMatchObject({ pass: 1, fail: 3, unsteady: [] });
  expect(counts.output.match(/^\(fail\) right alone/gm)?.length).toBe(1);
}, 60_000);
