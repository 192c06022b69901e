/** A port belongs to one gateway: also when two start at the same moment. */
import { afterEach, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { lockFile, lockSocket } from "../../src/cli/lock.ts";
import { freePort, serve, type Serving } from "../helpers/serving.ts";

const started: Serving[] = [];

afterEach(async () => {
  for (const weir of started.splice(0)) await weir.end();
});

const PAIRS: [number, number][] = [
  [2, 2],
  [1, 2],
  [1, 1],
];

test.each(PAIRS)(
  "of gateways with %d and %d workers that start at once, one gets the port and the other names it",
  async (first, second) => {
    const port = freePort();
    const ends = await Promise.allSettled(
      [first, second].map((workers) => serve({ config: "", workers, port })),
    );
    const lives = ends.flatMap((end) => (end.status === "fulfilled" ? [end.value] : []));
    started.push(...lives);
    expect(lives.length).toBe(1);
    const refused = ends.find((end) => end.status === "rejected") as PromiseRejectedResult;
    expect((refused.reason as Error).message).toContain(
      `port ${port} on 127.0.0.1 is in use by another weir process (pid ${lives[0]!.pid})`,
    );
  },
  600_000,
);

/** Runs code in another process that holds a lock until its standard input ends. */
async function holder(code: string): Promise<{ pid: number; end(): Promise<void> }> {
  const path = JSON.stringify(join(import.meta.dir, "../../src/cli/lock.ts"));
  const script = `import { lockFile, lockSocket } from ${path}; console.log(JSON.stringify((await ${code}) ?? null)); for await (const _ of Bun.stdin.stream());`;
  const child = Bun.spawn([process.execPath, "-e", script], { stdin: "pipe", stdout: "pipe" });
  const { value } = await child.stdout.getReader().read();
  expect(new TextDecoder().decode(value)).toBe("null\n");
  return {
    pid: child.pid,
    async end() {
      child.kill("SIGKILL");
      await child.exited;
    },
  };
}

test("the socket's lock names its holder and ends with it", async () => {
  const path = `\0weir-test:${crypto.randomUUID()}`;
  const other = await holder(`lockSocket(${JSON.stringify(path)})`);
  expect(await lockSocket(path)).toEqual({ pid: other.pid });
  await other.end();
  expect(await lockSocket(path)).toBeUndefined();
}, 600_000);

test("the file's lock names its holder; one whose holder was killed is replaced", async () => {
  const folder = mkdtempSync(join(tmpdir(), "weir-lock-"));
  const path = join(folder, "127.0.0.1_1.lock");
  const other = await holder(`lockFile(${JSON.stringify(path)})`);
  expect(lockFile(path)).toEqual({ pid: other.pid });
  await other.end();
  expect(lockFile(path)).toBeUndefined();
  writeFileSync(path, "not JSON");
  expect(lockFile(path)).toBeUndefined();
  rmSync(folder, { recursive: true });
}, 600_000);
