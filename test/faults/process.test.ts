/** Goals about the life of the process: stopping, reloading, and faults nobody awaits. Against the compiled binary. */
import { beforeAll } from "bun:test";
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ask, freePort, serve, type Serving, until } from "../helpers/serving.ts";
import { stalledReader } from "../helpers/stalled-reader.ts";
import { BINARY, buildBinary, costOf } from "./armour.ts";
import { goal } from "./goals.ts";

beforeAll(buildBinary, 60_000);

const CONFIG = "aliases: { fast: mock/chat }\n";

async function withWeir<Value>(
  config: string,
  workers: number,
  use: (weir: Serving) => Promise<Value>,
  plugins?: Record<string, string>,
): Promise<Value> {
  const weir = await serve({ config, workers, binary: true, plugins });
  try {
    return await use(weir);
  } finally {
    await weir.end();
  }
}

/** Opens that many streams; gives what each ended with: its text, or `refused` and `reset`. */
function openStreams(url: string, model: string, count: number): Promise<string>[] {
  return Array.from({ length: count }, () =>
    ask(url, model, true).then(
      ({ text }) => text,
      (cause: unknown) => `broken: ${String(cause)}`,
    ),
  );
}

const seconds = (ms: number) => `${(ms / 1000).toFixed(1)} s`;

const isWhole = (text: string) => text.endsWith("data: [DONE]\n\n");

goal(19, "SIGTERM with 200 streams that fit into the grace", "0 cut, exit 0", () =>
  withWeir(`${CONFIG}graceMs: 15000\n`, 2, async (weir) => {
    const streams = openStreams(weir.url, "mock/pace-40", 200);
    await Bun.sleep(700);
    weir.signal("SIGTERM");
    const texts = await Promise.all(streams);
    const code = await weir.exited;
    const whole = texts.filter(isWhole).length;
    return {
      measured: `${whole} of 200 whole on 2 workers, exit ${code}`,
      holds: whole === 200 && code === 0,
    };
  }),
);

/** How often a worker that was restarted has come to listen. */
const restarts = (weir: Serving) => weir.log.filter((line) => /worker \d is serving/.test(line)).length;

const CLIENTS = 8;

goal(
  19,
  "workers that are killed one after the other under calls",
  "each costs at most the calls it had; the other serves on",
  () =>
    withWeir(CONFIG, 2, async (weir) => {
      let failed = 0;
      let answered = 0;
      let over = false;
      const client = async () => {
        while (!over) {
          const found = await ask(weir.url, "fast").catch(() => ({ status: 0 }));
          if (found.status === 200) answered++;
          else failed++;
        }
      };
      const clients = Array.from({ length: CLIENTS }, client);
      const ROUNDS = 4;
      for (let round = 0; round < ROUNDS; round++) {
        process.kill(weir.workers()[0]!, "SIGKILL");
        // The next one is killed only when this one is back: without a worker every call is refused.
        await until(() => restarts(weir) > round, 30_000);
      }
      over = true;
      await Promise.all(clients);
      return {
        measured: `${restarts(weir)} workers replaced under ${answered} calls, ${failed} of them broken`,
        holds: restarts(weir) === ROUNDS && failed <= ROUNDS * CLIENTS && answered > 100,
      };
    }),
);

/** Blocks its event loop for ever. */
const LOOPING = `import { definePlugin } from "weir";
export default definePlugin({
  name: "looping",
  providers: [{ name: "looping", async *generate() { while (true); } }],
});`;

goal(
  49,
  "a worker in an endless loop, one that is stopped",
  "each replaced ≤ 10 s",
  () =>
    withWeir(
      CONFIG,
      2,
      async (weir) => {
        const began = performance.now();
        void ask(weir.url, "looping/x").catch(() => {});
        await until(() => restarts(weir) === 1, 100_000);
        const looping = performance.now() - began;
        process.kill(weir.workers()[0]!, "SIGSTOP");
        await until(() => restarts(weir) === 2, 100_000);
        const stopped = performance.now() - began - looping;
        return {
          measured: `replaced after ${seconds(looping)} and ${seconds(stopped)}`,
          holds: restarts(weir) === 2 && weir.workers().length === 2,
          inTime: Math.max(looping, stopped) <= 10_000,
        };
      },
      { "looping.ts": LOOPING },
    ),
  900_000,
);

goal(49, "SIGTERM while both workers hang", "exit ≤ grace + 1 s", () =>
  withWeir(`${CONFIG}graceMs: 1500\n`, 2, async (weir) => {
    for (const pid of weir.workers()) process.kill(pid, "SIGSTOP");
    const asked = performance.now();
    weir.signal("SIGTERM");
    await weir.exited;
    const took = performance.now() - asked;
    return { measured: `exit after ${seconds(took)} (grace 1.5 s)`, holds: true, inTime: took <= 2_500 };
  }),
);

goal(50, "SIGTERM to the whole process group with 200 streams, 3 times", "0 cut, exit 0", async () => {
  const whole: number[] = [];
  const codes: number[] = [];
  for (let run = 0; run < 3; run++)
    await withWeir(`${CONFIG}graceMs: 15000\n`, 2, async (weir) => {
      const streams = openStreams(weir.url, "mock/pace-40", 200);
      await Bun.sleep(700);
      weir.signalGroup("SIGTERM");
      whole.push((await Promise.all(streams)).filter(isWhole).length);
      codes.push(await weir.exited);
    });
  return {
    measured: `${whole.join(", ")} of 200 whole, exit ${codes.join(", ")}`,
    holds: whole.every((count) => count === 200) && codes.every((code) => code === 0),
  };
});

goal(
  51,
  "an upgrade in place (the binary is removed, then replaced), and no file descriptors to start a worker with",
  "workers are restarted; 0 calls fail but those of a killed worker",
  async () => {
    const folder = mkdtempSync(join(tmpdir(), "weir-upgrade-"));
    const executable = join(folder, "weir");
    copyFileSync(BINARY, executable);
    const weir = await serve({ config: CONFIG, workers: 2, binary: true, executable });
    const limit = (most: string) =>
      Bun.spawnSync(["prlimit", "--pid", String(weir.pid), `--nofile=${most}:`]);
    const replaceOne = async (times: number, meanwhile = () => {}) => {
      process.kill(weir.workers()[0]!, "SIGKILL");
      await Bun.sleep(500);
      const alive = (await ask(weir.url, "fast")).status === 200;
      meanwhile();
      return alive && (await until(() => restarts(weir) === times, 100_000));
    };
    try {
      rmSync(executable);
      const removed = await replaceOne(1);
      writeFileSync(executable, "not a program", { mode: 0o755 });
      const replaced = await replaceOne(2);
      limit("8");
      const exhausted = await replaceOne(3, () => void limit("1024"));
      const tries = weir.log.filter((line) => line.includes("could not be started")).length;
      return {
        measured: `worker back after removal ${removed}, replacement ${replaced}, exhaustion ${exhausted} (${tries} starts failed)`,
        holds: removed && replaced && exhausted && tries > 0,
      };
    } finally {
      await weir.end();
      rmSync(folder, { recursive: true });
    }
  },
  900_000,
);

goal(
  52,
  "8 pairs of starts on one port, 0 to 200 ms apart",
  "one serves, the other names it; never both",
  async () => {
    let right = 0;
    const PAIRS = 8;
    for (let pair = 0; pair < PAIRS; pair++) {
      const port = freePort();
      const start = () => serve({ config: CONFIG, workers: 2, binary: true, port });
      const first = start();
      await Bun.sleep((pair * 200) / (PAIRS - 1));
      const ends = await Promise.allSettled([first, start()]);
      const lives = ends.flatMap((end) => (end.status === "fulfilled" ? [end.value] : []));
      const named = ends.some(
        (end) =>
          end.status === "rejected" &&
          String(end.reason).includes(`in use by another weir process (pid ${lives[0]?.pid})`),
      );
      if (lives.length === 1 && named) right++;
      for (const weir of lives) await weir.end();
    }
    return { measured: `${right} of ${PAIRS} pairs`, holds: right === PAIRS };
  },
);

/** Each call logs a fault of 20 KB. */
const TALKATIVE = `import { definePlugin } from "weir";
export default definePlugin({
  name: "talkative",
  hooks: { done() { throw new Error("x".repeat(20_000)); } },
});`;

goal(
  57,
  "a log reader that takes nothing for 2,000 faults of 20 KB",
  "≤ 60 MB more; dropped lines counted",
  async () => {
    const reader = stalledReader();
    const plugins = { "talkative.ts": TALKATIVE };
    const weir = await serve({
      config: CONFIG,
      workers: 1,
      binary: true,
      plugins,
      stdout: reader.descriptor,
    });
    try {
      for (let n = 0; n < 200; n++) await ask(weir.url, "fast");
      const before = costOf(weir.pid).rss;
      for (let n = 0; n < 2_000; n++) await ask(weir.url, "fast");
      const grown = (costOf(weir.pid).rss - before) / 1e6;
      let text = "";
      // weir may count in several lines: one each time the pipe has accepted what weir had kept.
      const countDropped = () =>
        [...text.matchAll(/(\d+) log lines were dropped/g)].reduce(
          (sum, [, count]) => sum + Number(count),
          0,
        );
      await until(() => {
        text += reader.read();
        return countDropped() > 3_000;
      }, 60_000);
      const dropped = countDropped();
      return {
        measured: `${grown.toFixed(0)} MB more, ${dropped} lines dropped and counted`,
        holds: dropped > 3_000 && grown <= 60,
      };
    } finally {
      await weir.end();
      reader.close();
    }
  },
);

/** Talks until it is told to stop, as fast as it can. */
const TALKING = `import { definePlugin } from "weir";
async function* generate(request, call) {
  yield { type: "message-start", id: "m", model: "talking" };
  yield { type: "block-start", index: 0, block: { type: "text" } };
  for (let n = 0; !call.signal.aborted; n++) {
    yield { type: "block-delta", index: 0, delta: "word " };
    if (n % 100 === 99) await Bun.sleep(1);
  }
}
export default definePlugin({ name: "talking", providers: [{ name: "talking", generate }] });`;

/** The last bytes of streams that carry more than a test would read in time if it kept everything. */
function openEndless(url: string, model: string, count: number): Promise<string>[] {
  const readEnd = async () => {
    const body = JSON.stringify({ model, stream: true, messages: [{ role: "user", content: "Hello" }] });
    const headers = { "content-type": "application/json" };
    const response = await fetch(`${url}/v1/chat/completions`, { method: "POST", headers, body });
    let end: Uint8Array = new Uint8Array();
    try {
      for await (const chunk of response.body!)
        end =
          chunk.length < END_BYTES
            ? Buffer.concat([end, chunk]).subarray(-END_BYTES)
            : chunk.subarray(-END_BYTES);
    } catch {
      // weir breaks the connection behind the error event.
    }
    return new TextDecoder().decode(end);
  };
  return Array.from({ length: count }, () => readEnd().catch((cause: unknown) => `broken: ${String(cause)}`));
}

/** More than an error event has. */
const END_BYTES = 4096;

goal(20, "streams that are longer than the grace", "all get an error event; exit ≤ grace + 1 s", () =>
  withWeir(
    `${CONFIG}graceMs: 1500\n`,
    2,
    async (weir) => {
      const streams = [
        ...openStreams(weir.url, "mock/stall-after-3", 100),
        ...openEndless(weir.url, "talking/on", 20),
      ];
      await Bun.sleep(1_000);
      const asked = performance.now();
      weir.signal("SIGTERM");
      const code = await weir.exited;
      const took = performance.now() - asked;
      const texts = await Promise.all(streams);
      const told = texts.filter((text) => text.includes("shutting_down") && !text.includes("[DONE]")).length;
      return {
        measured: `${told} of ${texts.length} told, exit ${code} after ${Math.round(took)} ms (grace 1500)`,
        // What a busy machine does not send within 0.9 s of the grace's end is cut, and its workers are killed.
        holds: told >= texts.length / 2 && (code === 0 || took > 2_400),
        inTime: told === texts.length && took <= 2_500,
      };
    },
    { "talking.ts": TALKING },
  ),
);

goal(
  21,
  "100 reloads under calls, 50 of them wrong",
  "0 failed calls; wrong ones refused with file and line",
  () =>
    withWeir(CONFIG, 1, async (weir) => {
      let failed = 0;
      let answered = 0;
      let over = false;
      const client = async () => {
        while (!over) {
          const found = await ask(weir.url, "fast").catch(() => ({ status: 0 }));
          if (found.status === 200) answered++;
          else failed++;
          await Bun.sleep(10);
        }
      };
      const clients = Array.from({ length: 6 }, client);
      const outcomes = () =>
        weir.log.filter((line) => /the configuration was reloaded|reload failed/.test(line));
      for (let n = 0; n < 100; n++) {
        weir.configure(n % 2 === 0 ? `${CONFIG}strict: ${n % 4 === 0}\n` : `${CONFIG}nonsense: ${n}\n`);
        weir.signal("SIGHUP");
        await until(() => outcomes().length > n);
      }
      over = true;
      await Promise.all(clients);
      const taken = outcomes().filter((line) => line.includes("was reloaded")).length;
      const refused = outcomes().filter((line) =>
        /previous configuration is still active: weir\.yaml:2: unknown option nonsense/.test(line),
      ).length;
      return {
        measured: `${taken} taken, ${refused} refused with file and line, ${failed} of ${answered + failed} calls failed`,
        holds: taken === 50 && refused === 50 && failed === 0 && answered > 100,
      };
    }),
);

const REJECTING = `import { definePlugin } from "weir";
export default definePlugin({
  name: "rejecting",
  hooks: { done() { for (let n = 0; n < 100; n++) void Promise.reject(new Error("nobody awaits this")); } },
});`;

goal(23, "1,000 unhandled promise rejections", "0 exits; every one in the log", () =>
  withWeir(
    CONFIG,
    1,
    async (weir) => {
      for (let n = 0; n < 10; n++) await ask(weir.url, "fast");
      const rejections = () => weir.log.filter((line) => line.includes("unhandled rejection")).length;
      await until(() => rejections() >= 1_000, 8_000);
      const alive = (await ask(weir.url, "fast")).status === 200;
      return {
        measured: `${rejections()} in the log, the gateway ${alive ? "answers" : "is gone"}`,
        holds: alive && rejections() >= 1_000,
      };
    },
    { "rejecting.ts": REJECTING },
  ),
);
