/**
 * weir in front of a real inference server (`llama.sh` starts one): what its answers look like to the vendors' SDKs. Prints
 * one line for each check with the figure seen, and exits 1 if one of them fails.
 *
 *     bun test/clients/llama.ts http://127.0.0.1:18182
 */
import { runCommand } from "../helpers/command.ts";
import { startGateway } from "../helpers/gateway.ts";
import { anthropicClient, collect, openaiClient, see, seeError } from "../helpers/sdk.ts";
import { until } from "../helpers/upstream.ts";

const LIMIT = 16;
const TIMEOUT_MS = 120_000;
/** Lines of a batch. */
const BATCH = 500;
/** A host that goes on with its story is busy for longer. Milliseconds. */
const STOPPED_MS = 10_000;

const host = process.argv[2] ?? "http://127.0.0.1:18182";
const { data } = (await (await fetch(`${host}/v1/models`)).json()) as { data: { id: string }[] };
const name = data[0]!.id;
const baseUrl = `${host}/v1`;
const gateway = await startGateway({
  config: {
    providers: { llamacpp: { baseUrl }, openai: { baseUrl, apiKey: "unused" } },
    log: { format: "json" },
  },
});
const chat = openaiClient(gateway.url, { timeout: TIMEOUT_MS }).chat.completions;
const { messages } = anthropicClient(gateway.url, { timeout: TIMEOUT_MS });
const direct = openaiClient(host, { timeout: TIMEOUT_MS }).chat.completions;

const story = [{ role: "user" as const, content: "Write a long story about a river." }];
const long = [{ role: "user" as const, content: "river ".repeat(5000) }];
const weather = [{ role: "user" as const, content: "What is the weather in Paris in the next 3 days?" }];
const schema = {
  type: "object" as const,
  properties: { city: { type: "string" }, days: { type: "integer" } },
  required: ["city", "days"],
};
const own = `llamacpp/${name}`;
const foreign = "openai/gpt-4.1";

let failed = 0;

/** @param run returns whether the promise holds, and the figure that shows it */
async function check(promise: string, run: () => Promise<[holds: boolean, figure: unknown]>): Promise<void> {
  const seen = await see(run);
  const [holds, figure] = "value" in seen ? seen.value : [false, seen.error];
  if (!holds) failed++;
  console.log(`${holds ? "ok  " : "FAIL"}  ${promise}: ${JSON.stringify(figure)}`);
}

async function weir(...words: string[]): Promise<string> {
  return (await runCommand(words, { cwd: gateway.folder, env: { NO_COLOR: "1" } })).out;
}

/** Milliseconds until the host begins with another call. */
async function untilFree(): Promise<number> {
  const began = performance.now();
  await direct.create({ model: name, max_tokens: 1, messages: [{ role: "user", content: "x" }] });
  return Math.round(performance.now() - began);
}

await check("weir check reaches the host, which generates nothing", async () => {
  const line = (await weir("check")).split("\n").find((each) => each.includes("llamacpp"))!;
  const free = await untilFree();
  return [line.includes("reachable") && free < STOPPED_MS, { line: line.trim(), free }];
});
const lacksMessages =
  (await fetch(`${host}/v1/messages`, { method: "POST", body: '{"messages":[0]}' })).status === 404;
await check("weir models says whether messages clients are translated", async () => {
  const text = await weir("models", own);
  return [text.includes("its host has no messages endpoint") === lacksMessages, { lacksMessages }];
});
for (const model of [own, name, foreign]) {
  await check(`an output limit of ${LIMIT} holds for ${model}`, async () => {
    const body = { model, messages: story };
    const tokens = [
      (await chat.create({ ...body, max_completion_tokens: LIMIT })).usage?.completion_tokens,
      (await chat.create({ ...body, max_tokens: LIMIT })).usage?.completion_tokens,
      (await messages.create({ ...body, max_tokens: LIMIT })).usage.output_tokens,
    ];
    const chunks = await collect(await chat.create({ ...body, max_completion_tokens: LIMIT, stream: true }));
    const pieces = chunks.filter(({ choices }) => choices[0]?.delta.content).length;
    return [[...tokens, pieces].every((count) => count !== undefined && count <= LIMIT), { tokens, pieces }];
  });
}
await check(
  "a streamed messages answer has token counts, marked in the log if they are estimates",
  async () => {
    const stream = messages.stream({ model: foreign, max_tokens: LIMIT, messages: story });
    const { usage } = await stream.finalMessage();
    const line = () => gateway.log.find((entry) => entry.includes(stream.request_id!));
    await until(
      () => line() !== undefined,
      10_000,
      () => "there is no log line",
    );
    const { tokens, estimated } = JSON.parse(line()!) as { tokens: { known: string }; estimated?: object };
    const figure = { input: usage.input_tokens, output: usage.output_tokens, known: tokens.known, estimated };
    const counted = usage.input_tokens > 0 && usage.output_tokens > 0;
    return [counted && (tokens.known === "absent") === (estimated !== undefined), figure];
  },
);
await check("a prompt that is too long is recognised by messages clients", async () => {
  const seen = [];
  for (const model of [own, foreign])
    seen.push(await seeError(() => messages.create({ model, max_tokens: 4, messages: long })));
  const words = seen.map(
    ({ status, message }) => `${status} ${/prompt is too long[^"(]*/.exec(message)?.[0]}`,
  );
  return [words.every((each) => each.startsWith("400 prompt is too long: 50")), words];
});
await check("a stream for a prompt that is too long does not look finished", async () => {
  const seen = await see(async () =>
    collect(await chat.create({ model: own, max_tokens: 4, messages: long, stream: true })),
  );
  return ["error" in seen, "error" in seen ? seen.error.message : seen.value.length];
});
await check("a forced tool call is one call or none, whole or an error", async () => {
  const figures: ("error" | number)[] = [];
  for (const limit of [6, 64]) {
    const seen = await see(() =>
      messages.create({
        model: foreign,
        max_tokens: limit,
        messages: weather,
        tools: [{ name: "get_weather", description: "the weather", input_schema: schema }],
        tool_choice: { type: "tool", name: "get_weather" },
      }),
    );
    figures.push(
      "error" in seen ? "error" : seen.value.content.filter(({ type }) => type === "tool_use").length,
    );
  }
  return [figures.every((calls) => calls === "error" || calls <= 1), figures];
});
await check("four streams at once are whole, or fail", async () => {
  const ask = () =>
    see(() => messages.stream({ model: foreign, max_tokens: LIMIT, messages: story }).finalMessage());
  const seen = await Promise.all([ask(), ask(), ask(), ask()]);
  const blocks = seen.map((each) => ("error" in each ? "error" : each.value.content.length));
  return [blocks.every((count) => count === "error" || count > 0), blocks];
});
await check("the host stops when a client leaves its stream", async () => {
  const leaving = new AbortController();
  const body = { model: own, max_tokens: 1500, messages: story, stream: true as const };
  let events = 0;
  await see(async () => {
    for await (const _ of await chat.create(body, { signal: leaving.signal }))
      if (++events === 10) leaving.abort();
  });
  const free = await untilFree();
  return [events < 50 && free < STOPPED_MS, { events, free }];
});

await check(`a batch of ${BATCH} lines has a result for each of them`, async () => {
  const client = openaiClient(gateway.url, { timeout: TIMEOUT_MS });
  const lines = Array.from({ length: BATCH }, (_, at) =>
    JSON.stringify({
      ...{ custom_id: `l${at}`, method: "POST", url: "/v1/chat/completions" },
      body: { model: own, max_tokens: 4, messages: [{ role: "user", content: `Say ${at}.` }] },
    }),
  );
  const file = new File([lines.join("\n")], "in.jsonl");
  const input = await client.files.create({ file, purpose: "batch" });
  const began = performance.now();
  let batch = await client.batches.create({
    ...{ input_file_id: input.id, endpoint: "/v1/chat/completions", completion_window: "24h" },
  });
  while (!["completed", "failed", "expired", "cancelled"].includes(batch.status)) {
    await Bun.sleep(500);
    batch = await client.batches.retrieve(batch.id);
  }
  const seconds = Math.round((performance.now() - began) / 1_000);
  const text = batch.output_file_id ? await (await client.files.content(batch.output_file_id)).text() : "";
  const results = text.split("\n").filter(Boolean);
  const ids = new Set(results.map((line) => (JSON.parse(line) as { custom_id: string }).custom_id));
  const { completed, failed: lost } = batch.request_counts!;
  const tokens = batch.usage?.output_tokens;
  return [
    completed === BATCH && ids.size === BATCH,
    { status: batch.status, completed, lost, seconds, tokens },
  ];
});

await gateway.stop();
process.exit(failed === 0 ? 0 : 1);
