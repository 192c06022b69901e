/**
 * Four batches at a provider that fails 5 % of its calls, while processes of the gateway are killed at random:
 *
 *     bun src/features/batches/test/crash-run.ts [LINES [KILLS [KINDS]]]
 *
 * Prints what was seen, and exits with 1 if a line has not exactly one result, was paid twice, or if the books differ from
 * what the provider answered. The default is 50,000 lines and 50 kills of the
 * kinds `worker,keeper,all`.
 */
import { Database } from "bun:sqlite";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import OpenAI from "openai";
import { serve, type Serving, until } from "../../../../test/helpers/serving.ts";
import { json, startUpstream } from "../../../../test/helpers/upstream.ts";
import { budgetOf } from "../../../../test/keeper/books/simulation.ts";
import { sqliteStore } from "../../../keeper/store/sqlite-store.ts";
import { DOLLAR } from "../../../ledger/money.ts";
import { CHARGE_STATES } from "../../../ledger/charge.ts";
import { clientOf, endOf, LINE_COST } from "./processes.ts";

const LINES = Number(process.argv[2] ?? 50_000);
const KILLS = Number(process.argv[3] ?? 50);
const KINDS = (process.argv[4] ?? "worker,keeper,all").split(",");
const BATCHES = 4;
const EACH = Math.ceil(LINES / BATCHES);
/** Share of calls that the provider refuses with 500. */
const FAILING = 0.05;
/** Milliseconds until all batches have ended, after the last kill. */
const END_MS = 1_200_000;

await using ends = new AsyncDisposableStack();

/** By the text of the line: how often the provider answered it with success. */
const paid = new Map<string, number>();
let refused = 0;
const upstream = startUpstream(async ({ body }) => {
  const { messages } = JSON.parse(body.toString()) as { messages: { content: string }[] };
  await Bun.sleep(20 + Math.random() * 100);
  if (Math.random() < FAILING) {
    refused++;
    return json({ error: { message: "It failed.", type: "server_error" } }, 500);
  }
  const said = messages.at(-1)!.content;
  paid.set(said, (paid.get(said) ?? 0) + 1);
  return json({
    ...{ id: "c_1", object: "chat.completion", created: 1, model: "m" },
    choices: [{ index: 0, message: { role: "assistant", content: said }, finish_reason: "stop" }],
    usage: { prompt_tokens: 3, completion_tokens: 5, total_tokens: 8 },
  });
});
ends.defer(() => upstream.stop());
const root = mkdtempSync(join(tmpdir(), "weir-crash-run-"));
ends.defer(() => rmSync(root, { recursive: true, force: true }));
const state = join(root, "state");
mkdirSync(state, { mode: 0o700 });
const store = sqliteStore(join(state, "weir.db"));
await store.open();
// A hard budget for all calls, so that each of them is held.
await store.saveBudget(budgetOf({ source: "store", limit: 1_000_000 * DOLLAR }), { actor: "cli" });
await store.close();

const start = () =>
  serve({
    ...{ workers: 2, binary: false, env: { WEIR_STATE: state } },
    config: JSON.stringify({
      providers: {
        p: { speaks: "chat-completions", baseUrl: `${upstream.url}/v1`, apiKey: "k-1", models: ["m"] },
      },
      prices: { "p/m": { input: 0, output: 0, request: LINE_COST / DOLLAR } },
      ...{ retries: { attempts: 1 }, log: { format: "json" }, batches: { retries: 6, yield: false } },
    }),
  });

const textOf = (batch: number, line: number) => `line ${batch}/${line}`;

async function make(gateway: Serving, batch: number): Promise<string> {
  const lines = Array.from({ length: EACH }, (_, at) =>
    JSON.stringify({
      ...{ custom_id: `l${at}`, method: "POST", url: "/v1/chat/completions" },
      body: { model: "p/m", messages: [{ role: "user", content: textOf(batch, at) }] },
    }),
  );
  const client = clientOf(gateway);
  const file = new File([lines.join("\n")], "in.jsonl");
  const { id } = await client.files.create({ file, purpose: "batch" });
  const made = await client.batches.create({
    ...{ input_file_id: id, endpoint: "/v1/chat/completions", completion_window: "24h" },
  });
  return made.id;
}

/** Of each line, from 0, its code. @throws Error if a line has two results */
async function resultsOf(client: OpenAI, { output_file_id, error_file_id }: OpenAI.Batch) {
  const found = new Map<number, string>();
  for (const id of [output_file_id, error_file_id]) {
    if (!id) continue;
    const text = await (await client.files.content(id)).text();
    for (const line of text.trimEnd().split("\n")) {
      const { custom_id, response, error } = JSON.parse(line) as {
        custom_id: string;
        response: { status_code: number } | null;
        error: { code: string } | null;
      };
      const at = Number(custom_id.slice(1));
      if (found.has(at)) throw new Error(`The line ${at} has two results.`);
      found.set(at, error?.code ?? String(response?.status_code));
    }
  }
  return found;
}

const faults: string[] = [];
function hold(promise: string, seen: unknown, expected: unknown): void {
  const holds = JSON.stringify(seen) === JSON.stringify(expected);
  if (!holds) faults.push(promise);
  const figure = holds ? JSON.stringify(seen) : `${JSON.stringify(seen)}, not ${JSON.stringify(expected)}`;
  console.log(`${holds ? "ok  " : "FAIL"}  ${promise}: ${figure}`);
}

/** Kills one of three kinds of processes. @returns the gateway that runs then */
async function kill(gateway: Serving): Promise<[which: string, gateway: Serving]> {
  const which = KINDS[Math.floor(Math.random() * KINDS.length)]!;
  if (which === "all") {
    gateway.signalGroup("SIGKILL");
    await gateway.exited;
    await gateway.end();
    return [which, await start()];
  }
  const victim = which === "keeper" ? gateway.keeper() : gateway.workers()[Math.floor(Math.random() * 2)];
  if (victim !== undefined) process.kill(victim, "SIGKILL");
  return [which, gateway];
}

async function isWhole(gateway: Serving): Promise<boolean> {
  return until(() => gateway.workers().length === 2 && gateway.keeper() !== undefined, 120_000);
}

/** What the books have of each line: `BATCH/LINE` to nano-dollars. */
function booked(): Map<string, number> {
  const db = new Database(join(state, "weir.db"), { readonly: true });
  const rows = db
    .query<{ batch: string; line: number; cost: number }, []>(
      "SELECT json_extract(detail, '$.batch') AS batch, json_extract(detail, '$.batchLine.number') - 1 AS line, SUM(cost) AS cost FROM calls GROUP BY 1, 2",
    )
    .all();
  db.close();
  return new Map(rows.map(({ batch, line, cost }) => [`${batch}/${line}`, cost]));
}

/** Of the budget, in nano-dollars. */
function spent(): { spent: number; assumed: number } {
  const db = new Database(join(state, "weir.db"), { readonly: true });
  const sums = db
    .query<{ spent: number; assumed: number }, []>(
      "SELECT SUM(spent) AS spent, SUM(assumed) AS assumed FROM accounts",
    )
    .get()!;
  db.close();
  return sums;
}

/** What is assumed, in nano-dollars: without a record of a call, and in such records. */
function assumptions(): { rows: number; ofCalls: number } {
  const db = new Database(join(state, "weir.db"), { readonly: true });
  const sum = (sql: string) => Number(Object.values(db.query<object, []>(sql).get()!)[0]);
  const assumed = CHARGE_STATES.indexOf("assumed");
  const found = {
    rows: sum("SELECT coalesce(SUM(amount), 0) FROM assumptions"),
    ofCalls: sum(`SELECT coalesce(SUM(cost), 0) FROM calls WHERE state = ${assumed}`),
  };
  const amounts = new Map<string, number[]>();
  for (const { why, amount } of db
    .query<{ why: string; amount: number }, []>("SELECT why, amount FROM assumptions ORDER BY id")
    .all())
    amounts.set(why, [...(amounts.get(why) ?? []), amount / LINE_COST]);
  for (const [why, lines] of amounts)
    console.log(`      ${why}, in lines: ${lines.length > 60 ? `${lines.length} times` : lines.join(" ")}`);
  db.close();
  return found;
}

function left(): unknown {
  const db = new Database(join(state, "weir.db"), { readonly: true });
  const one = (sql: string) => Number(Object.values(db.query<object, []>(sql).get()!)[0]);
  const found = {
    granted: one("SELECT SUM(granted) FROM accounts"),
    drawn: one("SELECT COUNT(*) FROM grants WHERE amount <> 0"),
  };
  db.close();
  return found;
}

const began = performance.now();
const kills: Record<string, number> = { worker: 0, keeper: 0, all: 0 };
let gateway = await start();
ends.defer(() => gateway.end());
await isWhole(gateway);
const ids: string[] = [];
for (let batch = 0; batch < BATCHES; batch++) ids.push(await make(gateway, batch));
for (let at = 0; at < KILLS; at++) {
  await Bun.sleep(500 + Math.random() * 6_000);
  if (!(await isWhole(gateway))) faults.push("The gateway does not become whole again.");
  const [which, next] = await kill(gateway);
  gateway = next;
  kills[which]!++;
  if (at % 10 === 9) console.error(`${at + 1} kills, ${paid.size} lines paid`);
}
const batches: OpenAI.Batch[] = [];
for (const id of ids) batches.push(await endOf(gateway, id, END_MS));
const seconds = Math.round((performance.now() - began) / 1_000);
const all = await Promise.all(batches.map((batch) => resultsOf(clientOf(gateway), batch)));
const audit = await gateway.runBeside("audit");
gateway.signal("SIGTERM");
await gateway.exited;
const books = booked();
const codes: Record<string, number> = {};
/** Lines whose call was lost, by what the provider counted and what the books have. */
const doubtful: Record<string, number> = {};
const seen = { twice: 0, wrong: 0, provider: 0, books: 0 };
/** Doubtful lines that the provider answered, and that have no record of a call, or one that is too low. */
let unbooked = 0;
/** Doubtful lines whose record costs more than one call. */
let above = 0;
for (const [batch, results] of all.entries())
  for (const [line, code] of results) {
    const count = paid.get(textOf(batch, line)) ?? 0;
    const cost = books.get(`${ids[batch]!.slice("batch_".length)}/${line}`) ?? 0;
    codes[code] = (codes[code] ?? 0) + 1;
    if (count > 1) seen.twice++;
    if (code === "upstream_lost") {
      const kind = `paid ${count}, booked ${cost / LINE_COST}`;
      doubtful[kind] = (doubtful[kind] ?? 0) + 1;
      if (cost < count * LINE_COST) unbooked++;
      if (cost > LINE_COST) above++;
      continue;
    }
    seen.provider += count * LINE_COST;
    seen.books += cost;
    if (count !== (code === "200" ? 1 : 0) || cost !== count * LINE_COST) seen.wrong++;
  }
console.log(
  `${LINES} lines, ${KILLS} kills (${JSON.stringify(kills)}), ${refused} refused calls, ${seconds} s`,
);
console.log(`endings: ${JSON.stringify(codes)}; doubtful: ${JSON.stringify(doubtful)}`);
hold(
  "each batch has completed",
  batches.map(({ status }) => status),
  ids.map(() => "completed"),
);
hold(
  "each line has one result",
  all.map(({ size }) => size),
  ids.map(() => EACH),
);
hold("no line is paid twice", seen.twice, 0);
hold("each line that is not doubtful costs in the books what the provider answered", seen.wrong, 0);
hold("their sum, in nano-dollars", seen.books, seen.provider);
const budget = spent();
const total = [...books.values()].reduce((sum, cost) => sum + cost, 0);
const { rows, ofCalls } = assumptions();
hold("each doubtful line that the provider answered has a record of a call", unbooked, 0);
hold("none has more than one call may cost", above, 0);
hold("the budget has what the records of calls cost", budget.spent + ofCalls, total);
hold("it assumes what calls were assumed to cost, and what no call explains", budget.assumed, ofCalls + rows);
console.log(`      assumed for calls ${ofCalls / LINE_COST} lines, without a call ${rows / LINE_COST}`);
const costs = batches.map((batch) =>
  Math.round(Number((batch as unknown as { weir: { cost: string } }).weir.cost) * DOLLAR),
);
const ofBooks = ids.map((id) =>
  [...books]
    .filter(([line]) => line.startsWith(`${id.slice("batch_".length)}/`))
    .reduce((sum, [, cost]) => sum + cost, 0),
);
hold("the cost that a batch shows is that of the books", costs, ofBooks);
hold("nothing is held after the end", left(), { granted: 0, drawn: 0 });
hold("weir audit", audit.code, 0);
if (audit.code !== 0) console.log(audit.output);
process.exitCode = faults.length === 0 ? 0 : 1;
