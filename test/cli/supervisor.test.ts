/** What the supervisor does about workers that hang, processes that cannot be started, and signals that reach all of them. */
import { afterEach, describe, expect, test } from "bun:test";
import { copyFileSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { ask, limitFiles, serve, type Serving, type ServingOptions, until } from "../helpers/serving.ts";
import { PROGRAM } from "../helpers/command.ts";

/** Ten times what is promised, and more: a slow machine fails no test. */
const PATIENCE_MS = 100_000;

let running: Serving | undefined;

afterEach(async () => {
  await running?.end();
  running = undefined;
});

async function start(options: Partial<ServingOptions> = {}): Promise<Serving> {
  running = await serve({ config: "graceMs: 1000\n", workers: 2, ...options });
  return running;
}

const logged = (weir: Serving, part: string) => weir.log.filter((line) => line.includes(part)).length;

/** Resolves once a worker that was restarted listens. */
const restarted = (weir: Serving, times = 1) =>
  until(() => weir.log.filter((line) => /worker \d is serving/.test(line)).length >= times, PATIENCE_MS);

describe("a worker that hangs", () => {
  test("is replaced, and a reload meanwhile ends", async () => {
    const weir = await start();
    const [hung] = weir.workers();
    process.kill(hung!, "SIGSTOP");
    expect(weir.run("reload")).toMatchObject({ code: 0 });
    expect(await restarted(weir)).toBe(true);
    expect(logged(weir, "hangs: it sent no heartbeat")).toBe(1);
    expect(weir.workers()).not.toContain(hung!);
    for (let n = 0; n < 20; n++) expect((await ask(weir.url, "mock/chat")).status).toBe(200);
  }, 900_000);

  test("does not keep the gateway from ending when it is told to", async () => {
    const weir = await start();
    process.kill(weir.workers()[0]!, "SIGSTOP");
    weir.signal("SIGTERM");
    // It had to be killed, so the end is not a clean one.
    expect(await weir.exited).toBe(1);
  }, 600_000);
});

describe("a signal to the whole process group", () => {
  test("SIGTERM lets running answers finish", async () => {
    const weir = await start({ config: "graceMs: 60000\n" });
    const streams = Array.from({ length: 8 }, () => ask(weir.url, "mock/pace-40", true));
    await Bun.sleep(500);
    weir.signalGroup("SIGTERM");
    for (const { text } of await Promise.all(streams)) expect(text).toEndWith("data: [DONE]\n\n");
    expect(await weir.exited).toBe(0);
  }, 600_000);

  test(
    "SIGHUP reloads and ends no worker",
    async () => {
      const weir = await start();
      const workers = weir.workers();
      weir.signalGroup("SIGHUP");
      expect(await until(() => logged(weir, "the configuration was reloaded") === 1, PATIENCE_MS)).toBe(true);
      expect(weir.workers()).toEqual(workers);
    },
    PATIENCE_MS,
  );
});

test("a worker that starts while the config is reloaded has the new one", async () => {
  // Reads the config, then takes a while.
  const slow = `await Bun.sleep(1_500);
import { definePlugin } from "weir";
export default definePlugin({ name: "slow", hooks: {} });`;
  const weir = await start({ plugins: { "slow.ts": slow } });
  process.kill(weir.workers()[0]!, "SIGKILL");
  await Bun.sleep(1_000);
  weir.configure("aliases: { fresh: mock/chat }\n");
  expect(weir.run("reload")).toMatchObject({ code: 0 });
  expect(await restarted(weir)).toBe(true);
  expect(await until(async () => (await ask(weir.url, "fresh")).status === 200, PATIENCE_MS)).toBe(true);
  const hasIt = async () => {
    for (let n = 0; n < 20; n++) if ((await ask(weir.url, "fresh")).status !== 200) return false;
    return true;
  };
  expect(await until(hasIt, 20_000)).toBe(true);
}, 900_000);

describe("a worker that cannot be started", () => {
  test("is tried again, and the others serve on", async () => {
    const weir = await start();
    const [first, second] = weir.workers();
    limitFiles(weir.pid, "8");
    process.kill(first!, "SIGKILL");
    expect(
      await until(() => logged(weir, "worker 1 could not be started; weir retries") >= 2, PATIENCE_MS),
    ).toBe(true);
    for (let n = 0; n < 10; n++) expect((await ask(weir.url, "mock/chat")).status).toBe(200);
    expect(weir.workers()).toEqual([second!]);
    limitFiles(weir.pid, "1024");
    expect(await restarted(weir)).toBe(true);
    expect(weir.workers().length).toBe(2);
  }, 900_000);

  test("an executable that an upgrade has removed starts workers all the same", async () => {
    const folder = mkdtempSync(join(tmpdir(), "weir-upgrade-"));
    try {
      const program = PROGRAM[0]!;
      const executable = join(folder, basename(program));
      copyFileSync(program, executable);
      const weir = await start({ executable });
      rmSync(executable);
      for (let times = 1; times <= 2; times++) {
        process.kill(weir.workers()[0]!, "SIGKILL");
        expect(await restarted(weir, times)).toBe(true);
      }
      expect((await ask(weir.url, "mock/chat")).status).toBe(200);
    } finally {
      rmSync(folder, { recursive: true });
    }
  }, 900_000);
});

/** Kills the worker that loads it, some times. */
const killed = (times: number) => `import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { definePlugin } from "weir";
const starts = () => (existsSync("starts") ? readFileSync("starts").length : 0);
if (process.argv.includes("serve") && starts() < ${times}) {
  appendFileSync("starts", ".");
  Bun.spawnSync(["kill", "-KILL", String(process.pid)]);
}
export default definePlugin({ name: "killed", hooks: {} });`;

describe("a worker that is killed before it serves for the first time", () => {
  test("is started again", async () => {
    const weir = await start({ plugins: { "killed.ts": killed(2) } });
    expect(logged(weir, "worker 1 ended by signal SIGKILL; weir restarts it")).toBe(2);
    expect(weir.workers().length).toBe(2);
    expect((await ask(weir.url, "mock/chat")).status).toBe(200);
  }, 600_000);

  test("ends the gateway with the reason when it happens again and again", async () => {
    const failed = await serve({
      ...{ config: "", workers: 2 },
      plugins: { "killed.ts": killed(1_000) },
    }).then(
      () => "it started",
      (cause: Error) => cause.message,
    );
    expect(failed).toContain("exit code 1");
    expect(failed).toContain(
      "worker 1 ended by signal SIGKILL; workers end faster than weir can restart them",
    );
  }, 600_000);
});

test("what is wrong with the start is printed once, and its exit code is the worker's", async () => {
  // Which providers there are is known to a worker only.
  const config = "routes: { smart: [nobody/some-model] }\n";
  const failed = await serve({ config, workers: 2 }).then(
    () => "it started",
    (cause: Error) => cause.message,
  );
  expect(failed).toContain("exit code 78");
  expect(failed.match(/nobody/g)?.length).toBe(1);
}, 600_000);
