/**
 * `bun run roll`: two gateways on one PostgreSQL behind nginx are upgraded in turn, ten times each, under load that repeats nothing.
 * Counts what clients and nginx lost, and compares the books with the provider's own bill. Exits with 1 if anything is lost or differs.
 * `--calls N`, `--upgrades N` of each gateway and `--streams N` make it shorter or longer; `--log FILE` keeps the logs of the gateways.
 */
import { writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import type { RunningBooks } from "../books/running.ts";
import { nginx, startNginx } from "../helpers/nginx.ts";
import { missingPostgres, startPostgres } from "../helpers/postgres.ts";
import { until } from "../helpers/serving.ts";
import { type Counted, SteadyLoad } from "../helpers/steady-load.ts";
import { endNode, portOf, startNodes } from "./nodes.ts";
import { type Provider, startProvider } from "./provider.ts";

const STREAM_MS = 20_000;
const KEYS = 8;
/** The budget of each key. Dollars. */
const LIMIT = 1_000;
/** Nothing follows an upgrade so fast as another one. Milliseconds. */
const REST_MS = 1_000;

interface Settings {
  calls: number;
  /** Of each gateway. */
  upgrades: number;
  /** At the same time. */
  streams: number;
  /** File that takes the logs of the gateways. */
  log?: string;
}

function settings(): Settings {
  const option = (otherwise: string) => ({ type: "string", default: otherwise }) as const;
  const { values } = parseArgs({
    args: process.argv.slice(2),
    options: {
      calls: option("50000"),
      upgrades: option("10"),
      streams: option("20"),
      log: { type: "string" },
    },
  });
  const [calls, upgrades, streams] = [+values.calls, +values.upgrades, +values.streams];
  return { calls, upgrades, streams, ...(values.log !== undefined && { log: values.log }) };
}

/** Upgrades the gateways in turn, evenly over the calls. @returns seconds that each took */
async function upgradeInTurn(nodes: readonly RunningBooks[], load: SteadyLoad, wanted: Settings) {
  const took: number[] = [];
  const all = wanted.upgrades * nodes.length;
  for (let at = 0; at < all; at++) {
    await until(() => load.counted.answered >= (wanted.calls / (all + 1)) * (at + 1), 120_000);
    const node = nodes[at % nodes.length]!;
    const began = performance.now();
    const { code, output } = await node.runBeside("upgrade", "--port", String(portOf(node)));
    if (code !== 0) throw new Error(output);
    took.push((performance.now() - began) / 1_000);
    await Bun.sleep(REST_MS);
  }
  return took;
}

/** What the books say, key by key, beside the provider's bill. @returns a line for each difference */
async function differences(nodes: readonly RunningBooks[], provider: Provider): Promise<string[]> {
  const wrong: string[] = [];
  const compare = (what: string, booked: object, billed: object) => {
    const [left, right] = [booked, billed].map((each) => JSON.stringify(each));
    if (left !== right) wrong.push(`${what}: booked ${left}, billed ${right}`);
  };
  const { rows } = await nodes[0]!.api.ask("GET /usage", { query: { by: ["key"] } });
  for (const [name, bill] of provider.bills) {
    const row = rows.find(({ keyName }) => keyName === name);
    compare(
      `calls of ${name}`,
      { calls: row?.calls, cost: row?.cost, assumed: row?.assumed },
      { ...bill, assumed: 0 },
    );
    for (const [at, node] of nodes.entries()) {
      const [window] = (await node.budget(name)).windows;
      const { spent, assumed, overrun } = window!;
      compare(
        `budget of ${name} at gateway ${at}`,
        { spent, assumed, overrun },
        { spent: bill.cost, assumed: 0, overrun: 0 },
      );
    }
  }
  return wrong;
}

const totalOf = (provider: Provider) =>
  [...provider.bills.values()].reduce(
    (sum, { calls, cost }) => ({ calls: sum.calls + calls, cost: sum.cost + cost }),
    { calls: 0, cost: 0 },
  );

async function main(): Promise<number> {
  const missing = missingPostgres ?? (nginx ? undefined : "nginx is not installed");
  if (missing) throw new Error(missing);
  const wanted = settings();
  const server = await startPostgres();
  const provider = startProvider(STREAM_MS);
  const nodes = await startNodes({
    ...{ database: server.url, provider, count: 2, workers: 2 },
    config: { graceMs: 2 * STREAM_MS },
  });
  const proxy = startNginx(nodes.map(portOf), false);
  try {
    const keys = Array.from({ length: KEYS }, (_, at) => `key-${at}`).map((name) => ({
      ...{ name, key: nodes[0]!.createKey(name, "--budget", String(LIMIT), "--hard") },
    }));
    await Bun.sleep(1_000);
    let asked = 0;
    const ask = () => {
      const { name, key } = keys[asked++ % KEYS]!;
      return { key, text: `${name} asks for the ${asked}. time.` };
    };
    const models = { call: "host/m", stream: "host/m" };
    const began = performance.now();
    const load = new SteadyLoad({
      port: proxy.port,
      ask,
      models,
      fresh: 60,
      kept: 8,
      streams: wanted.streams,
    });
    const took = await upgradeInTurn(nodes, load, wanted);
    await until(() => load.counted.answered >= wanted.calls, 600_000);
    const counted = await load.stop();
    const seconds = Math.round((performance.now() - began) / 1_000);
    await until(async () => (await differences(nodes, provider)).length === 0, 10_000);
    const wrong = await differences(nodes, provider);
    if (wanted.log) writeFileSync(wanted.log, nodes.flatMap(({ log }) => log).join("\n"));
    const audit = nodes[0]!.run("audit", "--port", String(portOf(nodes[0]!)));
    return report({
      counted,
      took,
      seconds,
      wrong,
      audit,
      total: totalOf(provider),
      left: provider.left,
      refusals: proxy.errors(),
    });
  } finally {
    await Promise.all(nodes.map(endNode));
    await proxy.stop();
    await provider.stop();
    await server.close();
  }
}

interface Found {
  counted: Counted;
  took: readonly number[];
  seconds: number;
  wrong: readonly string[];
  audit: { code: number; output: string };
  total: { calls: number; cost: number };
  left: number;
  refusals: readonly string[];
}

/** @returns the exit code */
function report({ counted, took, seconds, wrong, audit, total, left, refusals }: Found): number {
  const { answered, streamed, refused, cut, others } = counted;
  console.log(`${took.length} upgrades in ${seconds} s; each took up to ${Math.max(...took).toFixed(1)} s`);
  console.log(`${answered} answers, ${streamed} of them streams of ${STREAM_MS / 1_000} s`);
  console.log(`refused connections: ${refused} of clients, ${refusals.length} of nginx`);
  console.log(`cut answers: ${cut}; streams that the provider saw end early: ${left}`);
  console.log(`answers that are not 200: ${others.length}`);
  console.log(
    `provider's bill: ${total.calls} calls, ${total.cost} nano-dollars; differences of the books: ${wrong.length}`,
  );
  const lines = others.map(
    (text) => `${text.split("\r\n", 1)[0]} … ${text.split("\r\n\r\n")[1]?.slice(0, 160)}`,
  );
  for (const line of [...refusals, ...lines, ...wrong].slice(0, 20)) console.log(`  ${line}`);
  if (audit.code !== 0) console.log(audit.output);
  const faults = [refused, refusals.length, cut, left, others.length, wrong.length, audit.code];
  return faults.every((fault) => fault === 0) && total.calls === answered ? 0 : 1;
}

process.exit(await main());
