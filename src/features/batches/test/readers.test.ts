/** Each batch by the SDKs of the three vendors, whichever of them made it: all read the same lines. */
import { afterAll, expect, setDefaultTimeout, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Anthropic from "@anthropic-ai/sdk";
import { GoogleGenAI, type InlinedResponse } from "@google/genai";
import OpenAI, { toFile } from "openai";
import { startGateway } from "../../../../test/helpers/gateway.ts";
import { json, startUpstream } from "../../../../test/helpers/upstream.ts";

setDefaultTimeout(120_000);

const KEY = "weir-key-of-readers-1234567";
/** Ends the answers of lines that wait for their cancellation. */
let release = Promise.withResolvers<void>();
let waiting = 0;

const call = {
  ...{ id: "call_1", type: "function" },
  function: { name: "weather", arguments: '{"city":"Oslo","days":2}' },
};
/** Its arguments are no JSON: clients of the same format get them as they are. */
const cut = { ...call, function: { name: "weather", arguments: '{"city":"Oslo"' } };
const upstream = startUpstream(async ({ body }) => {
  const said = /(say|tool|bad|slow|cut)-line/.exec(body.toString())![1]!;
  if (said === "bad")
    return json({ error: { message: "No such thing.", type: "invalid_request_error" } }, 400);
  if (said === "slow") {
    waiting++;
    await release.promise;
  }
  const message =
    said === "tool"
      ? { content: null, tool_calls: [call] }
      : said === "cut"
        ? { content: null, tool_calls: [cut] }
        : { content: `It is "${said}" \u00e9.` };
  return json({
    ...{ id: "c_1", object: "chat.completion", created: 1, model: "m" },
    choices: [
      {
        ...{ index: 0, message: { role: "assistant", ...message } },
        finish_reason: message.content === null ? "tool_calls" : "stop",
      },
    ],
    usage: { prompt_tokens: 3, completion_tokens: 5, total_tokens: 8 },
  });
});
const gateway = await startGateway({
  config: {
    state: "state",
    keys: [{ name: "eng", key: KEY, path: "/eng" }],
    providers: {
      p: { speaks: "chat-completions", baseUrl: `${upstream.url}/v1`, apiKey: "k-1", models: ["m"] },
    },
    retries: { attempts: 1 },
    // The line behind the slow one does not begin before the batch is cancelled.
    batches: { concurrency: 1, yield: false },
  },
  target: "process",
});
const folder = mkdtempSync(join(tmpdir(), "weir-readers-"));
afterAll(async () => {
  await gateway.stop();
  upstream.stop();
  rmSync(folder, { recursive: true, force: true });
});

const openai = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: KEY, maxRetries: 0 });
const anthropic = new Anthropic({ baseURL: gateway.url, apiKey: KEY, maxRetries: 0 });
const google = new GoogleGenAI({ apiKey: KEY, httpOptions: { baseUrl: gateway.url } });

const LINES = ["say", "tool", "bad", "slow", "never"] as const;
/** What the lines are for the clients of all vendors. */
const RESULTS = {
  say: 'It is "say" é. 3/5',
  tool: 'weather {"city":"Oslo","days":2} 3/5',
  bad: "error: No such thing.",
  slow: 'It is "slow" é. 3/5',
  never: "cancelled",
};
const textOf = (line: string) => `${line === "never" ? "slow" : line}-line`;
const PARAMETERS = {
  type: "object",
  properties: { city: { type: "string" }, days: { type: "integer" } },
};

const chatLines = LINES.map((line) => ({
  ...{ custom_id: line, method: "POST", url: "/v1/chat/completions" },
  body: {
    ...{ model: "p/m", messages: [{ role: "user", content: textOf(line) }] },
    tools: [{ type: "function", function: { name: "weather", parameters: PARAMETERS } }],
  },
}));
const geminiRequest = (line: string) => ({
  contents: [{ role: "user", parts: [{ text: textOf(line) }] }],
  tools: [{ functionDeclarations: [{ name: "weather", parametersJsonSchema: PARAMETERS }] }],
});
const metadataOf = (line: string) => ({ key: line, team: `team of ${line}` });

/** Makes a batch. @returns its id without a prefix */
const MAKERS = {
  async openai() {
    const text = chatLines.map((line) => JSON.stringify(line)).join("\n");
    const file = await toFile(Buffer.from(text), "in.jsonl");
    const { id: input_file_id } = await openai.files.create({ file, purpose: "batch" });
    const { id } = await openai.batches.create({
      ...{ input_file_id, endpoint: "/v1/chat/completions", completion_window: "24h" },
    });
    return id.slice("batch_".length);
  },
  async anthropic() {
    const { id } = await anthropic.messages.batches.create({
      requests: LINES.map((line) => ({
        custom_id: line,
        params: {
          ...{ model: "p/m", max_tokens: 9, messages: [{ role: "user", content: textOf(line) }] },
          tools: [{ name: "weather", input_schema: { ...PARAMETERS, type: "object" } }],
        },
      })),
    });
    return id.slice("msgbatch_".length);
  },
  async google() {
    const { name } = await google.batches.create({
      model: "p/m",
      src: LINES.map((line) => {
        const { tools, ...request } = geminiRequest(line);
        return { ...request, metadata: metadataOf(line), config: { tools } };
      }),
    });
    return name!.slice("batches/".length);
  },
  async googleFile() {
    const lines = LINES.map((line) =>
      JSON.stringify({ key: line, request: geminiRequest(line), metadata: metadataOf(line) }),
    );
    const file = new Blob([lines.join("\n")], { type: "application/jsonl" });
    const uploaded = await google.files.upload({ file, config: { mimeType: "application/jsonl" } });
    const { name } = await google.batches.create({ model: "p/m", src: uploaded.name! });
    return name!.slice("batches/".length);
  },
};

interface ChatLine {
  custom_id: string;
  response: { status_code: number; body: OpenAI.ChatCompletion & { error?: { message: string } } } | null;
  error: { code: string } | null;
}

function ofOpenai({ custom_id, response, error }: ChatLine): [string, string] {
  if (!response) return [custom_id, error!.code === "batch_cancelled" ? "cancelled" : error!.code];
  if (response.status_code !== 200) return [custom_id, `error: ${response.body.error!.message}`];
  const { choices, usage } = response.body;
  const { content, tool_calls: [tool] = [] } = choices[0]!.message;
  const said =
    tool?.type === "function" ? calledAs(tool.function.name, JSON.parse(tool.function.arguments)) : content;
  return [custom_id, `${said} ${usage!.prompt_tokens}/${usage!.completion_tokens}`];
}

function ofAnthropic(line: Anthropic.Messages.MessageBatchIndividualResponse): [string, string] {
  const { custom_id, result } = line;
  if (result.type === "errored") return [custom_id, `error: ${result.error.error.message}`];
  if (result.type !== "succeeded") return [custom_id, result.type === "canceled" ? "cancelled" : result.type];
  const { content, usage } = result.message;
  const [block] = content;
  const said =
    block!.type === "tool_use" ? calledAs(block!.name, block!.input) : (block as { text: string }).text;
  return [custom_id, `${said} ${usage.input_tokens}/${usage.output_tokens}`];
}

function ofGoogle({ response, error }: Pick<InlinedResponse, "response" | "error">): string {
  if (error) return error.code === 1 ? "cancelled" : `error: ${error.message}`;
  const { candidates, usageMetadata } = response!;
  const [part] = candidates![0]!.content!.parts!;
  const said = part!.functionCall ? calledAs(part!.functionCall.name!, part!.functionCall.args) : part!.text;
  return `${said} ${usageMetadata!.promptTokenCount}/${usageMetadata!.candidatesTokenCount}`;
}

function calledAs(name: string, input: unknown): string {
  return `${name} ${JSON.stringify(input)}`;
}

const jsonLines = (text: string): unknown[] =>
  text
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as unknown);

async function downloaded(file: string): Promise<unknown[]> {
  const downloadPath = join(folder, `${crypto.randomUUID()}.jsonl`);
  await google.files.download({ file, downloadPath });
  // The SDK does not wait for the end of what it writes.
  for (;;) {
    await Bun.sleep(50);
    try {
      return jsonLines(readFileSync(downloadPath, "utf8"));
    } catch {
      // It is not all there yet.
    }
  }
}

/** Reads all lines of a batch by the SDK of a vendor. @param id without a prefix */
const READERS = {
  async openai(id: string) {
    const batch = await openai.batches.retrieve(`batch_${id}`);
    expect(batch.status).toBe("cancelled");
    expect(batch.request_counts).toEqual({ total: 5, completed: 3, failed: 2 });
    const lines: ChatLine[] = [];
    for (const file of [batch.output_file_id!, batch.error_file_id!])
      lines.push(...(jsonLines(await (await openai.files.content(file)).text()) as ChatLine[]));
    return Object.fromEntries(lines.map(ofOpenai));
  },
  async anthropic(id: string) {
    const batch = await anthropic.messages.batches.retrieve(`msgbatch_${id}`);
    expect(batch.request_counts).toEqual({
      processing: 0,
      succeeded: 3,
      errored: 1,
      canceled: 1,
      expired: 0,
    });
    const lines = await Array.fromAsync(await anthropic.messages.batches.results(batch.id));
    return Object.fromEntries(lines.map(ofAnthropic));
  },
  async google(id: string) {
    const { state, dest } = await google.batches.get({ name: `batches/${id}` });
    expect(String(state)).toBe("JOB_STATE_CANCELLED");
    const lines = dest!.fileName
      ? ((await downloaded(dest!.fileName)) as (InlinedResponse & { key: string })[])
      : dest!.inlinedResponses!;
    return Object.fromEntries(
      lines.map((line) => ["key" in line ? String(line.key) : line.metadata!["key"]!, ofGoogle(line)]),
    );
  },
};

async function cancelledBatch(maker: keyof typeof MAKERS): Promise<string> {
  release = Promise.withResolvers<void>();
  waiting = 0;
  const id = await MAKERS[maker]();
  while (waiting === 0) await Bun.sleep(20);
  await openai.batches.cancel(`batch_${id}`);
  release.resolve();
  while ((await openai.batches.retrieve(`batch_${id}`)).status !== "cancelled") await Bun.sleep(50);
  return id;
}

for (const maker of Object.keys(MAKERS) as (keyof typeof MAKERS)[])
  test(`a batch that the SDK of ${maker} made is the same for all readers`, async () => {
    const id = await cancelledBatch(maker);
    for (const [reader, read] of Object.entries(READERS))
      expect([reader, await read(id)]).toEqual([reader, RESULTS]);
    const { dest } = await google.batches.get({ name: `batches/${id}` });
    // Lines of Google's in a file have their results in a file; the results of all others are in the operation.
    expect([dest!.fileName !== undefined, dest!.inlinedResponses !== undefined]).toEqual(
      maker === "googleFile" ? [true, false] : [false, true],
    );
    const lines = dest!.fileName
      ? ((await downloaded(dest!.fileName)) as InlinedResponse[])
      : dest!.inlinedResponses!;
    const usual = (line: string) => (maker.startsWith("google") ? metadataOf(line) : { key: line });
    expect(lines.map(({ metadata }) => metadata)).toEqual(LINES.map(usual));
  });

test("content in another form has no length, no tag and no ranges; the line's own has", async () => {
  const id = await cancelledBatch("anthropic");
  const { output_file_id: file } = await openai.batches.retrieve(`batch_${id}`);
  const content = (query: string, headers: Record<string, string> = {}) =>
    fetch(`${gateway.url}/v1/files/${file}/content${query}`, {
      headers: { authorization: `Bearer ${KEY}`, ...headers },
    });
  const whole = await content("");
  expect(whole.headers.get("accept-ranges")).toBe("none");
  expect(whole.headers.get("etag")).toBeNull();
  expect(whole.headers.get("content-type")).toBe("application/jsonl");
  const text = await whole.text();
  expect(text).toContain('"object":"chat.completion"');
  expect(text).not.toContain('"stop_reason"');
  const ranged = await content("", { range: "bytes=0-9" });
  expect([ranged.status, ranged.headers.get("content-range"), await ranged.text()]).toEqual([
    200,
    null,
    text,
  ]);
  const own = await content("?as=line");
  const { bytes } = await openai.files.retrieve(file!);
  expect(own.headers.get("etag")).toMatch(/^"[0-9a-f]{64}"$/);
  const ownText = await own.text();
  expect([Buffer.byteLength(ownText), ownText.includes('"type":"message"')]).toEqual([bytes, true]);
  const part = await content("?as=line", { range: "bytes=0-9" });
  expect([part.status, await part.text()]).toEqual([206, ownText.slice(0, 10)]);
  const unseen = await fetch(`${gateway.url}/v1/files/${file}/content`);
  expect(unseen.status).toBe(401);
});

test("what another format cannot carry is counted in the batch, as of the last reading", async () => {
  const line = (id: string, content: string) => ({
    ...{ custom_id: id, method: "POST", url: "/v1/chat/completions" },
    body: { model: "p/m", messages: [{ role: "user", content }] },
  });
  const text = [line("a", "cut-line"), line("b", "say-line"), line("c", "cut-line")];
  const file = await toFile(Buffer.from(text.map((one) => JSON.stringify(one)).join("\n")), "in.jsonl");
  const { id: input_file_id } = await openai.files.create({ file, purpose: "batch" });
  const { id } = await openai.batches.create({
    ...{ input_file_id, endpoint: "/v1/chat/completions", completion_window: "24h" },
  });
  const lossesOf = async () => {
    const { weir } = (await openai.batches.retrieve(id)) as unknown as { weir: { losses?: object } };
    return weir.losses;
  };
  while ((await openai.batches.retrieve(id)).status !== "completed") await Bun.sleep(50);
  expect(await lossesOf()).toBeUndefined();
  for (const _ of [1, 2])
    await Array.fromAsync(await anthropic.messages.batches.results(id.replace("batch_", "msgbatch_")));
  while ((await lossesOf()) === undefined) await Bun.sleep(20);
  expect(await lossesOf()).toEqual({ anthropic: 2 });
});
