/** Alerts of a budget while its gateway runs: each percentage once a window, in the log and in the metrics. */
import { afterEach, expect, setDefaultTimeout, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runningGateways } from "../../src/run/run-file.ts";
import { TARGET } from "../helpers/gateway.ts";
import { type ParsedFamily, parsePrometheus, valueOf } from "../helpers/prometheus.ts";
import { ask, serve, type Serving, until } from "../helpers/serving.ts";
import { json, startUpstream } from "../helpers/upstream.ts";
import { completion } from "./stress.ts";

setDefaultTimeout(60_000);

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const clean of cleanups.splice(0).reverse()) await clean();
});

test("a budget reports 80 and 100 % once, over two workers, a killed keeper and a restart", async () => {
  const upstream = startUpstream(() => json(completion()));
  cleanups.push(() => upstream.stop());
  const state = mkdtempSync(join(tmpdir(), "weir-alerts-"));
  cleanups.push(() => rmSync(state, { recursive: true, force: true }));
  const config = JSON.stringify({
    log: { format: "json" },
    providers: { host: { baseUrl: `${upstream.url}/v1`, speaks: "chat-completions", models: ["m"] } },
    prices: { "host/*": { input: 0, output: 0, request: 0.01 } },
    budgets: { eng: { on: "all", every: "total", limit: 0.1, mode: "watch" } },
  });
  const start = async () => {
    const binary = TARGET === "binary";
    const serving = await serve({ config, workers: 2, binary, env: { WEIR_STATE: state } });
    cleanups.push(() => serving.end());
    return serving;
  };
  const call = async ({ url }: Serving, times: number) => {
    for (let n = 0; n < times; n++) expect((await ask(url, "host/m")).status).toBe(200);
  };
  const scrape = async ({ folder }: Serving) => {
    const [running] = runningGateways({ XDG_RUNTIME_DIR: join(folder, "run") });
    const response = await fetch(`${running!.admin!.url}/metrics`).catch(() => undefined);
    return response ? parsePrometheus(await response.text()) : new Map<string, ParsedFamily>();
  };
  const counted = async (serving: Serving) => {
    const families = await scrape(serving);
    const of = (percent: string) =>
      families.has("weir_budget_alerts_total")
        ? valueOf(families, "weir_budget_alerts_total", { budget: "eng", percent })
        : NaN;
    return [of("80"), of("100")].join();
  };
  const logged = ({ log }: Serving) =>
    log.flatMap((line) => /the budget \\"eng\\" has reached (\d+) %/.exec(line)?.[1] ?? []);

  const first = await start();
  expect(await until(async () => (await counted(first)) === "0,0")).toBe(true);
  await call(first, 7);
  await Bun.sleep(200);
  expect(await counted(first)).toBe("0,0");
  await call(first, 2);
  expect(await until(async () => (await counted(first)) === "1,0")).toBe(true);
  await call(first, 4);
  expect(await until(async () => (await counted(first)) === "1,1")).toBe(true);
  await until(() => logged(first).length >= 2);
  expect(logged(first)).toEqual(["80", "100"]);
  // What is reported is in the store before the keeper is killed.
  await Bun.sleep(300);
  process.kill(first.keeper()!, "SIGKILL");
  await call(first, 4);
  const records = async () => valueOf(await scrape(first), "weir_records_total");
  expect(await until(async () => (await counted(first)) === "0,0" && (await records()) === 4, 10_000)).toBe(
    true,
  );
  expect(logged(first)).toEqual(["80", "100"]);
  first.signal("SIGTERM");
  expect(await first.exited).toBe(0);

  const second = await start();
  await call(second, 4);
  expect(await until(async () => valueOf(await scrape(second), "weir_records_total") === 4, 10_000)).toBe(
    true,
  );
  expect([await counted(second), logged(second)]).toEqual(["0,0", []]);
});
