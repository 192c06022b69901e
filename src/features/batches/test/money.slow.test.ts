/** The books of batches in a gateway of its own process: a budget that is lowered while lines run, and `weir audit`. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { Database } from "bun:sqlite";
import { join } from "node:path";
import OpenAI from "openai";
import { type RunningBooks, startBooks } from "../../../../test/books/running.ts";
import { until } from "../../../../test/helpers/serving.ts";
import { json, startUpstream, type Upstream } from "../../../../test/helpers/upstream.ts";

setDefaultTimeout(180_000);

const LINES = 60;
/** Nano-dollars: 3 tokens in and 5 out, at 1 and 2 dollars a million, half of it. */
const LINE = 6_500;
const KEY = "weir-key-of-books-1234567";
const endpoint = "/v1/chat/completions";

let weir: RunningBooks;
let upstream: Upstream;
let answered = 0;
let delay = 0;

beforeAll(async () => {
  upstream = startUpstream(async () => {
    await Bun.sleep(delay);
    answered++;
    return json({
      ...{ id: "c_1", object: "chat.completion", created: 1, model: "m" },
      choices: [{ index: 0, message: { role: "assistant", content: "So." }, finish_reason: "stop" }],
      usage: { prompt_tokens: 3, completion_tokens: 5, total_tokens: 8 },
    });
  });
  weir = await startBooks({
    workers: 1,
    config: {
      providers: {
        p: { speaks: "chat-completions", baseUrl: `${upstream.url}/v1`, apiKey: "k-1", models: ["m"] },
      },
      prices: { "p/m": { input: 1, output: 2 } },
      keys: [{ name: "eng", key: KEY, path: "/eng" }],
      batches: { discount: 0.5, concurrency: 4 },
    },
  });
});
afterAll(async () => {
  await weir?.end();
  upstream?.stop();
});

const client = () => new OpenAI({ baseURL: `${weir.url}/v1`, apiKey: KEY, maxRetries: 0 });

async function made(lines: number): Promise<string> {
  const texts = Array.from({ length: lines }, (_, at) =>
    JSON.stringify({
      ...{ custom_id: `l${at}`, method: "POST", url: endpoint },
      body: { model: "p/m", max_tokens: 5, messages: [{ role: "user", content: "x" }] },
    }),
  );
  const file = await client().files.create({
    file: new File([`${texts.join("\n")}\n`], "in.jsonl"),
    purpose: "batch",
  });
  const made = { input_file_id: file.id, endpoint, completion_window: "24h" } as const;
  return (await client().batches.create(made)).id;
}

async function ended(id: string): Promise<OpenAI.Batch> {
  for (;;) {
    const batch = await client().batches.retrieve(id);
    if (batch.status === "completed") return batch;
    await Bun.sleep(50);
  }
}

test("a budget that is lowered while lines run: the rest ends, and nothing is spent above it", async () => {
  const limit = 1_000_000_000;
  const created = await weir.api.send<{ id: string }>("POST", "/budgets", {
    body: { name: "eng", on: { kind: "path", what: "/eng" }, window: "total", limit, mode: "hard" },
  });
  delay = 100;
  const id = await made(LINES);
  expect(await until(() => answered >= 8, 30_000)).toBe(true);
  const lowered = 30 * LINE;
  await weir.api.send("PATCH", `/budgets/${created.id}`, { body: { limit: lowered } });
  const batch = await ended(id);
  const { total, completed, failed } = batch.request_counts!;
  expect([total, completed, completed + failed]).toEqual([LINES, answered, LINES]);
  expect(failed).toBeGreaterThan(0);
  expect(answered * LINE).toBeLessThanOrEqual(lowered);
  const errors = (await (await client().files.content(batch.error_file_id!)).text()).trim().split("\n");
  expect(errors.length).toBe(failed);
  for (const line of errors)
    expect(JSON.parse(line)).toMatchObject({ response: null, error: { code: "insufficient_quota" } });
  const exact = async () => {
    const [{ spent, held } = { spent: 0, held: 0 }] = (await weir.budget("eng")).windows;
    return spent === answered * LINE && held === 0;
  };
  for (const end = Date.now() + 20_000; !(await exact()); await Bun.sleep(100))
    expect(Date.now()).toBeLessThan(end);
  await weir.api.send("PATCH", `/budgets/${created.id}`, { body: { limit } });
});

const CHECK = "batches cost what their lines were charged";

/** The check of batches in `weir audit`. */
function audited(): { code: number; holds: boolean; detail: string } {
  const { code, output } = weir.run("audit", "--json");
  const { checks } = JSON.parse(output) as { checks: { name: string; holds: boolean; detail: string }[] };
  const { holds, detail } = checks.find(({ name }) => name === CHECK)!;
  return { code, holds, detail };
}

function altered(sql: string): number {
  const database = new Database(join(weir.state, "weir.db"));
  try {
    database.run("PRAGMA busy_timeout = 10000");
    return database.run(sql).changes;
  } finally {
    database.close();
  }
}

test("weir audit holds, and does not with a line, a call or a batch that was changed by hand", async () => {
  delay = 0;
  await ended(await made(20));
  // Batches that have just ended are not looked at yet.
  expect(await until(() => audited().detail.startsWith("2 batches"), 60_000)).toBe(true);
  expect(audited()).toMatchObject({ code: 0, holds: true });
  const changes = [
    [
      "batches_calls SET cost = cost",
      "number = (SELECT max(number) FROM batches_calls)",
      /1 lines of batches/,
    ],
    ["calls SET cost = cost", "number = (SELECT max(number) FROM batches_calls)", /1 lines of batches/],
    [
      "batches SET batch = json_set(batch, '$.batch.cost', json_extract(batch, '$.batch.cost')",
      "",
      /cost \d+ nano-dollars, and its lines \d+/,
    ],
    [
      "batches SET batch = json_set(batch, '$.batch.held', json_extract(batch, '$.batch.held')",
      "",
      /has ended, and holds/,
    ],
  ] as const;
  for (const [set, where, fault] of changes) {
    const by = (amount: string) =>
      set.includes("json_set") ? `UPDATE ${set} ${amount})` : `UPDATE ${set} ${amount} WHERE ${where}`;
    expect(altered(by("+ 1"))).toBeGreaterThan(0);
    const { code, holds, detail } = audited();
    expect([code, holds]).toEqual([1, false]);
    expect(detail).toMatch(fault);
    altered(by("- 1"));
    expect(audited()).toMatchObject({ code: 0, holds: true });
  }
  // A row that is gone, too.
  expect(altered("DELETE FROM batches_calls WHERE number = (SELECT max(number) FROM batches_calls)")).toBe(1);
  expect(audited()).toMatchObject({ code: 1, holds: false });
});
