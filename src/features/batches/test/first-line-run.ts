/**
 * How long the first line of an input of 200 MB takes, and what a batch costs the calls beside it:
 *
 *     bun src/features/batches/test/first-line-run.ts [MEGABYTES [ROUNDS [SECONDS]]]
 *
 * Prints the times to the first line and to the first ten, and the p99 of calls without and with a batch, in paired rounds whose
 * order alternates. Exits with 1 if the first line takes longer than two seconds, or the median of the ratios is above 1.1. A
 * busy machine makes the second figure worthless.
 */
import { mkdtempSync, mkdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { serve } from "../../../../test/helpers/serving.ts";
import { json, startUpstream } from "../../../../test/helpers/upstream.ts";
import { clientOf } from "./processes.ts";

const MEGABYTES = Number(process.argv[2] ?? 200);
const ROUNDS = Number(process.argv[3] ?? 5);
const SECONDS = Number(process.argv[4] ?? 10);
const LINES = 50_000;
/** Calls of a client in a second, at even distances, so that one that waits delays no other. */
const PACE = 50;
const FIRST_MS = 2_000;
const MOST_RATIO = 1.1;
/** Milliseconds that the provider takes. */
const ANSWER_MS = 20;

await using ends = new AsyncDisposableStack();

/** When lines of batches came. */
let came: number[] = [];
const upstream = startUpstream(async ({ body }) => {
  if (body.includes("of a batch")) came.push(performance.now());
  await Bun.sleep(ANSWER_MS);
  return json({
    ...{ id: "c_1", object: "chat.completion", created: 1, model: "m" },
    choices: [{ index: 0, message: { role: "assistant", content: "So." }, finish_reason: "stop" }],
    usage: { prompt_tokens: 3, completion_tokens: 5, total_tokens: 8 },
  });
});
ends.defer(() => upstream.stop());
const root = mkdtempSync(join(tmpdir(), "weir-first-line-"));
ends.defer(() => rmSync(root, { recursive: true, force: true }));
const state = join(root, "state");
mkdirSync(state, { mode: 0o700 });
const gateway = await serve({
  ...{ workers: 1, env: { WEIR_STATE: state } },
  config: JSON.stringify({
    providers: {
      p: { speaks: "chat-completions", baseUrl: `${upstream.url}/v1`, apiKey: "k-1", models: ["m"] },
    },
    log: { format: "json" },
  }),
});
ends.defer(() => gateway.end());
const client = clientOf(gateway);
const filler = "words ".repeat(Math.floor((MEGABYTES * 1_000_000) / LINES / 6) - 25);
const bodyOf = (content: string) => ({ model: "p/m", messages: [{ role: "user", content }] });

function inputOf(filled: string): File {
  const line = (at: number) =>
    JSON.stringify({
      ...{ custom_id: `l${at}`, method: "POST", url: "/v1/chat/completions" },
      body: bodyOf(`of a batch ${filled}`),
    });
  return new File([Array.from({ length: LINES }, (_, at) => line(at)).join("\n")], "in.jsonl");
}

async function make(file: string) {
  const batch = await client.batches.create({
    ...{ input_file_id: file, endpoint: "/v1/chat/completions", completion_window: "24h" },
  });
  return batch.id;
}

async function cancel(id: string): Promise<void> {
  await client.batches.cancel(id);
  while ((await client.batches.retrieve(id)).status !== "cancelled") await Bun.sleep(50);
}

async function until(holds: () => boolean, ms: number): Promise<boolean> {
  for (const end = Date.now() + ms; !holds(); await Bun.sleep(2)) if (Date.now() > end) return false;
  return true;
}

let failed = 0;
function hold(promise: string, holds: boolean, figure: unknown): void {
  if (!holds) failed++;
  console.log(`${holds ? "ok  " : "FAIL"}  ${promise}: ${JSON.stringify(figure)}`);
}

const p99 = (times: readonly number[]) =>
  times.toSorted((a, b) => a - b)[Math.ceil(times.length * 0.99) - 1]!;
const median = (numbers: readonly number[]) => p50(numbers.toSorted((a, b) => a - b));
const p50 = (sorted: readonly number[]) => sorted[Math.floor(sorted.length / 2)]!;

/** Times of the calls of a client, which is a process of its own. Milliseconds. */
async function calls(): Promise<number[]> {
  const program = join(import.meta.dir, "even-calls.ts");
  const child = Bun.spawn([process.execPath, program, gateway.url, String(PACE), String(SECONDS)], {
    ...{ stdout: "pipe", stderr: "inherit" },
  });
  const text = await new Response(child.stdout).text();
  if ((await child.exited) !== 0) throw new Error("The calls failed.");
  return JSON.parse(text) as number[];
}

const large = await client.files.create({ file: inputOf(filler), purpose: "batch" }, { timeout: 120_000 });
came = [];
const began = performance.now();
const first = await make(large.id);
await until(() => came.length >= 10, 300_000);
const after = came.map((at) => Math.round(at - began));
hold("the first line begins within 2 s of the creation", after[0]! <= FIRST_MS, {
  ...{ megabytes: Math.round(large.bytes / 1e6), firstMs: after[0], tenthMs: after[9] },
});
await cancel(first);

const small = await client.files.create({ file: inputOf(""), purpose: "batch" }, { timeout: 120_000 });
/** @returns the p99, and how many lines ran beside */
async function beside(): Promise<[number, number]> {
  came = [];
  const id = await make(small.id);
  // What is measured is a batch that runs: its check is over.
  await until(() => came.length > 0, 120_000);
  const [from, times] = [came.length, await calls()];
  const lines = came.length - from;
  await cancel(id);
  return [p99(times), lines];
}

if (ROUNDS > 0) await calls();
const ratios: number[] = [];
for (let round = 0; round < ROUNDS; round++) {
  let alone = round % 2 === 0 ? p99(await calls()) : undefined;
  const [with_, lines] = await beside();
  alone ??= p99(await calls());
  ratios.push(with_ / alone);
  const figures = {
    alone: alone.toFixed(1),
    beside: with_.toFixed(1),
    linesPerSecond: Math.round(lines / SECONDS),
  };
  console.log(`      round ${round + 1}, p99 in ms: ${JSON.stringify(figures)}`);
}
if (ROUNDS > 0)
  hold("a batch costs the p99 of calls at most 10 %", median(ratios) <= MOST_RATIO, {
    ...{ ratios: ratios.map((ratio) => ratio.toFixed(2)), median: median(ratios).toFixed(2) },
  });
process.exitCode = failed === 0 ? 0 : 1;
