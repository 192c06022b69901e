/** A metric of a planted feature: a declaration and one line that counts, from a call to the scrape. */
import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadConfig } from "../../src/config/load.ts";
import { counter } from "../../src/core/metric.ts";
import { type Feature, workersOf } from "../../src/feature/feature.ts";
import type { Seams, WorkerHost } from "../../src/gateway/seams.ts";
import { startWeir } from "../../src/run/weir.ts";
import { parsePrometheus } from "../helpers/prometheus.ts";
import { ask, until } from "../helpers/serving.ts";

const passed = counter("weir_passed_total", ["operation"], "Requests that passed the planted feature.");
const unused = counter("weir_unused_total", [], "A metric that counts nothing.");

function featureOf(isOn: boolean): Feature {
  const start = ({ meter }: WorkerHost) => {
    const seams: Seams = {
      around: {
        at: "guard",
        run: (entry, next) => {
          meter.add(passed, [entry.operation]);
          return next();
        },
      },
    };
    return { seams: () => (isOn ? seams : undefined) };
  };
  return { name: "planted", metrics: [passed, unused], worker: () => Promise.resolve({ start }) };
}

const folder = mkdtempSync(join(tmpdir(), "weir-metric-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function start(isOn: boolean) {
  const { config } = loadConfig({ flags: { "--port": "0" }, env: {}, cwd: folder });
  const weir = await startWeir({
    ...{ config, env: {}, write: () => {}, adminCredential: "credential-of-the-run" },
    workers: workersOf([featureOf(isOn)]),
  });
  await weir.books();
  const { admin } = weir;
  if (!admin || !("url" in admin)) throw new Error("the admin API is off");
  const headers = { authorization: "Bearer credential-of-the-run" };
  const families = async () =>
    parsePrometheus(await (await fetch(`${admin.url}/metrics`, { headers })).text());
  return { weir, families };
}

test("a feature that is on has its metrics in a scrape", async () => {
  const { weir, families } = await start(true);
  try {
    for (let call = 0; call < 3; call++) expect((await ask(weir.url, "mock/echo")).status).toBe(200);
    const read = async () => (await families()).get("weir_passed_total")?.samples;
    expect(await until(async () => (await read())?.[0]?.value === 3)).toBe(true);
    expect(await read()).toEqual([{ name: passed.name, labels: { operation: "generate" }, value: 3 }]);
    expect((await families()).get("weir_unused_total")?.samples[0]?.value).toBe(0);
  } finally {
    await weir.stop();
  }
}, 60_000);

test("a feature that is off has none", async () => {
  const { weir, families } = await start(false);
  try {
    expect((await ask(weir.url, "mock/echo")).status).toBe(200);
    // The worker reports once a second.
    const hasCall = async () => (await families()).get("weir_calls_total") !== undefined;
    expect(await until(hasCall)).toBe(true);
    await Bun.sleep(1_200);
    const names = [...(await families()).keys()];
    expect(names.filter((name) => name === passed.name || name === unused.name)).toEqual([]);
  } finally {
    await weir.stop();
  }
}, 60_000);
