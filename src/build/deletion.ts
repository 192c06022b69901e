/**
 * `bun run deletion NAME`: a copy of the repository without the folder and the line of a feature passes types, build, help,
 * schema and the fast tests. `--all` takes one feature after another. Prints a table; exits with 1 if something failed.
 */
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { featuresIn } from "../feature/feature.ts";
import * as features from "../features.ts";
import { featuresWithout, LIST, PAGES, withoutLines } from "./without.ts";

const ROOT = resolve(import.meta.dir, "../..");

const HELP = `Usage: bun run deletion NAME … [FLAGS]

  --all   every feature, one after another
  --help  print this help

Checks that weir is whole without the folder of a feature and its line in ${LIST}.`;

/** The checks that a copy has to pass, in the order of the columns. */
const CHECKS: readonly (readonly [title: string, ...args: string[]])[] = [
  ["types", "check"],
  ["build", "src/build/main.ts"],
  ["help", "src/main.ts", "--help"],
  ["schema", "src/main.ts", "config", "schema"],
  ["fast tests", "test/check.ts", "--tests"],
];

/** @throws Error with one sentence */
function chosen(args: readonly string[]): string[] | undefined {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: { all: { type: "boolean" }, help: { type: "boolean", short: "h" } },
  });
  if (values.help) return undefined;
  const list = featuresIn(features);
  const names = values.all ? list.map(({ name }) => name) : positionals;
  if (names.length === 0) throw new Error("deletion needs the name of a feature, or --all.");
  for (const name of names) featuresWithout([name], list);
  return names;
}

/** The repository without a feature: tracked and new files, and the packages by a link. @returns its folder */
async function copyWithout(name: string): Promise<string> {
  const copy = mkdtempSync(join(tmpdir(), `weir-without-${name}-`));
  const listed = Bun.spawnSync(["git", "ls-files", "-co", "--exclude-standard", "-z"], { cwd: ROOT });
  const files = listed.stdout.toString().split("\0").filter(Boolean);
  for (const file of files) {
    if (file.startsWith(`src/features/${name}/`)) continue;
    mkdirSync(dirname(join(copy, file)), { recursive: true });
    cpSync(join(ROOT, file), join(copy, file));
  }
  symlinkSync(join(ROOT, "node_modules"), join(copy, "node_modules"));
  for (const list of [LIST, PAGES].map((path) => join(copy, path)))
    await Bun.write(list, withoutLines(await Bun.file(list).text(), [name]));
  return copy;
}

/** @returns a cell for each check; prints what a failed one printed */
async function judge(name: string): Promise<{ cells: string[]; hasFailed: boolean }> {
  const copy = await copyWithout(name);
  const cells: string[] = [];
  let hasFailed = false;
  try {
    for (const [title, ...args] of CHECKS) {
      const begun = performance.now();
      const child = Bun.spawn([process.execPath, ...args], {
        cwd: copy,
        // Within the script `check` of the copy the command `check` is the one of Bun.
        env: {
          ...process.env,
          npm_lifecycle_event: "check",
          npm_package_json: join(copy, "package.json"),
        },
        stdin: "ignore",
        stdout: "pipe",
        stderr: "pipe",
      });
      const [out, err] = await Promise.all([
        new Response(child.stdout).text(),
        new Response(child.stderr).text(),
      ]);
      const seconds = ((performance.now() - begun) / 1_000).toFixed(1);
      const isWhole = (await child.exited) === 0;
      cells.push(`${isWhole ? "passed" : "FAILED"} ${seconds} s`);
      if (isWhole) continue;
      hasFailed = true;
      console.error(`== ${name}: ${title}\n${`${out}${err}`.trim()}\n`);
    }
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
  return { cells, hasFailed };
}

function read(args: readonly string[]): ReturnType<typeof chosen> {
  try {
    return chosen(args);
  } catch (cause) {
    console.error((cause as Error).message);
    process.exit(2);
  }
}

const names = read(process.argv.slice(2));
if (names === undefined) console.log(HELP);
else {
  const rows = [["without", ...CHECKS.map(([title]) => title)]];
  for (const name of names) {
    const { cells, hasFailed } = await judge(name);
    rows.push([name, ...cells]);
    if (hasFailed) process.exitCode = 1;
  }
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)));
  for (const row of rows)
    console.log(
      row
        .map((cell, column) => cell.padEnd(widths[column]!))
        .join("  ")
        .trimEnd(),
    );
}
