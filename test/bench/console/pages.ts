/**
 * Measures every operation that pages of the console ask for, on a store that seed.ts has made: how long each takes, and how long
 * calls take beside them.
 *
 *     bun test/bench/console/pages.ts FOLDER [ROUNDS]
 */
import { runningGateways } from "../../../src/run/run-file.ts";
import { join } from "node:path";
import { sessionAt } from "./seed.ts";
import { serve, until } from "../../helpers/serving.ts";

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
/** A key of the store: see seed.ts. */
const KEY = "seed 0";

/** Paths below `/admin/v1`. @param now milliseconds since 1970 */
function requests(now: number): readonly string[] {
  const [hour, day, month] = [HOUR_MS, DAY_MS, 30 * DAY_MS].map((ms) => now - ms);
  return [
    "/session",
    "/overview",
    "/calls?limit=100",
    "/calls?limit=100&outcome=failed",
    "/calls?limit=100&retried=true",
    "/calls?limit=100&slowerThan=8150",
    "/calls?limit=100&key=key_399",
    "/calls?limit=100&path=/team-19",
    "/calls?limit=100&provider=provider-4&state=uncertain",
    "/calls?limit=100&q=name-11",
    "/calls?limit=100&q=nothing",
    `/calls?limit=100&from=${day! - DAY_MS}&to=${day}`,
    "/calls?limit=100&session=00000000deadbeef",
    "/calls?limit=100&client=none",
    "/calls?limit=100&asked=nothing",
    ...["cost", "took", "first", "tokens"].map((sort) => `/calls?limit=60&sort=${sort}&from=${day}`),
    `/calls?limit=60&sort=cost&from=${month}`,
    `/calls?limit=60&sort=cost&from=${month}&key=key_0`,
    `/calls?limit=60&session=${sessionAt(now - 3 * HOUR_MS, 0)}`,
    `/calls?limit=60&q=${sessionAt(now - 3 * HOUR_MS, 0)}`,
    "/calls?limit=60&session=unknown",
    "/calls?limit=60&id=chatcmpl-unknown",
    `/calls?limit=60&status=5xx|429&-model=model-0&cost=>0.01`,
    `/calls/summary?from=${day}&status=5xx|429&-model=model-0`,
    `/calls/summary?from=${hour}`,
    `/calls/summary?from=${day}`,
    `/calls/summary?from=${month}`,
    "/calls/summary",
    `/calls/summary?from=${month}&outcome=failed`,
    `/calls/summary?from=${month}&key=key_0`,
    `/calls/summary?from=${month}&key=key_399`,
    `/calls/summary?from=${month}&state=uncertain`,
    `/calls/summary?from=${day}&q=name-11`,
    `/usage?by=day,model&from=${month}`,
    `/usage?by=hour,path&from=${day}`,
    `/usage?by=key&from=${month}`,
    `/usage?by=path,model&from=${month}`,
    `/usage?by=day,key&from=${month}`,
    "/usage?by=provider",
    "/providers",
    `/providers?from=${day}`,
    `/providers?from=${month}`,
    "/calls/running",
    "/names",
    "/models",
    "/keys?limit=500",
    "/budgets?limit=500",
    "/rates",
    "/routing/chat",
    "/config",
    "/prices?limit=100",
    "/prices/missing",
    "/cache?by=client",
    "/cache/sessions",
    `/sessions?from=${day}`,
    `/sessions?from=${month}`,
    "/invoices",
    "/audit/log",
    "/assumptions",
    "/store",
  ];
}

/** Rounds of calls without pages and with them, alternating. */
const ROUNDS = 10;
const CALLS = 400;
const AT_ONCE = 8;

/** How long streamed calls take while a browser asks for all pages again and again. */
async function beside(url: string, look: () => Promise<unknown>): Promise<void> {
  const times: Record<"alone" | "beside", number[]> = { alone: [], beside: [] };
  for (let round = 0; round < ROUNDS; round++) {
    times.alone.push(...(await callsOf(url)));
    let isLooking = true;
    const looking = (async () => {
      while (isLooking) await look();
    })();
    times.beside.push(...(await callsOf(url)));
    isLooking = false;
    await looking;
  }
  for (const [name, list] of Object.entries(times)) {
    list.sort((a, b) => a - b);
    const at = (share: number) => list[Math.floor(list.length * share)]!.toFixed(2);
    console.log(
      `streamed calls ${name.padEnd(6)} p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, max ${at(0.9999)} ms`,
    );
  }
}

/** @returns milliseconds of each call */
async function callsOf(url: string): Promise<number[]> {
  const times: number[] = [];
  const body = { model: "mock/chat", stream: true, messages: [{ role: "user", content: "Hello" }] };
  const line = async () => {
    for (let count = 0; count < CALLS / AT_ONCE; count++) {
      const began = performance.now();
      const response = await fetch(`${url}/v1/chat/completions`, {
        method: "POST",
        headers: { "content-type": "application/json", authorization: `Bearer ${KEY}` },
        body: JSON.stringify(body),
      });
      if ((await response.text()).includes("[DONE]")) times.push(performance.now() - began);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, line));
  return times;
}

async function measure(folder: string, rounds: number): Promise<void> {
  const gateway = await serve({ config: "{}", workers: 2, binary: false, env: { WEIR_STATE: folder } });
  try {
    const entry = () =>
      runningGateways({ XDG_RUNTIME_DIR: join(gateway.folder, "run") }).find(({ admin }) => admin);
    await until(() => entry() !== undefined, 60_000);
    const { url, credential } = entry()!.admin!;
    const headers = { authorization: `Bearer ${credential}` };
    const read = async (path: string) => {
      const began = performance.now();
      const response = await fetch(`${url}/admin/v1${path}`, { headers });
      const text = await response.text();
      return { ms: performance.now() - began, status: response.status, bytes: text.length, text };
    };
    const [{ id } = { id: "none" }] = JSON.parse((await read("/calls?limit=1")).text).calls as {
      id: string;
    }[];
    for (const path of [
      ...requests(Date.now()),
      `/calls/${id}`,
      "/calls/req_AAAAAAAAAAAAAAAAAAAAAAAA",
      "/calls/other",
    ]) {
      const first = await read(path);
      const times = [];
      for (let round = 0; round < rounds; round++) times.push((await read(path)).ms);
      times.sort((a, b) => a - b);
      const cells = [first.ms, times[Math.floor(rounds / 2)]!, times.at(-1)!].map((ms) =>
        ms.toFixed(0).padStart(6),
      );
      console.log(`${cells.join(" ")} ms ${String(first.status)} ${String(first.bytes).padStart(8)} ${path}`);
    }
    await beside(gateway.url, () => Promise.all(requests(Date.now()).map((path) => read(path))));
  } finally {
    await gateway.end();
  }
}

const [folder, rounds = "5"] = process.argv.slice(2);
if (folder === undefined) throw new Error("name the folder of the store");
console.log(" first median    max     status bytes");
await measure(folder, Number(rounds));
