/** What holds batches up for a while: a clock that jumps, a store that takes no writes, a disk without room, and a reload. */
import { afterAll, expect, onTestFinished, setDefaultTimeout, test } from "bun:test";
import { Database } from "bun:sqlite";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import OpenAI from "openai";
import { type RunningGateway, startGateway } from "../../../../test/helpers/gateway.ts";
import { serve, type Serving, until } from "../../../../test/helpers/serving.ts";
import { SourceCopy } from "../../../../test/helpers/source-copy.ts";
import { smallDisk } from "../../../../test/helpers/small-disk.ts";
import { clientOf, endOf, House, Provider } from "./processes.ts";

setDefaultTimeout(300_000);

const HOUR_MS = 3_600_000;

const provider = new Provider();
const root = mkdtempSync(join(tmpdir(), "weir-pauses-"));
afterAll(() => {
  provider.stop();
  rmSync(root, { recursive: true, force: true });
});

/** A gateway in this process, which has its clock. */
async function started(state: string, more: object = {}): Promise<RunningGateway> {
  const gateway = await startGateway({
    ...{ target: "source", env: { WEIR_STATE: state }, config: provider.config(more) },
  });
  onTestFinished(() => gateway.stop());
  await gateway.opened();
  return gateway;
}

function stateOf(name: string): string {
  const state = join(root, name);
  mkdirSync(state, { mode: 0o700 });
  return state;
}

async function made(client: OpenAI, name: string, lines: number): Promise<string> {
  const texts = Array.from({ length: lines }, (_, at) => {
    const body = { model: "p/m", messages: [{ role: "user", content: `${name} ${at}` }] };
    return JSON.stringify({ custom_id: `l${at}`, method: "POST", url: "/v1/chat/completions", body });
  });
  const file = await client.files.create({
    file: new File([texts.join("\n")], "in.jsonl"),
    purpose: "batch",
  });
  const { id } = await client.batches.create({
    ...{ input_file_id: file.id, endpoint: "/v1/chat/completions", completion_window: "24h" },
  });
  return id;
}

const askedOf = (name: string) =>
  [...provider.asked].filter(([text]) => text.startsWith(`${name} `)).map(([, times]) => times);

async function isWhole(
  gateway: Pick<Serving, "url" | "log">,
  id: string,
  name: string,
  lines: number,
): Promise<void> {
  const batch = await endOf(gateway, id);
  expect(batch).toMatchObject({ status: "completed", request_counts: { total: lines, completed: lines } });
  expect([askedOf(name).length, Math.max(...askedOf(name))]).toEqual([lines, 1]);
}

test("a clock that jumps forward or back by hours loses no line, and expires none", async () => {
  provider.delay = [100, 200];
  const state = stateOf("clock");
  const clock = join(root, "ahead");
  writeFileSync(clock, "0");
  const copy = new SourceCopy();
  onTestFinished(() => copy.remove());
  copy.add("movedClock", "src/features/batches/test/moved-clock.ts");
  const gateway = await serve({
    ...{ workers: 2, binary: false, root: copy.root, config: JSON.stringify(provider.config()) },
    env: { WEIR_STATE: state, MOVED_CLOCK: clock },
  });
  onTestFinished(() => gateway.end());
  const client = clientOf(gateway);
  for (const [name, ahead] of [
    ["forward", 5 * HOUR_MS],
    ["back", -5 * HOUR_MS],
  ] as const) {
    const id = await made(client, name, 200);
    expect(await until(() => askedOf(name).length >= 20, 60_000)).toBe(true);
    writeFileSync(clock, String(ahead));
    const at = performance.now();
    await isWhole(gateway, id, name, 200);
    console.log(`${name}: the rest took ${Math.round(performance.now() - at)} ms`);
    const { created_at } = await client.batches.retrieve(await made(client, `after ${name}`, 1));
    expect(Math.abs(created_at * 1_000 - (Date.now() + ahead))).toBeLessThan(HOUR_MS);
  }
});

test("a store that takes no writes for longer than a lease holds a batch up, and it goes on", async () => {
  provider.delay = [100, 200];
  const state = stateOf("locked");
  const gateway = await started(state);
  const id = await made(clientOf(gateway), "locked", 400);
  expect(await until(() => askedOf("locked").length >= 20, 60_000)).toBe(true);
  const other = new Database(join(state, "weir.db"));
  other.run("BEGIN IMMEDIATE");
  await Bun.sleep(14_000);
  other.run("ROLLBACK");
  other.close();
  await isWhole(gateway, id, "locked", 400);
});

test("a disk without room pauses a batch with a reason that clients of weir read, and no answer is lost", async () => {
  const disk = smallDisk(2_048);
  if (!disk) return;
  onTestFinished(() => disk.end());
  provider.delay = [20, 40];
  const gateway = await started(stateOf("full"), {
    batches: { concurrency: 8, yield: false, folder: disk.path },
  });
  const client = clientOf(gateway);
  const id = await made(client, "full", 300);
  expect(await until(() => askedOf("full").length >= 40, 60_000)).toBe(true);
  disk.fill();
  const reason = async () =>
    ((await client.batches.retrieve(id)) as unknown as { weir: { paused?: string } }).weir.paused;
  const isPaused = await until(async () => (await reason()) !== undefined, 20_000);
  console.log(`reason: ${await reason()}`);
  await Bun.sleep(1_000);
  const asked = askedOf("full").length;
  await Bun.sleep(1_000);
  expect([isPaused, askedOf("full").length - asked]).toEqual([true, 0]);
  disk.clear();
  await isWhole(gateway, id, "full", 300);
});

test("reloads while three batches run restart no line", async () => {
  const house = new House();
  onTestFinished(() => house.end());
  house.provider.delay = [100, 300];
  const gateway = await house.start(2);
  const names = ["one", "two", "three"];
  const texts = names.map((name) => Array.from({ length: 150 }, (_, at) => `${name} ${at}`));
  const ids: string[] = [];
  for (const all of texts) ids.push(await house.batch(gateway, all));
  const asked = (all: readonly string[]) => all.map((text) => house.provider.asked.get(text) ?? 0);
  expect(await until(() => texts.flat().some((text) => house.provider.asked.has(text)), 60_000)).toBe(true);
  for (const [turn, concurrency] of [4, 12, 6].entries()) {
    gateway.configure(JSON.stringify(house.provider.config({ batches: { concurrency, yield: turn === 1 } })));
    gateway.signal("SIGHUP");
    const reloads = () => gateway.log.filter((line) => line.includes("reload")).length;
    expect(await until(() => reloads() > turn, 20_000)).toBe(true);
    await Bun.sleep(1_000);
  }
  for (const [at, id] of ids.entries()) {
    const batch = await endOf(gateway, id);
    expect(batch).toMatchObject({
      status: "completed",
      request_counts: { total: 150, completed: 150, failed: 0 },
    });
    expect([...house.results(batch).values()].every((code) => code === "200")).toBe(true);
    expect(asked(texts[at]!).every((times) => times === 1)).toBe(true);
  }
});
