/** Alerts of a gateway whose keeper is a process of its own. */
import { afterEach, expect, setDefaultTimeout, test } from "bun:test";
import { type BooksOptions, type RunningBooks, startBooks } from "../../../../test/books/running.ts";
import { parsePrometheus, valueOf } from "../../../../test/helpers/prometheus.ts";
import { ask, until } from "../../../../test/helpers/serving.ts";
import { startReceiver } from "../../../../test/helpers/telemetry.ts";
import { json, startUpstream } from "../../../../test/helpers/upstream.ts";

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

function upstream(handler: Parameters<typeof startUpstream>[0]) {
  const started = startUpstream(handler);
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

test("an alert says that many calls fail, and is repeated while its receiver is away", async () => {
  let status = 503;
  const hook = receiver(() => status);
  const broken = upstream(() => json({ error: { message: "out of order" } }, 500));
  const weir = await start({
    alerts: [{ to: hook.url, events: ["errors"], errorShare: 0.5 }],
    retries: { attempts: 1 },
    providers: { broken: { baseUrl: `${broken.url}/v1`, speaks: "chat-completions", models: ["m"] } },
  });
  for (let n = 0; n < 24; n++) await ask(weir.url, n % 4 === 0 ? "mock/echo" : "broken/m");
  expect(await until(() => hook.received.length === 1, 10_000)).toBe(true);
  status = 200;
  expect(await until(() => hook.received.length === 2, 10_000)).toBe(true);
  const [first, second] = hook.received.map(({ body }) => JSON.parse(body) as Record<string, unknown>);
  expect(second).toEqual(first!);
  expect(first).toMatchObject({ event: "errors", state: "begins", subject: "gateway" });
  const sent = async () => {
    const families = parsePrometheus(await scrape(weir));
    return valueOf(families, "weir_alerts_sent_total", { result: "delivered" });
  };
  expect(await until(async () => (await sent()) === 1)).toBe(true);
});

test("an alert says that the store cannot be used, also when it never could", async () => {
  const hook = receiver();
  // Nobody listens there. A file that cannot be opened would refuse the start.
  const env = { WEIR_STORE: "postgres://weir:secret@127.0.0.1:9/weir" };
  const weir = await start({ alerts: [{ to: hook.url }] }, { env });
  expect(await until(() => hook.received.length > 0, 20_000)).toBe(true);
  expect(JSON.parse(hook.received[0]!.body)).toMatchObject({ event: "store", state: "begins" });
  expect(weir.log.join("\n")).toContain("records of calls wait");
});

test("receivers follow reloads, survive one that is refused, and reach a keeper that starts again", async () => {
  const [first, second] = [receiver(), receiver()];
  const host = upstream(() => json({ error: { message: "no such key" } }, 401));
  const config = {
    providers: {
      host: { baseUrl: `${host.url}/v1`, speaks: "chat-completions", models: ["m"], apiKey: "k" },
    },
    retries: { attempts: 1 },
  };
  const of = ({ url }: typeof first) => ({ ...config, alerts: [{ to: url, events: ["credential"] }] });
  const weir = await start(config);
  const reload = (next: object) => {
    weir.configure(JSON.stringify(next));
    return weir.run("reload").code;
  };
  expect(reload(of(first))).toBe(0);
  await ask(weir.url, "host/m");
  expect(await until(() => first.received.length === 1, 20_000)).toBe(true);
  expect(reload({ ...of(second), aliases: { "host/m": "host/m" } })).not.toBe(0);
  process.kill(weir.keeper()!, "SIGKILL");
  // The next keeper has told no one of the breaker that is open.
  expect(await until(() => first.received.length === 2, 20_000)).toBe(true);
  expect(reload(of(second))).toBe(0);
  process.kill(weir.keeper()!, "SIGKILL");
  expect(await until(() => second.received.length === 1, 20_000)).toBe(true);
  expect(first.received.length).toBe(2);
});
