/** `weir drill` as a command: options, outputs, exit codes and the processes of the client. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PROGRAM, runCommand } from "../../../../test/helpers/command.ts";
import { environmentIn } from "../../../../test/helpers/environment.ts";
import { FAULTS } from "../faults.ts";
import { clientCommand, type Result } from "./drilling.ts";

setDefaultTimeout(60_000);

const SIMPLE = clientCommand("simple");

/** Runs weir in an empty folder, which is also the one for temporary files. */
async function inFolder(
  args: readonly string[],
  env: Record<string, string> = {},
  look: (folder: string) => void = () => {},
) {
  const folder = mkdtempSync(join(tmpdir(), "weir-drill-test-"));
  try {
    const ran = await runCommand(args, { cwd: folder, env: { TMPDIR: folder, ...env } });
    look(folder);
    return ran;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

test("--list names each fault with what a good client does", async () => {
  const { code, out } = await inFolder(["drill", "--list"]);
  expect(code).toBe(0);
  for (const { name, meets } of FAULTS) expect(out).toContain(`${name}\n  the client meets: ${meets}\n`);
});

const WRONG: readonly [args: string[], message: string][] = [
  [["drill"], "drill needs the command of a client behind --"],
  [["drill", "--only", "cut,flood", "--", "true"], '--only: there is no fault "flood"; there are refused,'],
  [["drill", "--timeout", "0", "--", "true"], "--timeout must be a whole number from 1 to 3600"],
  [["drill", "--parallel", "many", "--", "true"], "--parallel must be a whole number from 1 to 20"],
  [["drill", "--", "weir-no-such-program"], "weir-no-such-program cannot be run: there is no such command"],
];

for (const [args, message] of WRONG)
  test(`wrong usage is exit code 2: ${args.slice(1).join(" ")}`, async () => {
    const { code, err } = await inFolder(args);
    expect([code, err.trim()]).toEqual([2, expect.stringContaining(message)]);
  });

test("a client that fails without a fault cannot be judged: exit code 3 with its output", async () => {
  const { code, err } = await inFolder(["drill", "--", ...SIMPLE], { MODE: "broken" });
  expect(code).toBe(3);
  expect(err).toContain("the client cannot be judged: without a fault it ended with exit code 1");
  expect(err).toContain("this client never works");
});

test("a client that asks nothing cannot be judged, and is said to have run in an empty folder", async () => {
  const { code, err } = await inFolder(["drill", "--", ...SIMPLE], { MODE: "idle" });
  expect([code, err]).toEqual([3, expect.stringContaining("it sent no request for an answer")]);
  expect(err).toContain("--here runs it in this one");
});

test("the JUnit file has a test case for each fault, and the table has the reasons", async () => {
  const args = ["drill", "--only", "unauthorized,empty,broken-call", "--junit", "out/drill.xml"];
  let xml = "";
  const { code, out, err } = await inFolder([...args, "--", ...SIMPLE], {}, (folder) => {
    xml = readFileSync(join(folder, "out/drill.xml"), "utf8");
  });
  expect(out).toMatch(/^ok +unauthorized +1 +[\d.]+ s +failed with exit code 1: "error: status 401/m);
  expect(out).toMatch(/^skipped +broken-call /m);
  expect(out).toContain("3 faults: 1 ok, 1 weak, 0 bad, 1 skipped");
  expect(err).toContain("weir: what the client printed is in ");
  expect(code).toBe(0);
  expect(xml).toContain('tests="3" failures="0" skipped="1"');
  expect(xml).toContain('<testcase classname="weir.drill" name="unauthorized"');
  expect(xml).toContain("&lt;{&quot;error&quot;");
});

test("what still runs at the time limit or after the client is ended, and no working folder stays", async () => {
  let pid = 0;
  let left: string[] = [];
  const args = ["drill", "--only", "stall", "--timeout", "2", "--json", "--", ...SIMPLE];
  const folder = mkdtempSync(join(tmpdir(), "weir-drill-pids-"));
  try {
    const pids = join(folder, "pid");
    const { code, out } = await inFolder(args, { MODE: "child", PIDS: pids }, (cwd) => {
      pid = Number(readFileSync(pids, "utf8"));
      const [kept] = readdirSync(cwd).filter((name) => name.startsWith("weir-drill-"));
      left = readdirSync(join(cwd, kept!));
    });
    const [result] = JSON.parse(out) as Result[];
    expect([code, result?.verdict, result?.reason]).toEqual([
      1,
      "bad",
      expect.stringContaining("hung: still waited"),
    ]);
    expect(left.sort()).toEqual(["baseline.txt", "stall.txt"]);
    await untilEnded(pid);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

test("--here runs the client in the working folder", async () => {
  const args = ["drill", "--only", "unauthorized", "--here", "--", ...SIMPLE];
  let isVisited = false;
  await inFolder(args, {}, (folder) => (isVisited = existsSync(join(folder, "visited.txt"))));
  expect(isVisited).toBe(true);
});

test("--verbose prints the output of the client where the verdict is bad", async () => {
  const command = clientCommand("planted-swallow");
  const { err } = await inFolder(["drill", "--only", "unauthorized", "--verbose", "--", ...command]);
  expect(err).toContain("=== unauthorized\nThe client ended with exit code 0");
});

test("Ctrl-C ends the client and prints the table so far", async () => {
  const folder = mkdtempSync(join(tmpdir(), "weir-drill-test-"));
  try {
    const args = ["drill", "--only", "unauthorized,stall", "--parallel", "1", "--", ...SIMPLE];
    const env = environmentIn(folder, { TMPDIR: folder, MODE: "child", PIDS: join(folder, "pid") });
    const child = Bun.spawn([...PROGRAM, ...args], { cwd: folder, env, stdout: "pipe", stderr: "pipe" });
    const decoder = new TextDecoder();
    let err = "";
    for await (const chunk of child.stderr) {
      err += decoder.decode(chunk, { stream: true });
      if (err.includes("[1/2]")) break;
    }
    await Bun.sleep(300);
    child.kill("SIGINT");
    const out = await new Response(child.stdout).text();
    expect(await child.exited).toBe(130);
    expect(out).toContain("unauthorized");
    expect(out).toContain("1 fault: 1 ok");
    await untilEnded(Number(readFileSync(join(folder, "pid"), "utf8")));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

/** @throws Error if the process still runs after some seconds */
async function untilEnded(pid: number): Promise<void> {
  expect(pid).toBeGreaterThan(0);
  for (let tries = 0; tries < 100; tries++) {
    try {
      process.kill(pid, 0);
    } catch {
      return;
    }
    await Bun.sleep(50);
  }
  throw new Error(`process ${pid} still runs`);
}
