/** Work of parts of weir is held, charged by units, recorded and logged; a hard budget holds exactly under parallel work. */
import { afterAll, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadConfig } from "../../src/config/load.ts";
import { GatewayError } from "../../src/core/error.ts";
import type { Seams, WorkerHost } from "../../src/gateway/seams.ts";
import type { Work } from "../../src/gateway/work.ts";
import { Reports } from "../../src/keeper/reports/reports.ts";
import { sqliteStore } from "../../src/keeper/store/sqlite-store.ts";
import { DOLLAR } from "../../src/ledger/money.ts";
import type { CallRecord } from "../../src/ledger/record.ts";
import { startWeir } from "../../src/run/weir.ts";

const CENT = DOLLAR / 100;
const KEY = "weir-test-key-of-alice-0123456789";

/** A program that makes two pictures for each request. */
const PAINTER = `export default { name: "painter", providers: [{ name: "painter", models: ["picture"],
  async *generate() {
    yield { type: "message-start", id: "a", model: "picture" };
    yield { type: "block-start", index: 0, block: { type: "text" } };
    yield { type: "block-delta", index: 0, delta: "done" };
    yield { type: "block-end", index: 0 };
    const usage = { input: 1, cacheRead: 0, cacheWrite: 0, output: 1, reasoning: 0, units: { image: 2 }, known: "final" };
    yield { type: "message-end", reason: { kind: "stop" }, usage };
  } }] };`;

const folders: string[] = [];
afterAll(() => Promise.all(folders.map((folder) => rm(folder, { recursive: true, force: true }))));

type Task = Pick<Work<unknown>, "run"> & Partial<Work<unknown>>;

/** @param task done for each request of a client before its model is asked */
async function started(config: Record<string, unknown>, task: () => Task) {
  const folder = await mkdtemp(join(tmpdir(), "weir-work-"));
  folders.push(folder);
  await Bun.write(join(folder, "plugins/painter.ts"), PAINTER);
  const settingsOf = async (changed: Record<string, unknown>) => {
    const keys = [{ name: "alice", key: KEY }];
    const whole = { state: join(folder, "state"), log: { format: "json" }, keys, ...config, ...changed };
    await Bun.write(join(folder, "weir.yaml"), JSON.stringify(whole));
    return loadConfig({ flags: { "--port": "0" }, env: {}, cwd: folder });
  };
  const log: string[] = [];
  let host!: WorkerHost;
  const seams: Seams = {
    around: {
      at: "loop",
      async run({ call }, next) {
        const work = { by: "shop", name: "buy", at: "shop-1", payer: call, parent: call, units: { call: 1 } };
        await host.work({ ...work, timeoutMs: 5_000, ...task() });
        return next();
      },
    },
  };
  const part = {
    name: "shop",
    load: async () => ({ start: (given: WorkerHost) => ((host = given), { seams: () => seams }) }),
  };
  const { config: loaded } = await settingsOf({});
  const write = (text: string) => void log.push(...text.split("\n").filter((line) => line !== ""));
  const weir = await startWeir({ config: loaded, env: {}, write, workers: [part] });
  await weir.books();
  return {
    weir,
    get host() {
      return host;
    },
    log,
    settingsOf,
    ask: (model = "picture") =>
      fetch(`${weir.url}/v1/chat/completions`, {
        method: "POST",
        headers: { "content-type": "application/json", authorization: `Bearer ${KEY}` },
        body: JSON.stringify({ model, max_tokens: 10, messages: [{ role: "user", content: "hello" }] }),
      }),
    /** Stops the gateway, audits its books and returns the records: those of work, and the others. */
    async books() {
      await weir.stop();
      const store = sqliteStore(join(folder, "state/weir.db"));
      await store.open();
      const reports = new Reports(store.sql, store.sql, Date.now);
      const { checks } = await reports.audit();
      expect(checks.filter(({ holds }) => !holds)).toEqual([]);
      const { calls } = await reports.calls({ limit: 1000 });
      const [account] = await store.sql.all<{ spent: number; assumed: number }>("SELECT * FROM accounts");
      await store.close();
      const work = calls.filter(({ format }) => format === "work");
      return { work, others: calls.filter((call) => !work.includes(call)), account };
    },
  };
}

const priced = (limit: number, prices: Record<string, unknown> = {}) => ({
  prices: { "painter/*": 0, "shop/*": { units: { call: 0.01 } }, ...prices },
  budgets: { all: { on: "all", every: "total", limit, mode: "hard" } },
});

const chargesOf = (calls: readonly CallRecord[]) =>
  calls.flatMap(({ attempts }) => attempts[0]?.charge ?? []);

test("a hard budget for seven pieces of work admits seven of thirty at once, and the audit holds", async () => {
  let ran = 0;
  const run = async () => {
    ran++;
    await Bun.sleep(20);
  };
  const gateway = await started(priced(0.07), () => ({ run }));
  const answers = await Promise.all(Array.from({ length: 30 }, () => gateway.ask()));
  expect(answers.filter(({ ok }) => ok).length).toBe(7);
  expect(new Set(answers.filter(({ ok }) => !ok).map(({ status }) => status))).toEqual(new Set([429]));
  expect(ran).toBe(7);
  const { work, account } = await gateway.books();
  expect(account).toMatchObject({ spent: 7 * CENT, assumed: 0 });
  expect(work.length).toBe(30);
  const done = work.filter(({ outcome }) => outcome === "complete");
  expect(done.length).toBe(7);
  for (const { attempts, model, key, lane } of done) {
    expect({ model, lane, key: key !== undefined }).toEqual({ model: "buy", lane: "generated", key: true });
    expect(attempts).toMatchObject([
      {
        ...{ provider: "shop", deployment: "shop-1", model: "buy", held: CENT },
        usage: { units: { call: 1 } },
        charge: { state: "metered", cost: CENT },
      },
    ]);
  }
  expect(work.filter(({ refused }) => refused === "budget").length).toBe(23);
  const line = gateway.log
    .map((text) => JSON.parse(text))
    .find(({ format, status }) => format === "work" && status === 200);
  expect(line).toMatchObject({ model: "buy", key: "alice", tokens: { units: { call: 1 } } });
  expect(line.id).toStartWith(line.parent);
});

test("units that were noted are charged, at the price of the work, also where it fails", async () => {
  const tasks: Task[] = [
    {
      units: { byte: 1000, call: 2 },
      price: { byte: 0.000_000_000_5, call: 0.002 },
      async run({ used }) {
        used({ byte: 3, call: 1 });
      },
    },
    {
      price: { call: 0.002 },
      async run({ used }) {
        used({ call: 0 });
        throw new GatewayError("upstream", "The shop is closed.");
      },
    },
    {
      price: { call: 0.002 },
      async run() {
        throw new Error("the wire is cut");
      },
    },
  ];
  const gateway = await started(priced(1), () => tasks.shift()!);
  expect((await gateway.ask()).status).toBe(200);
  expect((await gateway.ask()).status).toBe(502);
  expect((await gateway.ask()).status).toBe(500);
  const { work, account } = await gateway.books();
  const charges = chargesOf(work.toReversed());
  // 3 bytes at half a nano-dollar are rounded up with the whole.
  expect(charges).toMatchObject([
    { state: "metered", cost: DOLLAR / 500 + 2 },
    { state: "metered", cost: 0 },
    { state: "assumed", cost: DOLLAR / 500 },
  ]);
  expect(account).toMatchObject({ spent: DOLLAR / 500 + 2, assumed: DOLLAR / 500 });
});

test("work whose price is unknown is refused by a hard budget, and is unpriced without one", async () => {
  const task = () => ({ units: { hour: 1 }, run: async () => {} });
  const bounded = await started(priced(1), task);
  const refused = await bounded.ask();
  expect(refused.status).toBe(403);
  expect(await refused.text()).toContain("{units: {hour: 0.01}}");
  expect((await bounded.books()).account?.spent ?? 0).toBe(0);
  const { budgets: _budgets, ...free } = priced(1);
  const unbounded = await started(free, task);
  expect((await unbounded.ask()).status).toBe(200);
  expect(chargesOf((await unbounded.books()).work)).toEqual([{ state: "unpriced", cost: 0 }]);
});

test("a rate limit of the key counts work, and refuses it before it begins", async () => {
  let ran = 0;
  const limited = { ...priced(1), rates: { few: { on: { key: "alice" }, rpm: 2 } } };
  const gateway = await started(limited, () => ({ run: async () => void ran++ }));
  const statuses = [(await gateway.ask()).status, (await gateway.ask()).status];
  expect(statuses).toEqual([200, 429]);
  expect(ran).toBe(1);
  await gateway.books();
});

test("work goes on over a reload with the price at which it was held; later work has the new one", async () => {
  const gates = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  let at = 0;
  const gateway = await started(priced(1), () => ({ run: () => gates[at++]!.promise }));
  const first = gateway.ask();
  while (at === 0) await Bun.sleep(5);
  const settings = await gateway.settingsOf(priced(1, { "shop/*": { units: { call: 0.03 } } }));
  await gateway.weir.reload({ ...settings, env: {} });
  const second = gateway.ask();
  while (at === 1) await Bun.sleep(5);
  for (const gate of gates) gate.resolve();
  expect([(await first).status, (await second).status]).toEqual([200, 200]);
  const { work, account } = await gateway.books();
  expect(chargesOf(work).map(({ cost }) => cost)).toEqual(expect.arrayContaining([CENT, 3 * CENT]));
  expect(account).toMatchObject({ spent: 4 * CENT });
});

test("work is stopped by its time and by the end of weir, and what was held is assumed", async () => {
  const gateway = await started(priced(1), () => ({ run: () => new Promise(() => {}), timeoutMs: 300 }));
  expect((await gateway.ask()).status).toBe(504);
  const { host } = gateway;
  const left = host.work({
    ...{ by: "shop", name: "buy", payer: {}, units: { call: 1 }, timeoutMs: 60_000 },
    run: () => new Promise(() => {}),
  });
  const failed = left.then(
    () => "done",
    (error: unknown) => (error instanceof GatewayError ? error.kind : "other"),
  );
  await Bun.sleep(20);
  const { account, work } = await gateway.books();
  expect(await failed).not.toBe("done");
  expect(work.map(({ outcome }) => outcome)).not.toContain("complete");
  expect(account).toMatchObject({ spent: 0, assumed: 2 * CENT });
});

test("a program's answer is charged by units too, and its lines add up", async () => {
  const prices = { "painter/*": { input: 1, output: 1, units: { image: 0.04 } } };
  const { budgets: _budgets, ...free } = priced(1, prices);
  const gateway = await started(free, () => ({ run: async () => {} }));
  expect((await gateway.ask()).status).toBe(200);
  const { others } = await gateway.books();
  expect(others[0]?.attempts).toMatchObject([
    { usage: { units: { image: 2 } }, charge: { state: "metered", cost: 8 * CENT + 2_000 } },
  ]);
});

test("without budgets, work that broke is assumed at its price, and work that nothing prices is unpriced", async () => {
  const tasks: Task[] = [
    { run: () => Promise.reject(new Error("the wire is cut")) },
    { by: "elsewhere", run: async () => {} },
  ];
  const { budgets: _budgets, ...free } = priced(1);
  const gateway = await started(free, () => tasks.shift()!);
  expect((await gateway.ask()).status).toBe(500);
  expect((await gateway.ask()).status).toBe(200);
  expect(chargesOf((await gateway.books()).work.toReversed())).toMatchObject([
    { state: "assumed", cost: CENT },
    { state: "unpriced", cost: 0 },
  ]);
});

test("work has no tokens: a limit on tokens does not hold it", async () => {
  const limited = { ...priced(1), rates: { few: { on: "all", itpm: 10 } } };
  const gateway = await started(limited, () => ({ run: async () => {} }));
  const work = { by: "shop", name: "buy", payer: {}, units: { call: 1 }, timeoutMs: 5_000 };
  let running = 0;
  const gate = Promise.withResolvers<void>();
  const both = [1, 2].map(() =>
    gateway.host.work({ ...work, run: () => (++running === 2 ? gate.resolve() : undefined, gate.promise) }),
  );
  await Promise.all(both);
  expect(running).toBe(2);
  await gateway.books();
});

test("work asks models for its payer, below it in the books, until it ends", async () => {
  const gateway = await started(priced(1), () => ({ run: async () => {} }));
  const work = { by: "shop", name: "buy", payer: {}, units: { call: 1 }, timeoutMs: 5_000 };
  let later!: () => Promise<unknown>;
  const run: Work<string>["run"] = async ({ ask }) => {
    const asked = () => ask({ model: "picture", prompt: "hello", maxTokens: 10 });
    later = asked;
    return (await asked()).text;
  };
  expect(await gateway.host.work({ ...work, run })).toBe("done");
  expect(await later().catch(({ kind }: GatewayError) => kind)).toBe("cancelled");
  const { work: done, others } = await gateway.books();
  expect(others.map(({ format, outcome }) => [format, outcome])).toEqual([["call.ask", "complete"]]);
  expect(done.map(({ id }) => `${id}.1`)).toContain(others[0]!.id);
});

test("units are whole numbers", async () => {
  const gateway = await started(priced(1), () => ({ units: { call: 0.5 }, run: async () => {} }));
  expect((await gateway.ask()).status).toBe(500);
  expect((await gateway.books()).work).toEqual([]);
});

test("a process that is killed in the middle of work leaves its hold as assumed, and the budget holds", async () => {
  const folder = await mkdtemp(join(tmpdir(), "weir-work-"));
  folders.push(folder);
  const state = join(folder, "state");
  const prices = { "shop/*": { units: { call: 0.01 } } };
  await Bun.write(
    join(folder, "weir.yaml"),
    JSON.stringify({ state, prices, budgets: priced(0.07).budgets }),
  );
  const program = join(import.meta.dir, "work-program.ts");
  const run = (...args: string[]) => {
    const { exitCode, signalCode, stdout } = Bun.spawnSync([process.execPath, program, folder, ...args]);
    return { done: Number(stdout.toString()), end: signalCode ?? exitCode };
  };
  expect(run("3", "die")).toEqual({ done: 3, end: "SIGKILL" });
  expect(run("10")).toEqual({ done: 3, end: 0 });
  const store = sqliteStore(join(state, "weir.db"));
  await store.open();
  const [account] = await store.sql.all("SELECT * FROM accounts");
  const { checks } = await new Reports(store.sql, store.sql, Date.now).audit();
  await store.close();
  expect(account).toMatchObject({ spent: 6 * CENT, assumed: CENT });
  expect(checks.filter(({ holds }) => !holds)).toEqual([]);
});
