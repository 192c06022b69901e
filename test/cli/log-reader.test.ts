/** The process and whatever reads its log: a reader that stalls, one that is gone, and names that clients choose. */
import { afterEach, expect, test } from "bun:test";
import { ask, serve, type Serving, until } from "../helpers/serving.ts";
import { stalledReader } from "../helpers/stalled-reader.ts";

let running: Serving | undefined;

afterEach(async () => {
  await running?.end();
  running = undefined;
});

/** Each call logs a fault of 20 KB. */
const TALKATIVE = `import { definePlugin } from "weir";
export default definePlugin({
  name: "talkative",
  hooks: { done() { throw new Error("x".repeat(20_000)); } },
});`;

const countIn = (text: string, pattern: RegExp) => text.match(pattern)?.length ?? 0;

test("a log reader that stalls costs log lines, which are counted; calls and the stop go on", async () => {
  const reader = stalledReader();
  const weir = await serve({
    config: "graceMs: 1000\n",
    workers: 1,
    plugins: { "talkative.ts": TALKATIVE },
    stdout: reader.descriptor,
  });
  running = weir;
  const CALLS = 200;
  for (let n = 0; n < CALLS; n++) expect((await ask(weir.url, "mock/chat")).status).toBe(200);
  let text = "";
  const dropped = () =>
    [...text.matchAll(/(\d+) log lines were dropped/g)].reduce((sum, [, count]) => sum + Number(count), 0);
  const kept = () => countIn(text, /^\{.*"(outcome|detail)":.*\}$/gm);
  // The reader may have taken some lines in between, and there are two reports then.
  const isComplete = () => {
    text += reader.read();
    return dropped() > 0 && kept() + dropped() >= 2 * CALLS;
  };
  if (!(await until(isComplete, 20_000))) throw new Error(`${kept()} lines and ${dropped()} dropped ones`);
  expect(text.length).toBeLessThan(3_000_000);
  // The reader reads no more, and the gateway ends all the same.
  for (let n = 0; n < CALLS; n++) expect((await ask(weir.url, "mock/chat")).status).toBe(200);
  weir.signal("SIGTERM");
  expect(await weir.exited).toBe(0);
  reader.close();
}, 600_000);

test("lines of several workers are whole, also when the reader is slow", async () => {
  const reader = stalledReader();
  const weir = await serve({
    config: "",
    workers: 2,
    plugins: { "talkative.ts": TALKATIVE.replace("20_000", "3_000") },
    stdout: reader.descriptor,
  });
  running = weir;
  let text = "";
  const reading = setInterval(() => (text += reader.read()), 400);
  const client = async () => {
    for (let n = 0; n < 50; n++) await ask(weir.url, "mock/chat");
  };
  await Promise.all([client(), client(), client(), client()]);
  const isDone = () => countIn(text, /"outcome":"complete"/g) === 200;
  expect(await until(isDone, 20_000)).toBe(true);
  clearInterval(reading);
  const workers = new Set<number>();
  for (const line of text.split("\n").slice(0, -1))
    workers.add((JSON.parse(line) as { worker: number }).worker);
  expect(workers.size).toBe(2);
  reader.close();
}, 600_000);

test("a log reader that is gone ends no call, and is reported once", async () => {
  const reader = stalledReader();
  const weir = await serve({ config: "", workers: 1, stdout: reader.descriptor });
  running = weir;
  reader.close();
  for (let n = 0; n < 3; n++) {
    expect((await ask(weir.url, "mock/chat")).status).toBe(200);
    await Bun.sleep(50);
  }
  const reports = () => weir.log.filter((line) => line.includes("the log can no longer be written"));
  expect(await until(() => reports().length > 0)).toBe(true);
  expect(reports().length).toBe(1);
}, 600_000);

test("a client's model name forges no line of the readable log", async () => {
  const weir = await serve({ config: "log: { format: pretty }\n", workers: 1 });
  running = weir;
  expect((await ask(weir.url, "x\n12:00:00  200  complete\x1b[2J\x9b31m\u202e")).status).toBeGreaterThan(399);
  expect(await until(() => weir.log.some((line) => line.includes("12:00:00  200")))).toBe(true);
  expect(weir.log.filter((line) => line.startsWith("12:00:00"))).toEqual([]);
  expect(weir.log.join("")).not.toMatch(/[\p{Cc}\p{Cf}]/u);
}, 600_000);
