/**
 * `bun run many`: three gateways on one PostgreSQL with 10,000 keys. Measures how long they take to start, and their memory, and lets
 * 1,000 calls at once go to all three under a hard budget for 100. Exits with 1 if other than 100 are answered. `--keys N`
 */
import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { postgresStore } from "../../src/keeper/store/postgres/store.ts";
import { digestOf, makeKeyText } from "../../src/ledger/keys/form.ts";
import { DOLLAR } from "../../src/ledger/money.ts";
import type { RunningBooks } from "../books/running.ts";
import { missingPostgres, startPostgres } from "../helpers/postgres.ts";
import { until } from "../helpers/serving.ts";
import { ACTOR, key as keyEntry } from "../keeper/books/make.ts";
import { endNode, startNodes } from "./nodes.ts";
import { startProvider } from "./provider.ts";

const NODES = 3;
const CALLS = 1_000;
/** What a call costs, and the budget. Dollars. */
const COST = 0.01;
const LIMIT = 1;
/** Keys are saved so many at a time. */
const PARALLEL = 3;

async function saveKeys(url: string, count: number): Promise<string[]> {
  const store = postgresStore(url, { node: "maker", queryMs: 30_000 });
  await store.open();
  const texts = Array.from({ length: count }, () => makeKeyText("call"));
  let next = 0;
  const save = async () => {
    for (let at = next++; at < count; at = next++) {
      const digests = [{ sha256: digestOf(texts[at]!) }];
      await store.saveKey(keyEntry(`key_${at}`, { name: `key-${at}`, digests }), ACTOR);
    }
  };
  await Promise.all(Array.from({ length: PARALLEL }, save));
  await store.close();
  return texts;
}

/** Memory of a process that it does not share with others; MB. */
function memoryOf(pid: number): number {
  const text = readFileSync(`/proc/${pid}/smaps_rollup`, "utf8");
  return Math.round(Number(/^Pss:\s+(\d+)/m.exec(text)?.[1]) / 1_024);
}

async function call({ url }: RunningBooks, credential: string): Promise<number> {
  const response = await fetch(`${url}/v1/chat/completions`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${credential}`,
      "content-type": "application/json",
      connection: "close",
    },
    body: JSON.stringify({
      model: "host/m",
      max_tokens: 5,
      messages: [{ role: "user", content: "many calls" }],
    }),
    keepalive: false,
  });
  await response.text();
  return response.status;
}

async function main(): Promise<number> {
  if (missingPostgres) throw new Error(missingPostgres);
  const { values } = parseArgs({ options: { keys: { type: "string", default: "10000" } } });
  const server = await startPostgres();
  const provider = startProvider(0);
  const config = { prices: { "host/*": { input: 0, output: 0, request: COST } } };
  const keys = await saveKeys(server.url, Number(values.keys));
  const began = performance.now();
  const nodes = await startNodes({ database: server.url, provider, count: NODES, workers: 2, config });
  try {
    const seconds = ((performance.now() - began) / 1_000).toFixed(1);
    const some = Array.from({ length: 60 }, (_, n) => keys[Math.floor((n * keys.length) / 60)]!);
    const admitted = await Promise.all(some.flatMap((one) => nodes.map((node) => call(node, one))));
    console.log(
      `${NODES} gateways with ${keys.length} keys started at once in ${seconds} s; ${admitted.filter((status) => status === 200).length} of ${admitted.length} calls with their keys were answered`,
    );
    for (const node of nodes)
      console.log(
        `memory: keeper ${memoryOf(node.keeper()!)} MB, workers ${node.workers().map(memoryOf).join(" and ")} MB, supervisor ${memoryOf(node.pid)} MB`,
      );
    const key = nodes[0]!.createKey("limited", "--budget", String(LIMIT), "--hard");
    await until(async () =>
      (await Promise.all(nodes.map((node) => node.api.ask("GET /budgets")))).every(
        ({ budgets }) => budgets.length > 0,
      ),
    );
    const before = provider.bills.get("many")?.calls ?? 0;
    const at = performance.now();
    const answers = await Promise.all(Array.from({ length: CALLS }, (_, n) => call(nodes[n % NODES]!, key)));
    const count = (status: number) => answers.filter((one) => one === status).length;
    const reached = provider.bills.get("many")!.calls - before;
    const spent = async () => (await nodes[0]!.budget("limited")).windows[0]!.spent;
    await until(async () => (await spent()) === LIMIT * DOLLAR, 20_000);
    console.log(
      `${CALLS} calls at once under a budget for ${LIMIT / COST}: ${count(200)} answered, ${count(429)} refused, ${CALLS - count(200) - count(429)} others in ${((performance.now() - at) / 1_000).toFixed(1)} s; the provider was asked ${reached} times, and $${(await spent()) / DOLLAR} are booked`,
    );
    return count(200) === LIMIT / COST && reached === LIMIT / COST ? 0 : 1;
  } finally {
    await Promise.all(nodes.map(endNode));
    await provider.stop();
    await server.close();
  }
}

process.exit(await main());
