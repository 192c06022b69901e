/** One runner against a provider, a keeper and a disk that fail, in this process. */
import { expect, onTestFinished, setDefaultTimeout, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { smallDisk } from "../../../../test/helpers/small-disk.ts";
import { until } from "../../../../test/helpers/serving.ts";
import { NO_USAGE } from "../../../core/events.ts";
import type { Attempt, Call } from "../../../core/call.ts";
import { HELD_BEFORE } from "../../../core/ledger.ts";
import { carrierOf, type Prepared } from "../../../gateway/lanes/carrier.ts";
import type { WorkerHost } from "../../../gateway/seams.ts";
import { type Batch, endedLines, mayMove, moved } from "../batch.ts";
import type { Booked } from "../booked.ts";
import { batchLine, onBooked } from "../columns.ts";
import type { BatchAnswer, Progress, RunnerId } from "../messages.ts";
import { Ends } from "../run/ends.ts";
import { Runner } from "../run/runner.ts";
import { Slots } from "../run/slots.ts";
import { createKeptId } from "../../../core/kept-id.ts";
import { MemoryFiles } from "./memory-files.ts";

setDefaultTimeout(60_000);

const COST = 7;
const LOST_COST = 11;
const KEY = Buffer.alloc(32, 7).toString("base64url");

interface Answer {
  readonly status?: number;
  readonly cost?: number;
  readonly text?: string;
}

/** A batch with its provider and its keeper. */
class Scene {
  readonly files = new MemoryFiles();
  /** Numbers of lines in the order in which the provider was asked. */
  readonly asked: number[] = [];
  /** Lines and tries that were booked as lost. */
  readonly lost: [line: number, attempt: number][] = [];
  batch!: Batch;
  fence = 0;
  isAway = false;
  booked: Booked[] = [];
  open = 0;
  /** States and reasons that the keeper was told. */
  readonly told: string[] = [];
  answer: (line: number) => Promise<Answer> = async () => ({});

  constructor(readonly folder = mkdtempSync(join(tmpdir(), "weir-runner-"))) {
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  }

  async begin(lines: number, more: Partial<Batch> = {}): Promise<void> {
    const texts = Array.from({ length: lines }, (_, at) => ({
      ...{ custom_id: `l${at + 1}`, method: "POST", url: "/v1/chat/completions" },
      body: { model: "m", messages: [{ role: "user", content: "x" }] },
    }));
    const file = await this.files.input(texts);
    await this.files.hold(file.id, "b");
    const now = Date.now();
    this.batch = {
      ...{
        id: createKeptId(now),
        path: "/",
        endpoint: "/v1/chat/completions",
        state: "checking",
        how: "run",
      },
      ...{ window: 3_600_000, metadata: {}, inputFile: file.id, lines: 0 },
      ...{ done: 0, failed: 0, cancelled: 0, late: 0, createdAt: now, deadline: now + 3_600_000 },
      ...{ faults: [], usage: { input: 0, cached: 0, output: 0, reasoning: 0 }, cost: 0, held: 0 },
      ...more,
    };
  }

  runner({ lease = 60_000, graces = { late: 60_000, cancelled: 60_000 }, again = false } = {}): Runner {
    return new Runner({
      run: {
        ...{ batch: this.batch, owner: { path: "/", address: "" }, fence: ++this.fence, key: KEY },
        ...{ folder: join(this.folder, "batch"), until: Date.now() + lease },
      },
      host: {
        call: this.#call,
        callerOfKey: () => undefined,
        isOpen: () => true,
        principal: () => {
          throw new Error("no key");
        },
        fault: () => {},
      },
      files: this.files,
      slots: new Slots({ most: 4, isFree: () => Promise.resolve(), yieldMs: () => 0 }),
      settings: { retries: 3, again, limits: { lines: 100_000 } },
      ends: new Ends(graces),
      tell: async (progress) => this.#tell(progress),
      reserve: async () => ({ batch: this.batch }),
      booked: async () => ({ booked: this.booked }),
    });
  }

  /** Codes and statuses by line. */
  get results(): Map<number, string> {
    const found = new Map<number, string>();
    for (const id of [this.batch.outputFile, this.batch.errorFile])
      for (const { custom_id, error, response } of id === undefined ? [] : this.files.lines(id)) {
        const line = Number(String(custom_id).slice(1));
        expect(found.has(line)).toBe(false);
        const { code } = (error ?? {}) as { code?: string };
        found.set(line, code ?? String((response as { status_code: number }).status_code));
      }
    return found;
  }

  count(code: string): number {
    return [...this.results.values()].filter((one) => one === code).length;
  }

  #tell({ fence, to, facts }: Progress & RunnerId): BatchAnswer {
    if (this.isAway) throw new Error("the keeper is away");
    if (fence !== this.fence) return { refused: "stale" };
    if (to) this.told.push(facts?.reason === undefined ? to : `${to}: ${facts.reason}`);
    const known = { ...this.batch, ...facts };
    this.batch = to && mayMove(known, to) ? moved(known, to, Date.now(), facts?.reason) : known;
    return { batch: this.batch };
  }

  /** As the gateway brings a call to its carrier. */
  async #carry(call: Call): Promise<void> {
    const attempt = { wasSent: false } as Attempt;
    const carried = carrierOf.get(call)!.carry({} as Prepared, attempt);
    await expect(carried).rejects.toThrow("may have answered");
    expect(attempt.wasSent).toBe(true);
  }

  readonly #call: WorkerHost["call"] = async ({ signal }, inner) => {
    const call = { id: "req_1" } as Call;
    inner.begins(call);
    const { number: line, attempt, lost } = batchLine.get(call)!;
    if (lost) {
      this.lost.push([line, attempt + 1]);
      expect(HELD_BEFORE.get(call)).toBe("lost");
      await this.#carry(call);
      onBooked.get(call)!(LOST_COST);
      return new Response("{}", { status: 502 });
    }
    this.asked.push(line);
    this.open++;
    const gone = Promise.withResolvers<Answer>();
    signal.addEventListener("abort", () => gone.resolve({ status: 0 }));
    const { status = 200, cost = COST, text = "{}" } = await Promise.race([this.answer(line), gone.promise]);
    this.open--;
    onBooked.get(call)!(cost);
    if (status === 0) throw new Error("the client went away");
    return new Response(text, { status });
  };
}

const all = (lines: number) => Array.from({ length: lines }, (_, at) => at + 1);
const sorted = (numbers: readonly number[]) => numbers.toSorted((a, b) => a - b);

test("a lease that ran out holds lines, and they go on when it is renewed", async () => {
  const scene = new Scene();
  await scene.begin(20);
  scene.answer = () => Bun.sleep(20).then(() => ({}));
  const runner = scene.runner({ lease: 0 });
  const end = runner.run();
  await Bun.sleep(300);
  expect(scene.asked).toEqual([]);
  runner.hold(Date.now() + 60_000);
  await end;
  expect([scene.batch.state, sorted(scene.asked)]).toEqual(["done", all(20)]);
});

test("a runner whose batch another one has writes nothing more, and the other asks for no line again", async () => {
  const scene = new Scene();
  await scene.begin(40);
  scene.answer = () => Bun.sleep(30).then(() => ({}));
  const first = scene.runner();
  const end = first.run();
  await until(() => scene.asked.length > 10);
  const second = scene.runner();
  const other = second.run();
  first.lose();
  await Promise.all([end, other]);
  const lost = scene.count("upstream_lost");
  expect(scene.results.size).toBe(40);
  expect(sorted(scene.asked)).toEqual(all(40));
  expect(lost).toBeGreaterThan(0);
  expect(scene.batch).toMatchObject({ state: "done", done: 40 - lost, failed: lost });
  expect(scene.lost.length).toBe(lost);
  expect(scene.batch.cost).toBe((40 - lost) * COST + lost * LOST_COST);
});

test("a runner that hears that it is stale ends, and its lines with it", async () => {
  const scene = new Scene();
  await scene.begin(40);
  scene.answer = () => Bun.sleep(200).then(() => ({}));
  const end = scene.runner().run();
  await until(() => scene.asked.length === 4);
  scene.fence++;
  await end;
  expect([scene.open, scene.asked.length < 20]).toEqual([0, true]);
  expect(scene.batch.endedAt).toBeUndefined();
});

test("weir stops: lines that run may end, and the next runner goes on with the others", async () => {
  const scene = new Scene();
  await scene.begin(30);
  scene.answer = () => Bun.sleep(50).then(() => ({}));
  const first = scene.runner();
  const end = first.run();
  await until(() => scene.asked.length > 6);
  first.leave();
  await end;
  const before = scene.asked.length;
  expect([scene.open, before < 30]).toEqual([0, true]);
  await scene.runner().run();
  expect([sorted(scene.asked), scene.count("200")]).toEqual([all(30), 30]);
  expect(scene.batch).toMatchObject({ state: "done", done: 30, failed: 0, cost: 30 * COST });
});

test("lines that weir cut itself are run again if they were not paid", async () => {
  const scene = new Scene();
  await scene.begin(4);
  const cut = Promise.withResolvers<void>();
  const text = JSON.stringify({ error: { code: "shutting_down" } });
  scene.answer = async (line) => {
    await cut.promise;
    return { status: 503, text, cost: line <= 2 ? 0 : COST };
  };
  const first = scene.runner();
  const end = first.run();
  await until(() => scene.asked.length === 4);
  first.leave();
  cut.resolve();
  await end;
  scene.answer = async () => ({});
  await scene.runner().run();
  expect(Object.fromEntries(scene.results)).toEqual({
    ...{ 1: "200", 2: "200", 3: "upstream_lost", 4: "upstream_lost" },
  });
  expect(scene.batch.cost).toBe(4 * COST);
});

test("what the books have of a line whose result was lost is counted, and what was not paid is run again", async () => {
  const scene = new Scene();
  await scene.begin(3);
  scene.answer = () => new Promise(() => {});
  const first = scene.runner();
  const end = first.run();
  await until(() => scene.asked.length === 3);
  const second = scene.runner();
  first.lose();
  await end;
  scene.answer = async () => ({});
  scene.booked = [
    { line: 1, attempt: 1, cost: 100, usage: { ...NO_USAGE, input: 3, output: 4 } },
    { line: 2, attempt: 1, cost: 0, usage: NO_USAGE },
  ];
  await second.run();
  expect(Object.fromEntries(scene.results)).toEqual({ 1: "upstream_lost", 2: "200", 3: "upstream_lost" });
  expect(scene.lost).toEqual([[3, 1]]);
  expect(scene.batch).toMatchObject({ cost: 100 + COST + LOST_COST, usage: { input: 3, output: 4 } });
});

test("a keeper that is away holds a batch up, and ends no line of it", async () => {
  const scene = new Scene();
  await scene.begin(20);
  scene.answer = () => Bun.sleep(20).then(() => ({}));
  const end = scene.runner().run();
  await until(() => scene.asked.length > 4);
  scene.isAway = true;
  await until(() => scene.asked.length === 20);
  await Bun.sleep(1_500);
  expect(scene.batch.state).toBe("running");
  scene.isAway = false;
  await end;
  expect([scene.batch.state, sorted(scene.asked)]).toEqual(["done", all(20)]);
  expect(scene.told).not.toContain("paused");
});

test("a disk that is full pauses the batch, and no answer is lost", async () => {
  const disk = smallDisk(256);
  if (!disk) return;
  onTestFinished(() => disk.end());
  const scene = new Scene(disk.path);
  await scene.begin(40);
  scene.answer = () => Bun.sleep(20).then(() => ({ text: JSON.stringify({ text: "x".repeat(500) }) }));
  const end = scene.runner().run();
  await until(() => scene.asked.length > 8);
  disk.fill();
  expect(await until(() => scene.batch.state === "paused", 10_000)).toBe(true);
  expect(scene.batch.reason).toContain("ENOSPC");
  await Bun.sleep(1_000);
  disk.clear();
  await end;
  expect([sorted(scene.asked), scene.count("200")]).toEqual([all(40), 40]);
  expect(scene.batch).toMatchObject({ state: "done", done: 40, cost: 40 * COST });
});

test("a folder that cannot be made is a fault with a sentence", async () => {
  const scene = new Scene();
  await scene.begin(2);
  writeFileSync(join(scene.folder, "batch"), "");
  await expect(scene.runner().run()).rejects.toThrow("batch");
  rmSync(join(scene.folder, "batch"));
  await scene.runner().run();
  expect(scene.batch.state).toBe("done");
});

test("cancelled at any moment, no line begins any more, and all counts are right", async () => {
  for (let turn = 0; turn < 15; turn++) {
    const scene = new Scene();
    await scene.begin(30);
    scene.answer = () => Bun.sleep(5 + Math.random() * 20).then(() => ({}));
    const runner = scene.runner();
    const end = runner.run();
    await Bun.sleep(Math.random() * 250);
    if (!mayMove(scene.batch, "stopping")) continue;
    scene.batch = moved(scene.batch, "stopping", Date.now());
    runner.cancel();
    const asked = scene.asked.length;
    await end;
    const { state, lines, done, failed, cancelled } = scene.batch;
    expect([state, endedLines(scene.batch), failed]).toEqual(["stopped", lines, 0]);
    expect([scene.count("200"), scene.count("batch_cancelled")]).toEqual([done, cancelled]);
    expect(scene.asked.length).toBe(done);
    // Places that were taken already.
    expect(scene.asked.length - asked).toBeLessThanOrEqual(4);
  }
});

test("lines that do not end within the grace of a cancellation are cut", async () => {
  const scene = new Scene();
  await scene.begin(10);
  scene.answer = () => new Promise(() => {});
  const runner = scene.runner({ graces: { late: 100, cancelled: 100 } });
  const end = runner.run();
  await until(() => scene.asked.length === 4);
  scene.batch = moved(scene.batch, "stopping", Date.now());
  runner.cancel();
  await end;
  expect(scene.batch).toMatchObject({ state: "stopped", cancelled: 10, cost: 4 * COST });
});

test("behind the deadline lines that run may end, for some time, and the others are late", async () => {
  const scene = new Scene();
  await scene.begin(12, { deadline: Date.now() + 500 });
  scene.answer = (line) => (line === 3 ? new Promise(() => {}) : Bun.sleep(800).then(() => ({})));
  const end = scene.runner({ graces: { late: 1_500, cancelled: 100 } }).run();
  await end;
  expect(scene.batch).toMatchObject({ state: "late", done: 3, late: 9, failed: 0 });
  expect([scene.count("batch_expired"), sorted(scene.asked)]).toEqual([9, [1, 2, 3, 4]]);
});

test("10,000 lines of a batch that was cancelled end at once", async () => {
  const scene = new Scene();
  await scene.begin(10_000);
  const runner = scene.runner();
  runner.cancel();
  const began = performance.now();
  await runner.run();
  expect(scene.batch.cancelled).toBe(10_000);
  expect(performance.now() - began).toBeLessThan(20_000);
});
