/**
 * Measures the proofs of the books that open pages ask for, on a store that seed.ts has made: one of all rows, and then those of five
 * tabs, each of which asks on its load and once a minute, while calls run. `main` is processor time of the keeper's own thread.
 *
 *     bun test/bench/console/proofs.ts FOLDER [MINUTES]
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Database } from "bun:sqlite";
import { runningGateways } from "../../../src/run/run-file.ts";
import { serve, until } from "../../helpers/serving.ts";

const TABS = 5;
const MINUTE_MS = 60_000;
/** Of the clock of processes. Milliseconds. */
const TICK_MS = 10;
/** A key of the store: see seed.ts. */
const KEY = "seed 0";

interface Row {
  at: number;
  ms: number;
  calls: number;
  full_ms: number;
}

async function measure(folder: string, minutes: number): Promise<void> {
  const gateway = await serve({ config: "{}", workers: 2, binary: false, env: { WEIR_STATE: folder } });
  try {
    const entry = () =>
      runningGateways({ XDG_RUNTIME_DIR: join(gateway.folder, "run") }).find(({ admin }) => admin);
    await until(() => entry() !== undefined, MINUTE_MS);
    const { url, credential } = entry()!.admin!;
    const prove = async (query: string) => {
      const headers = { authorization: `Bearer ${credential}` };
      // A proof of all rows takes minutes.
      const response = await fetch(`${url}/admin/v1/audit/books${query}`, { headers, timeout: false });
      return (await response.json()) as { holds: boolean };
    };
    const db = new Database(join(folder, "weir.db"), { readonly: true });
    const row = () => db.query<Row, []>("SELECT at, ms, calls, full_ms FROM proof").get();
    if (!row()) console.log("all rows hold:", (await prove("")).holds);
    console.log(`the proof of all rows took ${row()!.full_ms} ms`);
    const proofs: Row[] = [];
    let last = row()!.at;
    const main = () => mainMs(gateway.keeper()!);
    const before = main();
    const tabs = Array.from({ length: TABS }, async (_, tab) => {
      await Bun.sleep((tab * MINUTE_MS) / TABS);
      for (let minute = 0; minute < minutes; minute++) {
        const began = main();
        await prove("?age=60");
        const found = row()!;
        if (found.at !== last) {
          last = found.at;
          proofs.push(found);
          console.log(`${found.ms} ms, main ${main() - began} ms, ${found.calls} calls since the full one`);
        }
        await Bun.sleep(MINUTE_MS);
      }
    });
    let isOpen = true;
    const calls = (async () => {
      for (; isOpen; await Bun.sleep(100)) await call(gateway.url);
    })();
    await Promise.all(tabs);
    isOpen = false;
    await calls;
    const longest = Math.max(...proofs.map(({ ms }) => ms));
    console.log(`${proofs.length} proofs in ${minutes + 1} minutes, the longest ${longest} ms`);
    console.log(`the keeper's own thread was busy for ${main() - before} ms`);
  } finally {
    await gateway.end();
  }
}

async function call(url: string): Promise<void> {
  const response = await fetch(`${url}/v1/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${KEY}` },
    body: JSON.stringify({ model: "mock/chat", messages: [{ role: "user", content: "Hello" }] }),
  });
  await response.text();
}

/** Processor time of the first thread of a process. */
function mainMs(pid: number): number {
  const [user, system] = readFileSync(`/proc/${pid}/task/${pid}/stat`, "utf8")
    .split(") ")[1]!
    .split(" ")
    .slice(11, 13);
  return (Number(user) + Number(system)) * TICK_MS;
}

const [folder, minutes = "5"] = process.argv.slice(2);
if (folder === undefined) throw new Error("name the folder of the store");
await measure(folder, Number(minutes));
