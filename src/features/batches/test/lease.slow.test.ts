/** A worker that stands still for longer than its lease, a restart of weir, and a reload. */
import { afterAll, beforeAll, expect, onTestFinished, setDefaultTimeout, test } from "bun:test";
import { readdirSync, readlinkSync } from "node:fs";
import { type Serving, until } from "../../../../test/helpers/serving.ts";
import { clientOf, endOf, House } from "./processes.ts";

setDefaultTimeout(300_000);

let house: House;

beforeAll(() => (house = new House()));
afterAll(() => house.end());

const texts = (name: string, lines: number) => Array.from({ length: lines }, (_, at) => `${name} ${at}`);

async function started(more: object = {}): Promise<Serving> {
  const gateway = await house.start(2, more);
  onTestFinished(() => gateway.end());
  return gateway;
}

/** The worker that has the journal of a runner open. */
function runnerOf(gateway: Serving, id: string, fence: number): number | undefined {
  const journal = `${id.slice("batch_".length)}/journal-${fence}`;
  return gateway.workers().find((pid) =>
    readdirSync(`/proc/${pid}/fd`).some((fd) => {
      try {
        return readlinkSync(`/proc/${pid}/fd/${fd}`).endsWith(journal);
      } catch {
        return false;
      }
    }),
  );
}

/** How often the provider was asked for each of these texts, in their order. */
const asked = (all: readonly string[]) => all.map((text) => house.provider.asked.get(text) ?? 0);

const count = (results: ReadonlyMap<number, string>, what: string) =>
  [...results.values()].filter((one) => one === what).length;

test("a worker that stood still for longer than its lease writes nothing, and another one has the batch", async () => {
  const gateway = await started();
  house.provider.delay = [200, 300];
  const all = texts("still", 900);
  const id = await house.batch(gateway, all);
  expect(await until(() => runnerOf(gateway, id, 1) !== undefined, 60_000)).toBe(true);
  await Bun.sleep(1_000);
  const first = runnerOf(gateway, id, 1)!;
  // The supervisor would end a worker that stands still.
  process.kill(gateway.pid, "SIGSTOP");
  process.kill(first, "SIGSTOP");
  try {
    expect(await until(() => runnerOf(gateway, id, 2) !== undefined, 60_000)).toBe(true);
    expect(runnerOf(gateway, id, 2)).not.toBe(first);
    await Bun.sleep(500);
  } finally {
    process.kill(first, "SIGCONT");
    await Bun.sleep(1_000);
    process.kill(gateway.pid, "SIGCONT");
  }
  const batch = await endOf(gateway, id);
  const results = house.results(batch);
  const lost = count(results, "upstream_lost");
  expect([results.size, count(results, "200")]).toEqual([900, 900 - lost]);
  expect(lost).toBeGreaterThan(0);
  expect(lost).toBeLessThanOrEqual(8);
  expect(Math.max(...asked(all))).toBe(1);
});

test("a restart in order and a reload cut no line, and ask for none again", async () => {
  house.provider.delay = [500, 900];
  const before = await started({ graceMs: 20_000 });
  const all = texts("restart", 120);
  const id = await house.batch(before, all);
  expect(await until(() => asked(all).some((times) => times > 0), 60_000)).toBe(true);
  before.configure(JSON.stringify(house.provider.config({ graceMs: 20_000, batches: { concurrency: 4 } })));
  before.signal("SIGHUP");
  expect(await until(() => before.log.some((line) => line.includes("reload")), 20_000)).toBe(true);
  await Bun.sleep(1_500);
  before.signal("SIGTERM");
  await before.exited;
  expect(house.provider.open).toBe(0);
  expect(Math.max(...asked(all))).toBe(1);
  const ended = asked(all).filter((times) => times === 1).length;
  expect(ended).toBeLessThan(120);
  const gateway = await started();
  const began = Date.now();
  const batch = await endOf(gateway, id);
  expect([count(house.results(batch), "200"), Math.max(...asked(all))]).toEqual([120, 1]);
  console.log(`${ended} of 120 lines ended before the restart, the others ${Date.now() - began} ms after it`);
});

test("calls of a batch that was cancelled stop within a second", async () => {
  house.provider.delay = [50, 100];
  const gateway = await started();
  const all = texts("cancel", 500);
  const id = await house.batch(gateway, all);
  expect(await until(() => asked(all).some((times) => times > 0), 60_000)).toBe(true);
  await Bun.sleep(Math.random() * 1_000);
  await clientOf(gateway).batches.cancel(id);
  await Bun.sleep(1_000);
  const since = asked(all).filter((times) => times > 0).length;
  const batch = await endOf(gateway, id);
  const results = house.results(batch);
  expect([batch.status, results.size]).toEqual(["cancelled", 500]);
  expect([count(results, "200"), count(results, "batch_cancelled")]).toEqual([since, 500 - since]);
  expect(asked(all).filter((times) => times > 0).length).toBe(since);
});
