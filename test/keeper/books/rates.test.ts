/** Rate limits over several workers: never more than the limit, what is not used comes back, and the clock cannot be cheated. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { RateAccount } from "../../../src/keeper/books/rate-account.ts";
import { sqliteStore } from "../../../src/keeper/store/sqlite-store.ts";
import type { RateLimit } from "../../../src/ledger/policy.ts";
import { declaredOf, type Opened, openBooks, rateOf, settle, TestWorker } from "./simulation.ts";

setDefaultTimeout(120_000);

const RPM = "r:rate:rpm";
const TPM = "r:rate:tpm";
const PLACES = "r:rate:concurrency";

async function workersOf(
  opened: Opened,
  rate: RateLimit,
  count: number,
  cells?: string,
): Promise<TestWorker[]> {
  const declared = declaredOf([], [rate]);
  const workers = Array.from({ length: count }, (_, n) => new TestWorker(opened.books, n, declared, cells));
  await opened.clock.advance(1);
  return workers;
}

/** Whether one call of `need` is admitted; it waits as long as the keeper needs. */
async function tryOne(
  { clock }: Opened,
  worker: TestWorker,
  account: string,
  need: number,
): Promise<boolean> {
  const asked = worker.hold([{ account, need }]);
  await settle();
  const answered = await Promise.race([asked.then(() => true), Promise.resolve(false)]);
  if (!answered) await clock.advance(1);
  return (await asked) === undefined;
}

test("20,000 tries at 100 a second over four workers admit the rate and the burst, and at most 1 % less", async () => {
  const opened = await openBooks();
  const workers = await workersOf(opened, rateOf({ rpm: 6_000 }, { rpm: 50 }), 4);
  const began = opened.clock.time;
  let admitted = 0;
  for (let n = 0; n < 20_000; n++) {
    // Demand that moves from worker to worker, and four times the limit.
    const worker = workers[Math.floor(n / 37) % 4]!;
    if (await tryOne(opened, worker, RPM, 1)) {
      admitted++;
      worker.settle(RPM, 1, 1);
    }
    if (n % 2 === 0) await opened.clock.advance(4);
  }
  const most = ((opened.clock.time - began) / 1_000) * 100 + 50;
  expect(admitted).toBeLessThanOrEqual(Math.ceil(most));
  expect(admitted).toBeGreaterThan(most * 0.99);
  await opened.books.close();
}, 120_000);

test("of 50 parallel calls of 1,000 tokens ten pass a limit of 10,000, and the others learn when there is room", async () => {
  const opened = await openBooks();
  const workers = await workersOf(opened, rateOf({ tpm: 10_000 }), 4);
  const calls = Array.from({ length: 50 }, (_, n) => workers[n % 4]!.hold([{ account: TPM, need: 1_000 }]));
  await opened.clock.advance(200);
  const refusals = (await Promise.all(calls)).flatMap((refused) => refused ?? []);
  expect(refusals.length).toBe(40);
  // 1,000 tokens take six seconds.
  const waits = refusals.map(({ resetsAt }) => resetsAt! - opened.clock.wall());
  expect(Math.max(...waits)).toBeLessThanOrEqual(6_000);
  expect(Math.min(...waits)).toBeGreaterThan(5_000);
  await opened.books.close();
});

test("tokens that a call did not use are there for a call of another worker", async () => {
  const opened = await openBooks();
  const [first, second] = (await workersOf(opened, rateOf({ tpm: 10_000 }), 2)) as [TestWorker, TestWorker];
  expect(await tryOne(opened, first, TPM, 10_000)).toBe(true);
  expect(await tryOne(opened, second, TPM, 5_000)).toBe(false);
  first.settle(TPM, 10_000, 2_000);
  expect(await tryOne(opened, second, TPM, 5_000)).toBe(true);
  await opened.books.close();
});

test("a call that needs more than the limit ever has is refused without a time", async () => {
  const opened = await openBooks();
  const [worker] = (await workersOf(opened, rateOf({ tpm: 100 }), 1)) as [TestWorker];
  const refused = worker.hold([{ account: TPM, need: 101 }]);
  await opened.clock.advance(200);
  const [refusal] = (await refused)!;
  expect(refusal).toMatchObject({ account: TPM, limit: 100, left: 100 });
  expect(refusal!.resetsAt).toBeUndefined();
  await opened.books.close();
});

test("of five places never six are taken, and those of a killed worker are free", async () => {
  const cells = mkdtempSync(join(tmpdir(), "weir-places-"));
  const dead = new Set<string | undefined>();
  const opened = await openBooks({ cells, isAlive: (file) => !dead.has(file) });
  const [first, second] = (await workersOf(opened, rateOf({ concurrency: 5 }), 2, cells)) as [
    TestWorker,
    TestWorker,
  ];
  for (let n = 0; n < 3; n++) expect(await tryOne(opened, first, PLACES, 1)).toBe(true);
  for (let n = 0; n < 2; n++) expect(await tryOne(opened, second, PLACES, 1)).toBe(true);
  expect(await tryOne(opened, second, PLACES, 1)).toBe(false);
  first.settle(PLACES, 1, 0);
  expect(await tryOne(opened, second, PLACES, 1)).toBe(true);
  expect(await tryOne(opened, second, PLACES, 1)).toBe(false);
  dead.add(first.cells.file);
  first.kill();
  await opened.clock.advance(50);
  expect(await tryOne(opened, second, PLACES, 1)).toBe(true);
  expect(await tryOne(opened, second, PLACES, 1)).toBe(true);
  expect(await tryOne(opened, second, PLACES, 1)).toBe(false);
  await opened.books.close();
  rmSync(cells, { recursive: true, force: true });
});

test("places that calls have taken stay taken while the keeper is replaced", async () => {
  const folder = mkdtempSync(join(tmpdir(), "weir-places-"));
  const path = join(folder, "weir.db");
  const isAlive = () => true;
  const first = await openBooks({ store: sqliteStore(path), cells: folder, isAlive });
  const [worker] = (await workersOf(first, rateOf({ concurrency: 2 }), 1, folder)) as [TestWorker];
  expect(await tryOne(first, worker, PLACES, 1)).toBe(true);
  first.kill();
  worker.disconnect();
  await first.store.close();
  const next = await openBooks({ clock: first.clock, store: sqliteStore(path), cells: folder, isAlive });
  worker.connect(next.books);
  await next.clock.advance(10);
  expect(await tryOne(next, worker, PLACES, 1)).toBe(true);
  expect(await tryOne(next, worker, PLACES, 1)).toBe(false);
  await next.books.close();
  rmSync(folder, { recursive: true, force: true });
});

test("a clock that jumps by an hour in either direction gives nothing back, also over a restart", async () => {
  const folder = mkdtempSync(join(tmpdir(), "weir-clock-"));
  const path = join(folder, "weir.db");
  const first = await openBooks({ store: sqliteStore(path) });
  const rate = rateOf({ rpd: 100 });
  const [worker] = (await workersOf(first, rate, 1)) as [TestWorker];
  expect(await tryOne(first, worker, "r:rate:rpd", 100)).toBe(true);
  for (const jump of [3_600_000, -7_200_000]) {
    first.clock.jump += jump;
    await first.clock.advance(10);
    expect(await tryOne(first, worker, "r:rate:rpd", 1)).toBe(false);
  }
  worker.settle("r:rate:rpd", 100, 100);
  const closed = first.books.close();
  await first.clock.advance(3_000);
  await closed;
  first.clock.jump -= 3_600_000;
  const next = await openBooks({ clock: first.clock, store: sqliteStore(path) });
  const [later] = (await workersOf(next, rate, 1)) as [TestWorker];
  expect(await tryOne(next, later, "r:rate:rpd", 1)).toBe(false);
  await next.books.close();
  rmSync(folder, { recursive: true, force: true });
});

test("a node with a part of a limit says when the whole limit has its next slot", () => {
  const clock = { wall: () => 0, monotonic: () => 0, after: () => () => {} };
  for (const part of [1, 0.5, 1 / 7]) {
    const account = new RateAccount(rateOf({ rpd: 20 }), "rpd", clock, { set() {} }, part);
    account.grant("life", account.available(), false);
    account.level = 0;
    // A day of 20 requests has a slot every 4,320 s.
    expect(account.refusal(1).resetsAt).toBe(4_320_000);
  }
});
