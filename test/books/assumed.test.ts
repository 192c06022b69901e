/** What the books assume because it cannot be known: listed one by one, while weir runs and from its folder. */
import { afterEach, expect, setDefaultTimeout, test } from "bun:test";
import type { Assumed } from "../../src/cli/books/assumed.ts";
import { until } from "../helpers/serving.ts";
import { json, startUpstream } from "../helpers/upstream.ts";
import { startBooks } from "./running.ts";
import { completion } from "./stress.ts";

setDefaultTimeout(60_000);

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const clean of cleanups.splice(0).reverse()) await clean();
});

test("weir usage --assumed lists silent attempts and what killed workers held, and their sum", async () => {
  const upstream = startUpstream(async ({ path, body }) => {
    if (!path.endsWith("/chat/completions")) return json({ object: "list", data: [] });
    const { model } = JSON.parse(body.toString()) as { model: string };
    return model === "m" ? json(completion()) : new Promise<never>(() => {});
  });
  cleanups.push(() => upstream.stop());
  const host = { baseUrl: `${upstream.url}/v1`, speaks: "chat-completions", models: ["m", "silent"] };
  const weir = await startBooks({
    workers: 2,
    config: {
      providers: { host, patient: { ...host, models: ["waits"] } },
      prices: { "*/*": { input: 0, output: 0, request: 0.01 } },
      budgets: { eng: { on: "all", every: "total", limit: 1, mode: "hard" } },
      timeouts: { firstByteMs: 5_000 },
      retries: { attempts: 1 },
    },
  });
  cleanups.push(() => weir.end());
  const ask = (model: string) =>
    fetch(`${weir.url}/v1/chat/completions`, {
      method: "POST",
      headers: { "content-type": "application/json", connection: "close" },
      body: JSON.stringify({ model, max_tokens: 5, messages: [{ role: "user", content: "hi" }] }),
    }).then(
      async (response) => {
        await response.text();
        return response.status;
      },
      () => 0,
    );
  expect(weir.run("usage", "--assumed").output).toContain("Nothing was assumed.");
  expect(await ask("host/m")).toBe(200);
  expect(await ask("host/silent")).toBe(504);
  const read = () => JSON.parse(weir.run("usage", "--assumed", "--json").output) as Assumed;
  expect(await until(() => read().calls.length === 1, 5_000)).toBe(true);
  expect(read().amounts).toEqual([]);
  const cut = Promise.all([ask("patient/waits"), ask("patient/waits"), ask("patient/waits")]);
  expect(await until(() => upstream.open >= 3, 3_000)).toBe(true);
  for (const pid of weir.workers()) process.kill(pid, "SIGKILL");
  expect(await cut).toEqual([0, 0, 0]);
  const held = () => (read().amounts ?? []).reduce((sum, { amount }) => sum + amount, 0);
  expect(await until(() => held() === 30_000_000, 10_000)).toBe(true);
  const { output } = weir.run("usage", "--assumed");
  expect(output).toMatch(/\$0\.01\d* +host\/silent +no-bytes +req_/);
  expect(output).toMatch(/ eng +worker \d ended while calls were running/);
  expect(output).toContain("$0.04 were assumed.");
  // The amounts belong to no call, so a filter leaves them out.
  expect(weir.run("usage", "--assumed", "--model", "silent").output).toContain("$0.01 were assumed.");
  weir.signal("SIGTERM");
  await weir.exited;
  expect(weir.run("usage", "--assumed", "--state", weir.state).output).toContain("$0.04 were assumed.");
  const prune = weir.run("store", "prune", "--state", weir.state);
  expect([prune.code, prune.output]).toEqual([1, expect.stringContaining("Only a gateway that runs knows")]);
});
