/** From the first 200 of `/health` on, signals are handled and other commands find the gateway; what refuses a start is known before. */
import { afterEach, expect, setDefaultTimeout, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { environmentIn } from "../helpers/environment.ts";
import { TARGET } from "../helpers/gateway.ts";
import { freePort } from "../helpers/serving.ts";

setDefaultTimeout(120_000);

const ROOT = resolve(import.meta.dir, "../..");
const PROGRAM =
  TARGET === "binary" ? [join(ROOT, "dist/weir")] : [process.execPath, join(ROOT, "src/main.ts")];

const ends: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});

interface Started {
  port: number;
  folder: string;
  child: Bun.Subprocess;
  run(...args: string[]): { code: number; output: string };
}

/** Starts `weir serve` and does not wait. @param files written into its folder before */
function begin(workers: number, config = "", files: Record<string, string> = {}): Started {
  const folder = mkdtempSync(join(tmpdir(), "weir-announced-"));
  mkdirSync(join(folder, "run"), { mode: 0o700 });
  mkdirSync(join(folder, "state"));
  writeFileSync(join(folder, "weir.yaml"), config);
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  const port = freePort();
  const env = environmentIn(folder, { WEIR_STATE: join(folder, "state"), WEIR_PORT: String(port) });
  const child = Bun.spawn([...PROGRAM, "serve", "--workers", String(workers)], {
    ...{ cwd: folder, env, stdin: "ignore", stdout: "ignore", stderr: "pipe" },
    detached: true,
  });
  ends.push(async () => {
    child.kill("SIGTERM");
    const timer = setTimeout(() => child.kill("SIGKILL"), 5_000);
    await child.exited;
    clearTimeout(timer);
    rmSync(folder, { recursive: true, force: true });
  });
  return {
    ...{ port, folder, child },
    run(...args) {
      const ran = Bun.spawnSync([...PROGRAM, ...args], { cwd: folder, env });
      return { code: ran.exitCode, output: ran.stdout.toString() + ran.stderr.toString() };
    },
  };
}

/** The status of `/health`; undefined while nobody listens. */
async function healthOf(port: number): Promise<number | undefined> {
  try {
    const answer = await fetch(`http://127.0.0.1:${port}/health`, { headers: { connection: "close" } });
    await answer.text();
    return answer.status;
  } catch {
    return undefined;
  }
}

/** Waits until the gateway answers so. @returns all statuses until then */
async function untilHealth(
  { port, child }: Started,
  isWanted: (status: number) => boolean,
): Promise<number[]> {
  const seen: number[] = [];
  while (child.exitCode === null) {
    const status = await healthOf(port);
    if (status !== undefined) seen.push(status);
    if (status !== undefined && isWanted(status)) return seen;
    await Bun.sleep(1);
  }
  return seen;
}

for (const workers of [1, 2])
  test(`with ${workers} worker(s) a key can be created right after the first 200`, async () => {
    const weir = begin(workers);
    const seen = await untilHealth(weir, (status) => status === 200);
    expect(seen.every((status) => status === 200 || status === 503)).toBe(true);
    const { code, output } = weir.run("keys", "create", "first", "--port", String(weir.port));
    expect({ code, output }).toEqual({ code: 0, output: expect.stringContaining("weir_sk_") });
  });

test("a reload and a stop that come with the first answer are handled", async () => {
  const weir = begin(1);
  await untilHealth(weir, () => true);
  weir.child.kill("SIGHUP");
  await untilHealth(weir, (status) => status === 200);
  expect(weir.child.exitCode).toBeNull();
  weir.child.kill("SIGTERM");
  expect(await weir.child.exited).toBe(0);
});

test("a stop at the first answer drains", async () => {
  const weir = begin(1);
  await untilHealth(weir, () => true);
  weir.child.kill("SIGTERM");
  expect(await weir.child.exited).toBe(0);
});

/** What a start printed that never served. */
async function refusalOf(weir: Started): Promise<string> {
  const seen = await untilHealth(weir, () => false);
  expect(seen).toEqual([]);
  expect(await weir.child.exited).toBeGreaterThan(0);
  return new Response(weir.child.stderr as ReadableStream).text();
}

test("what refuses a start does so before anybody is served", async () => {
  const taken = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data() {} } });
  const starts = [
    { weir: begin(1, `admin: {port: ${taken.port}}\n`), says: String(taken.port) },
    { weir: begin(2, `admin: {port: ${taken.port}}\n`), says: String(taken.port) },
    {
      weir: begin(1, "responses: {store: on}\n", { "state/responses.db": "no database ".repeat(500) }),
      says: "responses.store is on",
    },
    { weir: begin(1, "", { "state/weir.db/a-file": "" }), says: "weir.db" },
  ];
  try {
    for (const { weir, says } of starts) expect(await refusalOf(weir)).toContain(says);
  } finally {
    taken.stop(true);
  }
});
