/** Goals about the life of the process: stopping, reloading, and faults nobody awaits. Against the compiled binary. */
import { beforeAll } from "bun:test";
import { ask, serve, type Serving, until } from "../helpers/serving.ts";
import { buildBinary } from "./armour.ts";
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

goal(19, "workers that end one after the other under calls", "0 refused", () =>
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
    const clients = Array.from({ length: 8 }, client);
    for (let round = 0; round < 4; round++) {
      const [first] = weir.workers();
      process.kill(first!, "SIGTERM");
      await until(() => weir.workers().length === 2 && !weir.workers().includes(first!));
      await Bun.sleep(600);
    }
    over = true;
    await Promise.all(clients);
    const share = failed / (failed + answered);
    return {
      measured: `4 workers replaced under ${answered} calls, ${failed} of them refused`,
      holds: share < 0.005,
      ...(failed > 0 && {
        short:
          "the system hands connections that wait in a listener's queue to nobody when that listener closes; a client's own repetition meets another worker",
      }),
    };
  }),
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

goal(20, "streams that are longer than the grace", "all get an error event; exit ≤ grace + 1 s", () =>
  withWeir(
    `${CONFIG}graceMs: 1500\n`,
    2,
    async (weir) => {
      const streams = [
        ...openStreams(weir.url, "mock/stall-after-3", 100),
        ...openStreams(weir.url, "talking/on", 20),
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
        holds: told === texts.length && code === 0,
        inTime: took <= 2_500,
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
        weir.log.filter((line) => /the config was loaded again|stays as it was/.test(line));
      for (let n = 0; n < 100; n++) {
        weir.configure(n % 2 === 0 ? `${CONFIG}strict: ${n % 4 === 0}\n` : `${CONFIG}nonsense: ${n}\n`);
        weir.signal("SIGHUP");
        await until(() => outcomes().length > n);
      }
      over = true;
      await Promise.all(clients);
      const taken = outcomes().filter((line) => line.includes("loaded again")).length;
      const refused = outcomes().filter((line) =>
        /stays as it was: weir\.yaml:2: unknown option nonsense/.test(line),
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

goal(23, "1,000 rejections nobody awaits", "0 exits; every one in the log", () =>
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
