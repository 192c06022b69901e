/**
 * The keeper cannot be started again for a while, and calls go on: what is recorded and what is dropped afterwards are all calls, and
 * what they cost is counted in full. `bun run stress` makes more calls than the workers can keep; `WEIR_AWAY_MS` sets the time.
 */
import { expect, setDefaultTimeout, test } from "bun:test";
import { readFileSync } from "node:fs";
import { limitFiles, until } from "../helpers/serving.ts";
import { readStore, type RunningBooks, startBooks } from "./running.ts";
import { IS_STRESS } from "../helpers/effort.ts";

setDefaultTimeout(900_000);

const AWAY_MS = Number(process.env["WEIR_AWAY_MS"] ?? (IS_STRESS ? 30_000 : 4_000));
/** Records that two workers keep while the keeper is away. */
const KEPT = 2 * 16_384;
/** In the long variant a tenth more than is kept, evenly over the time. */
const CALLS_A_SECOND = IS_STRESS ? Math.max(100, (KEPT * 1.1) / (AWAY_MS / 1_000)) : 100;
const CENT = 10_000_000;
/** A worker may grow by the records that it keeps. Bytes. */
const MOST_GROWTH = 250 * 1024 ** 2;

async function call(url: string, key: string): Promise<number> {
  const response = await fetch(`${url}/v1/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${key}` },
    body: JSON.stringify({ model: "mock/chat", messages: [{ role: "user", content: "hello" }] }),
  });
  await response.text();
  return response.status;
}

/** Resident memory of the workers together. Bytes. */
function memoryOf(weir: RunningBooks): number {
  const read = (pid: number) =>
    Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) * 1024;
  return weir.workers().reduce((sum, pid) => sum + read(pid), 0);
}

const megabytes = (bytes: number) => Math.round(bytes / 1024 ** 2);

test("calls without a keeper are recorded or counted as dropped, and what they cost is never dropped", async () => {
  const weir = await startBooks({
    workers: 2,
    config: { prices: { "mock/*": { input: 0, output: 0, request: 0.01 } } },
  });
  try {
    const free = weir.createKey("free", "--budget", "1000000", "--watch");
    const limited = weir.createKey("limited", "--budget", "1", "--hard");
    const statuses = new Map<number, number>();
    let limitedAnswered = 0;
    const make = async (number: number) => {
      const isLimited = number % 20 === 0;
      const status = await call(weir.url, isLimited ? limited : free);
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
      if (isLimited && status === 200) limitedAnswered++;
    };
    for (let number = 0; number < 50; number++) await make(number);
    const before = memoryOf(weir);

    limitFiles(weir.pid, "8");
    process.kill(weir.keeper()!, "SIGKILL");
    expect(await until(() => weir.keeper() === undefined, 10_000)).toBe(true);
    const began = performance.now();
    let made = 50;
    let most = before;
    const loop = async () => {
      while (performance.now() - began < AWAY_MS) {
        const due = 50 + ((performance.now() - began) / 1_000) * CALLS_A_SECOND;
        if (made < due) await make(made++);
        else await Bun.sleep(5);
      }
    };
    const look = setInterval(() => (most = Math.max(most, memoryOf(weir))), 500);
    await Promise.all(Array.from({ length: 16 }, loop));
    clearInterval(look);
    expect(weir.keeper()).toBeUndefined();
    limitFiles(weir.pid, "1024");

    const freeCost = ((statuses.get(200) ?? 0) - limitedAnswered) * CENT;
    const spent = async () => (await weir.budget("free").catch(() => undefined))?.windows[0]?.spent;
    expect(await until(async () => (await spent()) === freeCost, 120_000)).toBe(true);
    const read = () =>
      readStore(weir.state, (one) => ({
        rows: one("SELECT count(*) AS value FROM calls"),
        dropped: one("SELECT coalesce(sum(value), 0) AS value FROM meta WHERE name = 'dropped_calls'"),
      }));
    expect(await until(() => read().rows + read().dropped === made, 60_000)).toBe(true);
    const { rows, dropped } = read();
    console.log(
      `${Math.round(AWAY_MS / 1_000)} s without a keeper: ${made} calls (${JSON.stringify([...statuses])}), ${rows} rows and ${dropped} dropped, $${freeCost / CENT / 100} and $${limitedAnswered / 100} spent; workers ${megabytes(before)} MB before, at most ${megabytes(most)} MB`,
    );
    // A slow machine makes fewer calls in the time. The calls are not spread evenly over the workers.
    if (made > KEPT) expect(dropped).toBeGreaterThan(0);
    if (made < KEPT / 2) expect(dropped).toBe(0);
    expect(most - before).toBeLessThan(2 * MOST_GROWTH);
    const [hard] = (await weir.budget("limited")).windows;
    expect(hard).toMatchObject({ spent: limitedAnswered * CENT, assumed: 0 });
    expect(limitedAnswered).toBeLessThanOrEqual(100);
  } finally {
    await weir.end();
  }
});
