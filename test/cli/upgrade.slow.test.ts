/** Another process takes the place of a running gateway: under load, and where it cannot. */
import { afterEach, describe, expect, test } from "bun:test";
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { readRunFile } from "../../src/run/run-file.ts";
import { type RunningBooks, startBooks } from "../books/running.ts";
import { completion, COST, USAGE } from "../books/stress.ts";
import { IS_LONG } from "../helpers/effort.ts";
import { ask, freePort, until } from "../helpers/serving.ts";
import { SteadyLoad } from "../helpers/steady-load.ts";
import { json, paced, sse, startUpstream, type Upstream } from "../helpers/upstream.ts";

/** Upgrades, one after another. */
const UPGRADES = IS_LONG ? 10 : 3;
/** Streams of ten seconds. */
const PIECES = 100;
const PIECE_MS = 100;
/** Kept connections are served on for five seconds after an upgrade. */
const LEAVE_MS = 5_500;
/** More than one call holds: what it costs, and weir's margin for its input. Nano-dollars. */
const HOLD = 1_100_000;

let running: RunningBooks | undefined;
let provider: Upstream | undefined;

afterEach(async () => {
  running?.run("stop");
  await running?.end();
  await provider?.stop();
  running = provider = undefined;
}, 120_000);

const port = ({ url }: { url: string }) => Number(new URL(url).port);

const entryOf = (weir: RunningBooks) => readRunFile(join(weir.folder, "run/weir", `${port(weir)}.json`));

/** Asks the admin API all the time, on new connections and on kept ones. */
function askAdmin({ url, credential }: RunningBooks["admin"]) {
  const failed: string[] = [];
  const answered = { fresh: 0, kept: 0 };
  let isOver = false;
  const again = async (kind: keyof typeof answered) => {
    while (!isOver) {
      try {
        const response = await fetch(`${url}/admin/v1/keys`, {
          headers: {
            authorization: `Bearer ${credential}`,
            ...(kind === "fresh" && { connection: "close" }),
          },
          keepalive: kind === "kept",
        });
        const text = await response.text();
        if (response.status === 200) answered[kind]++;
        else failed.push(`${kind}: ${response.status} ${text.slice(0, 200)}`);
      } catch (cause) {
        failed.push(`${kind}: ${String(cause)}`);
      }
      await Bun.sleep(3);
    }
  };
  const running = [again("fresh"), again("fresh"), again("kept")];
  return async () => {
    isOver = true;
    await Promise.all(running);
    return { failed, answered };
  };
}

/** A provider whose answers cost {@link COST} each, and that counts them. */
function startProvider(): { upstream: Upstream; answers(): number } {
  let answers = 0;
  const upstream = startUpstream((request) => {
    if (request.path.endsWith("/models")) return json({ object: "list", data: [] });
    answers++;
    const { stream } = JSON.parse(request.body.toString()) as { stream?: boolean };
    return stream ? sse(paced(pieces(), PIECE_MS)) : json(completion());
  });
  return { upstream, answers: () => answers };
}

function pieces(): string[] {
  const chunk = (delta: object, rest: object = {}) => ({
    ...{ id: "c1", object: "chat.completion.chunk", created: 1, model: "m" },
    choices: [{ index: 0, delta, finish_reason: null }],
    ...rest,
  });
  const usage = { ...chunk({}), choices: [], usage: USAGE };
  const end = { ...chunk({}), choices: [{ index: 0, delta: {}, finish_reason: "stop" }] };
  const words = Array.from({ length: PIECES }, (_, at) => chunk({ content: `word ${at} ` }));
  return [...[...words, end, usage].map((frame) => `data: ${JSON.stringify(frame)}\n\n`), "data: [DONE]\n\n"];
}

async function start(
  workers: number,
  config: object = {},
  plugins: Record<string, string> = {},
): Promise<RunningBooks> {
  const { upstream, answers } = startProvider();
  provider = upstream;
  running = await startBooks({
    workers,
    plugins,
    config: {
      graceMs: 30_000,
      admin: { port: freePort() },
      providers: {
        host: { baseUrl: `${upstream.url}/v1`, apiKey: "sk-x", speaks: "chat-completions", models: ["m"] },
      },
      prices: { "host/*": { input: 1, output: 2 } },
      ...config,
    },
  });
  return Object.assign(running, { answers });
}

describe("under load", () => {
  test.each([2, 1])(
    `with %d workers ${UPGRADES} upgrades refuse no connection and cut no answer, and the books are equal to the provider's`,
    async (workers) => {
      const weir = (await start(workers)) as RunningBooks & { answers(): number };
      const key = weir.createKey("loaded", "--budget", "1000", "--hard");
      const models = { call: "host/m", stream: "host/m" };
      const load = new SteadyLoad({ port: port(weir), key, models, fresh: 60, kept: 10, streams: 20 });
      const seen = new Set([entryOf(weir)!.pid]);
      const asksAdmin = askAdmin(weir.admin);
      for (let number = 0; number < UPGRADES; number++) {
        await Bun.sleep(2_000);
        expect(await weir.runBeside("upgrade", "--port", String(port(weir)))).toMatchObject({ code: 0 });
        seen.add(entryOf(weir)!.pid);
        const second = await weir.runBeside("serve", "--port", String(port(weir)));
        expect(second.output).toContain(`in use by another weir process (pid ${entryOf(weir)!.pid})`);
        await Bun.sleep(LEAVE_MS);
      }
      const counted = await load.stop();
      const { failed, answered } = await asksAdmin();
      expect(failed).toEqual([]);
      expect(Math.min(answered.fresh, answered.kept)).toBeGreaterThan(100);
      expect(seen.size).toBe(UPGRADES + 1);
      expect(counted).toMatchObject({ refused: 0, cut: 0, others: [] });
      expect(counted.streamed).toBeGreaterThanOrEqual(20);
      expect(counted.answered).toBe(weir.answers());
      // Records are committed a moment after the end of their calls.
      await Bun.sleep(1_000);
      const access = entryOf(weir)!.admin!;
      expect(access.url).toBe(weir.admin.url);
      const [window] = (await weir.budget("loaded")).windows;
      expect(window).toMatchObject({ spent: counted.answered * COST, overrun: 0 });
      // A grant that was on its way when a keeper passed its store is assumed if a worker ended meanwhile: one at most an upgrade.
      expect(window!.assumed).toBeLessThanOrEqual(UPGRADES * HOLD);
    },
    900_000,
  );
});

/** Ends the process that loads it, if `holds`: an expression over `process.env`. */
const killing = (holds: string) => `import { existsSync } from "node:fs";
import { definePlugin } from "weir";
if (process.argv.includes("serve") && existsSync("kills") && (${holds}))
  Bun.spawnSync(["kill", "-KILL", String(process.pid)]);
export default definePlugin({ name: "killing", hooks: {} });`;

describe("an upgrade that fails leaves the gateway as it was", () => {
  /** Makes an upgrade that fails. @returns what it printed */
  async function fail(weir: RunningBooks, ...args: string[]): Promise<string> {
    const before = entryOf(weir)!;
    const { code, output } = await weir.runBeside("upgrade", ...args);
    expect(code).toBe(1);
    expect(output).toContain("the upgrade failed; the gateway runs on as before: ");
    expect(entryOf(weir)).toMatchObject({ pid: before.pid, admin: before.admin });
    for (let n = 0; n < 10; n++) expect((await ask(weir.url, "mock/chat")).status).toBe(200);
    // The keeper writes, and workers hear of it.
    const name = `model-${crypto.randomUUID()}`;
    expect(weir.run("models", "add", name, "mock/chat")).toMatchObject({ code: 0 });
    expect(await until(async () => (await ask(weir.url, name)).status === 200)).toBe(true);
    return output;
  }

  const open = { admin: {}, log: { level: "warn" } };

  test("a config with a fault", async () => {
    const weir = await start(2, open);
    weir.configure("providers: 7\n");
    expect(await fail(weir)).toMatch(/providers.*weir\.yaml|weir\.yaml.*providers/);
  }, 300_000);

  test("a file that does not exist, and one that is no gateway", async () => {
    const weir = await start(2, open);
    expect(await fail(weir, "--executable", "/nonexistent/weir")).toContain(
      "/nonexistent/weir cannot be started",
    );
    expect(await fail(weir, "--executable", "/bin/false")).toContain("ended with code 1 before it served");
  }, 300_000);

  test("what a running gateway cannot change", async () => {
    const weir = await start(2, open);
    const address = port(weir);
    weir.configure(JSON.stringify({ host: "127.0.0.2" }));
    expect(await fail(weir)).toContain("the host would change from 127.0.0.1 to 127.0.0.2");
    weir.configure(JSON.stringify({ store: "postgres://nobody@127.0.0.1:1/none" }));
    expect(await fail(weir, "--port", String(address))).toContain("the store would change");
  }, 300_000);

  test("a worker that is killed before the store passes, and one that is killed after it", async () => {
    const weir = await start(2, open, { "killing.ts": killing("true") });
    await Bun.write(join(weir.folder, "kills"), "");
    expect(await fail(weir)).toContain("worker 1 ended by signal SIGKILL");
    rmSync(join(weir.folder, "kills"));
    await weir.end();
    running = undefined;
    const other = await start(2, open, {
      "killing.ts": killing('process.env["WEIR_WORKER"]?.startsWith("2:")'),
    });
    await Bun.write(join(other.folder, "kills"), "");
    expect(await fail(other)).toContain("worker 2 ended by signal SIGKILL");
    rmSync(join(other.folder, "kills"));
    // What failed before is tried again.
    expect(await other.runBeside("upgrade")).toMatchObject({ code: 0 });
  }, 300_000);
});

test.each([2, 1])(
  "a gateway of %d workers that is told to end meanwhile is followed by none",
  async (workers) => {
    // Loading it takes a while.
    const slow = `import { existsSync } from "node:fs";
import { definePlugin } from "weir";
if (existsSync("slow")) await Bun.sleep(3_000);
export default definePlugin({ name: "slow", hooks: {} });`;
    const weir = await start(workers, { log: { level: "warn" } }, { "slow.ts": slow });
    await Bun.write(join(weir.folder, "slow"), "");
    const upgraded = weir.runBeside("upgrade");
    expect(await until(() => weir.children().length > (workers === 1 ? 0 : workers + 1), 20_000)).toBe(true);
    weir.signal("SIGTERM");
    expect(await upgraded).toMatchObject({ code: 1 });
    expect(await weir.exited).toBe(0);
    await Bun.sleep(500);
    expect(weir.run("status").output).toContain("no gateway of this user is running");
  },
  300_000,
);

test("a gateway of one process takes its keeper back", async () => {
  const plugin = killing('process.env["WEIR_WORKER"]?.startsWith("2:")');
  const weir = await start(1, { admin: {}, log: { level: "warn" } }, { "killing.ts": plugin });
  const { pid, admin } = entryOf(weir)!;
  await Bun.write(join(weir.folder, "kills"), "");
  const { code, output } = await weir.runBeside("upgrade", "--workers", "2");
  expect({ code, output }).toMatchObject({ code: 1 });
  expect(output).toContain("worker 2 ended by signal SIGKILL");
  expect(entryOf(weir)).toMatchObject({ pid, admin });
  expect(weir.run("models", "add", "later", "mock/chat")).toMatchObject({ code: 0 });
  expect(await until(async () => (await ask(weir.url, "later")).status === 200)).toBe(true);
  expect(await weir.runBeside("upgrade")).toMatchObject({ code: 0 });
  expect((await ask(weir.url, "later")).status).toBe(200);
  expect(await weir.exited).toBe(0);
  expect((await ask(weir.url, "later")).status).toBe(200);
}, 300_000);

test("a signal upgrades too, and the next gateway has the flags of the command", async () => {
  const weir = await start(2, { log: { level: "warn" } });
  const before = entryOf(weir)!.pid;
  process.kill(before, "SIGUSR2");
  expect(await until(() => entryOf(weir)!.pid !== before, 60_000)).toBe(true);
  const second = entryOf(weir)!.pid;
  expect(await weir.runBeside("upgrade", "--workers", "3")).toMatchObject({ code: 0 });
  const third = entryOf(weir)!.pid;
  expect(third).not.toBe(second);
  expect(readFileSync(`/proc/${third}/cmdline`, "latin1")).toContain("--workers=3");
  // The first gateway ends, and with it nothing of those that follow.
  expect(await weir.exited).toBe(0);
  expect((await ask(weir.url, "mock/chat")).status).toBe(200);
}, 300_000);
