/** The whole way with files that weir keeps: uploaded, run and downloaded by the SDKs, in a process of its own. */
import { afterAll, expect, setDefaultTimeout, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import Anthropic from "@anthropic-ai/sdk";
import OpenAI, { toFile } from "openai";
import { startGateway } from "../../../../test/helpers/gateway.ts";

setDefaultTimeout(120_000);

const MARK = "CANARY-7Hq2-of-batches";
const KEY = "weir-key-of-batches-1234567";
const gateway = await startGateway({
  config: {
    state: "state",
    keys: [{ name: "eng", key: KEY, path: "/eng" }],
    prices: { "mock/echo": { input: 1, output: 2 } },
  },
  target: "process",
});
afterAll(() => gateway.stop());

const openai = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: KEY, maxRetries: 0 });

async function ended(id: string): Promise<OpenAI.Batch> {
  for (;;) {
    const batch = await openai.batches.retrieve(id);
    if (["completed", "failed", "cancelled", "expired"].includes(batch.status)) return batch;
    await Bun.sleep(100);
  }
}

const lines = (count: number) =>
  Array.from({ length: count }, (_, at) => ({
    ...{ custom_id: `l${at}`, method: "POST", url: "/v1/chat/completions" },
    body: { model: "mock/echo", messages: [{ role: "user", content: `${MARK} ${at}` }] },
  }))
    .map((line) => JSON.stringify(line))
    .join("\n");

test("a script for OpenAI's batches works with another base URL and key", async () => {
  const input = await openai.files.create({
    file: await toFile(Buffer.from(lines(20)), "in.jsonl"),
    purpose: "batch",
  });
  const created = await openai.batches.create({
    ...{ input_file_id: input.id, endpoint: "/v1/chat/completions", completion_window: "24h" },
  });
  const batch = await ended(created.id);
  expect(batch).toMatchObject({
    status: "completed",
    request_counts: { total: 20, completed: 20, failed: 0 },
  });
  const text = await (await openai.files.content(batch.output_file_id!)).text();
  const results = text
    .trim()
    .split("\n")
    .map(
      (line) =>
        JSON.parse(line) as OpenAI.Batches.BatchRequestCounts & {
          custom_id: string;
          response: { status_code: number; body: OpenAI.ChatCompletion };
        },
    );
  expect(
    results.map(({ custom_id, response }) => [custom_id, response.body.choices[0]!.message.content]),
  ).toEqual(Array.from({ length: 20 }, (_, at) => [`l${at}`, `${MARK} ${at}`]));
  const answers = async (query: string) => {
    const address = `${gateway.url}/v1/messages/batches/msgbatch_${batch.id.slice("batch_".length)}/results${query}`;
    const answer = await fetch(address, { headers: { "x-api-key": KEY } });
    const read = (await answer.text()).trim().split("\n");
    return read.map(
      (one) =>
        (JSON.parse(one) as { result: { message: Anthropic.Message | OpenAI.ChatCompletion } }).result
          .message,
    );
  };
  expect(await answers("")).toMatchObject(results.map(() => ({ type: "message" })));
  expect(await answers("?as=line")).toEqual(results.map(({ response }) => response.body));
  expect((await openai.files.list({ purpose: "batch" })).data.map(({ id }) => id)).toEqual([input.id]);
  expect(await openai.files.delete(input.id)).toMatchObject({ deleted: true });
});

test("message batches, and what lies on the disk has no text of a line", async () => {
  const anthropic = new Anthropic({ baseURL: gateway.url, apiKey: KEY, maxRetries: 0 });
  const created = await anthropic.messages.batches.create({
    requests: Array.from({ length: 5 }, (_, at) => ({
      custom_id: `m${at}`,
      params: {
        ...{ model: "mock/echo", max_tokens: 100 },
        messages: [{ role: "user" as const, content: `${MARK} ${at}` }],
      },
    })),
  });
  while ((await anthropic.messages.batches.retrieve(created.id)).processing_status !== "ended")
    await Bun.sleep(100);
  const said: string[] = [];
  for await (const { result } of await anthropic.messages.batches.results(created.id))
    if (result.type === "succeeded") said.push(JSON.stringify(result.message.content));
  expect(said.filter((text) => text.includes(MARK)).length).toBe(5);
  const files = readdirSync(gateway.folder, { recursive: true, withFileTypes: true }).filter((one) =>
    one.isFile(),
  );
  expect(files.some(({ parentPath }) => parentPath.includes("files"))).toBe(true);
  for (const { parentPath, name } of files)
    expect([name, readFileSync(join(parentPath, name)).includes(MARK)]).toEqual([name, false]);
});
