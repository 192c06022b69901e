/**
 * `bun run check`: types and format beside the tests that take seconds. Types need one core for a third of the time, and tests
 * wait now and then. Exits with 1 if one of them failed.
 *
 * `--tests` runs the tests alone, without those of the documents, which describe a weir with all features: `bun run deletion`
 * judges copies with it.
 */
import { resolve } from "node:path";

const ROOT = resolve(import.meta.dir, "..");

/** Folders and files whose tests start no process and need no large input, but for those named `*.slow.test.ts`. */
const TESTS = [
  "test/architecture.test.ts",
  "test/function-length.test.ts",
  "test/documents.test.ts",
  "test/documents",
  "test/admin",
  "test/auth",
  "test/console",
  "test/core",
  "src/features/alerts/test",
  "src/features/drill/test",
  "src/features/traces/test",
  "test/embeddings",
  "test/feature/distinct.test.ts",
  "test/keeper/store.test.ts",
  "test/keeper/metrics.test.ts",
  "test/keeper/dashboard.test.ts",
  "test/ledger",
  "test/stream",
  "test/http",
  "test/formats",
  "test/gateway",
  "test/server",
  "test/config",
  "test/plugins/quirks.test.ts",
  "test/cli/types.test.ts",
  "test/cli/man.test.ts",
  "test/delivery/archive.test.ts",
  "test/deploy",
];

/** Runs a command of Bun. @returns what it printed, once it ended, and whether it failed */
async function run(...args: string[]): Promise<boolean> {
  const child = Bun.spawn([process.execPath, ...args], {
    cwd: ROOT,
    // Within the script `check` the command `check` is the one of Bun.
    env: { ...process.env, npm_lifecycle_event: "check" },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  const [out, err] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  const hasFailed = (await child.exited) !== 0;
  console.log(`${args.slice(0, 2).join(" ")}: ${hasFailed ? "FAILED" : "passed"}\n${(out + err).trim()}`);
  return hasFailed;
}

const isPart = process.argv.includes("--tests");
const results = await Promise.all([
  ...(isPart ? [] : [run("check"), run("fmt", "--check")]),
  run(
    ...["test", "--only-failures", "--parallel=4", "--no-isolate", "--timeout", "600000"],
    ...["--path-ignore-patterns", "**/*.slow.test.ts"],
    ...TESTS.filter((path) => !isPart || !/^test\/(documents|delivery|deploy)/.test(path)),
  ),
]);
process.exit(results.includes(true) ? 1 : 0);
