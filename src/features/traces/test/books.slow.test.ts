/** Traces of a gateway whose keeper is a process of its own. */
import { afterEach, expect, setDefaultTimeout, test } from "bun:test";
import { type BooksOptions, type RunningBooks, startBooks } from "../../../../test/books/running.ts";
import { parsePrometheus, valueOf } from "../../../../test/helpers/prometheus.ts";
import { ask, until } from "../../../../test/helpers/serving.ts";
import { startReceiver } from "../../../../test/helpers/telemetry.ts";

setDefaultTimeout(180_000);

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const clean of cleanups.splice(0).reverse()) await clean();
});

function receiver(status?: () => number) {
  const started = startReceiver(status);
  cleanups.push(() => started.stop());
  return started;
}

async function start(
  config: Record<string, unknown>,
  more: Partial<BooksOptions> = {},
): Promise<RunningBooks> {
  const started = await startBooks({ workers: 2, config, ...more });
  cleanups.push(() => started.end());
  return started;
}

async function scrape({ admin }: RunningBooks): Promise<string> {
  return (await fetch(`${admin.url}/metrics`)).text();
}

async function spans(weir: RunningBooks, result: string): Promise<number> {
  const families = parsePrometheus(await scrape(weir));
  return families.has("weir_spans_total") ? valueOf(families, "weir_spans_total", { result }) : NaN;
}

test("while the collector is away calls go on, spans beyond the queue are dropped and counted, and the log says so once", async () => {
  const weir = await start({ traces: { to: "http://127.0.0.1:1" }, log: { format: "json" } });
  const calls = 10_400;
  let next = 0;
  let failed = 0;
  await Promise.all(
    Array.from({ length: 40 }, async () => {
      while (next++ < calls) if ((await ask(weir.url, "mock/echo")).status !== 200) failed++;
    }),
  );
  expect(failed).toBe(0);
  // Two spans a call, of which 20,000 wait.
  expect(await until(async () => (await spans(weir, "dropped")) === calls * 2 - 20_000, 20_000)).toBe(true);
  const said = weir.log.filter((line) => line.includes("trace collector"));
  expect(said.length).toBeGreaterThan(0);
  expect(said.length).toBeLessThan(4);
  expect(said[0]).toContain("http://127.0.0.1:1");
  weir.signal("SIGTERM");
  expect(await weir.exited).toBe(0);
});

test("what the collector took or refused is counted in the metrics", async () => {
  let status = 200;
  const collector = receiver(() => status);
  const weir = await start({ traces: { to: collector.url } });
  expect(await until(async () => (await spans(weir, "refused")) === 0)).toBe(true);
  await ask(weir.url, "mock/echo");
  expect(await until(async () => (await spans(weir, "exported")) === 2, 20_000)).toBe(true);
  status = 403;
  await ask(weir.url, "mock/echo");
  expect(await until(async () => (await spans(weir, "refused")) === 2, 20_000)).toBe(true);
  expect(await spans(weir, "dropped")).toBe(0);
});

test("a reload begins, moves and ends traces", async () => {
  const [first, second] = [receiver(), receiver()];
  const weir = await start({});
  await ask(weir.url, "mock/echo");
  const reload = async (config: object) => {
    weir.configure(JSON.stringify(config));
    expect(weir.run("reload")).toMatchObject({ code: 0 });
  };
  const names = ({ spans }: typeof first) => spans().filter(({ kind }) => kind === 2).length;
  await reload({ traces: { to: first.url } });
  await ask(weir.url, "mock/echo");
  const exported = async (wanted: number) => (await spans(weir, "exported")) === wanted;
  expect(await until(() => exported(2), 20_000)).toBe(true);
  // The last calls of a collector reach it when it is replaced.
  await ask(weir.url, "mock/echo");
  await Bun.sleep(300);
  await reload({ traces: { to: second.url } });
  await ask(weir.url, "mock/echo");
  expect(await until(() => exported(6), 20_000)).toBe(true);
  await reload({});
  await ask(weir.url, "mock/echo");
  weir.signal("SIGTERM");
  await weir.exited;
  expect([names(first), names(second)]).toEqual([2, 1]);
});

test("calls that end while the keeper is away have their spans when the next one runs", async () => {
  const collector = receiver();
  const weir = await start({ traces: { to: collector.url } });
  expect(await until(async () => (await spans(weir, "exported")) === 0)).toBe(true);
  const killed = weir.keeper()!;
  process.kill(killed, "SIGKILL");
  const answers = await Promise.all(Array.from({ length: 20 }, () => ask(weir.url, "mock/echo")));
  expect(answers.every(({ status }) => status === 200)).toBe(true);
  expect(await until(() => ![undefined, killed].includes(weir.keeper()))).toBe(true);
  const calls = () => collector.spans().filter(({ kind }) => kind === 2).length;
  expect(await until(() => calls() === 20, 20_000)).toBe(true);
});
