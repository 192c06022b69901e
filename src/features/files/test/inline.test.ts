/** Requests that name files of weir: the SDKs of three vendors, and providers of every format that get the bytes. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Anthropic from "@anthropic-ai/sdk";
import { createPartFromUri, GoogleGenAI } from "@google/genai";
import OpenAI from "openai";
import { FEATURES } from "../../../../test/helpers/features.ts";
import { type RunningGateway, startGateway } from "../../../../test/helpers/gateway.ts";
import { json, startUpstream, type Upstream } from "../../../../test/helpers/upstream.ts";

setDefaultTimeout(60_000);

const KEYS = { alice: "alice-key-of-files-123456", bob: "bob-key-of-files-1234567" };
const PDF = Buffer.concat([Buffer.from("%PDF-1.7\n"), crypto.getRandomValues(new Uint8Array(300_001))]);
const PNG = Buffer.concat([Buffer.from("\x89PNG\r\n\x1a\n", "latin1"), Buffer.alloc(64, 7)]);
const TEXT = 'The "word" of the day is:\tçedilla \u{1f600}\n';

const usage = { input_tokens: 5, output_tokens: 2 };
const ANSWERS: readonly [string, object][] = [
  [
    "/chat/completions",
    {
      ...{ id: "c", object: "chat.completion", created: 1, model: "m" },
      choices: [{ index: 0, message: { role: "assistant", content: "seen" }, finish_reason: "stop" }],
      usage: { prompt_tokens: 5, completion_tokens: 2, total_tokens: 7 },
    },
  ],
  [
    "/responses",
    {
      ...{ id: "resp_1", object: "response", created_at: 1, model: "m", status: "completed" },
      output: [
        {
          ...{ type: "message", id: "msg_1", status: "completed", role: "assistant" },
          content: [{ type: "output_text", text: "seen", annotations: [] }],
        },
      ],
      usage: { ...usage, total_tokens: 7 },
    },
  ],
  [
    "/messages",
    {
      ...{ id: "msg_1", type: "message", role: "assistant", model: "m" },
      ...{ content: [{ type: "text", text: "seen" }], stop_reason: "end_turn", stop_sequence: null, usage },
    },
  ],
  [
    ":generateContent",
    {
      candidates: [{ index: 0, finishReason: "STOP", content: { role: "model", parts: [{ text: "seen" }] } }],
      usageMetadata: { promptTokenCount: 5, candidatesTokenCount: 2, totalTokenCount: 7 },
    },
  ],
];

let upstream: Upstream;
let gateway: RunningGateway;
let state: string;

beforeAll(async () => {
  state = await mkdtemp(join(tmpdir(), "weir-inline-"));
  upstream = startUpstream(({ path }) => {
    const found = ANSWERS.find(([end]) => path.split("?")[0]!.endsWith(end));
    return found ? json(found[1]) : json({ error: { message: `no ${path}` } }, 404);
  });
  const provider = (speaks: string, path: string) => ({
    ...{ speaks, baseUrl: upstream.url + path, apiKey: "k-1", models: ["m"], traits: { files: true } },
  });
  gateway = await startGateway({
    config: {
      state: join(state, "state"),
      keys: Object.entries(KEYS).map(([name, key]) => ({ name, key })),
      files: { inline: "2MB" },
      store: { sealKey: "an-operator-chose-this-key-of-32-bytes" },
      providers: {
        chat: provider("chat-completions", "/v1"),
        resp: provider("responses", "/v1"),
        msgs: provider("messages", "/v1"),
        gem: provider("gemini", "/v1beta"),
      },
    },
  });
  await gateway.opened();
});

afterAll(async () => {
  await gateway.stop();
  upstream.stop();
  await rm(state, { recursive: true, force: true });
});

const openai = () => new OpenAI({ apiKey: KEYS.alice, baseURL: `${gateway.url}/v1`, maxRetries: 0 });
const anthropic = () => new Anthropic({ apiKey: KEYS.alice, baseURL: gateway.url, maxRetries: 0 });
const google = () => new GoogleGenAI({ apiKey: KEYS.alice, httpOptions: { baseUrl: gateway.url } });

const lastBody = () => upstream.requests.at(-1)!.body.toString();

/** The provider has the bytes of a file, and no id of it. */
function expectSent(bytes: Buffer, id: string): void {
  const body = lastBody();
  const said = JSON.stringify(bytes.toString()).slice(1, -1);
  const has = body.includes(bytes.toString("base64")) || body.includes(said);
  expect([upstream.requests.at(-1)!.path, has, body.includes(id)]).toEqual([
    upstream.requests.at(-1)!.path,
    true,
    false,
  ]);
}

const FILES = {
  pdf: { bytes: PDF, name: "a b.pdf", type: "application/pdf" },
  png: { bytes: PNG, name: "a.png", type: "image/png" },
  text: { bytes: Buffer.from(TEXT), name: "a.txt", type: "text/plain" },
} as const;
const PROVIDERS = ["chat", "resp", "msgs", "gem"] as const;

const bare = (id: string) => id.replace(/^file(?:[-_]|s\/)/, "");
const fileOf = ({ bytes, name, type }: (typeof FILES)[keyof typeof FILES]) =>
  new File([bytes], name, { type });

for (const [kind, file] of Object.entries(FILES)) {
  test(`openai chat: a ${kind} reaches each provider`, async () => {
    const { id } = await openai().files.create({ file: fileOf(file), purpose: "user_data" });
    for (const provider of PROVIDERS) {
      const { choices } = await openai().chat.completions.create({
        model: `${provider}/m`,
        messages: [
          {
            role: "user",
            content: [
              { type: "text", text: "Look." },
              { type: "file", file: { file_id: id } },
            ],
          },
        ],
      });
      expect(choices[0]!.message.content).toBe("seen");
      expectSent(file.bytes, bare(id));
    }
  });

  test(`openai responses: a ${kind} reaches each provider`, async () => {
    const { id } = await openai().files.create({ file: fileOf(file), purpose: "vision" });
    for (const provider of PROVIDERS) {
      const part =
        kind === "png"
          ? ({ type: "input_image", file_id: id, detail: "auto" } as const)
          : ({ type: "input_file", file_id: id } as const);
      const answer = await openai().responses.create({
        model: `${provider}/m`,
        store: false,
        input: [{ role: "user", content: [{ type: "input_text", text: "Look." }, part] }],
      });
      expect(answer.output_text).toBe("seen");
      expectSent(file.bytes, bare(id));
    }
  });

  test(`anthropic: a ${kind} reaches each provider`, async () => {
    const { beta } = anthropic();
    const { id } = await beta.files.upload({ file: fileOf(file) });
    for (const provider of PROVIDERS) {
      const block = { type: kind === "png" ? "image" : "document", source: { type: "file", file_id: id } };
      const { content } = await beta.messages.create({
        model: `${provider}/m`,
        max_tokens: 10,
        betas: ["files-api-2025-04-14"],
        messages: [
          {
            role: "user",
            content: [{ type: "text", text: "Look." }, block as Anthropic.Beta.BetaContentBlockParam],
          },
        ],
      });
      expect(content).toMatchObject([{ type: "text", text: "seen" }]);
      expectSent(file.bytes, bare(id));
    }
  });

  test(`google: a ${kind} reaches each provider`, async () => {
    const { name, uri, mimeType } = await google().files.upload({
      file: new Blob([file.bytes], { type: file.type }),
      config: { displayName: file.name },
    });
    for (const provider of PROVIDERS) {
      const answer = await google().models.generateContent({
        model: `${provider}/m`,
        contents: [{ role: "user", parts: [{ text: "Look." }, createPartFromUri(uri!, mimeType!)] }],
      });
      expect(answer.text).toBe("seen");
      expectSent(file.bytes, bare(name!));
    }
  });
}

const post = (path: string, body: string, headers: Record<string, string> = {}) =>
  fetch(gateway.url + path, {
    method: "POST",
    body,
    headers: { "content-type": "application/json", authorization: `Bearer ${KEYS.alice}`, ...headers },
  });

async function uploaded(bytes: BlobPart, name: string, key = KEYS.alice): Promise<string> {
  const client = new OpenAI({ apiKey: key, baseURL: `${gateway.url}/v1`, maxRetries: 0 });
  const { id } = await client.files.create({ file: new File([bytes], name), purpose: "user_data" });
  return id;
}

test("every other byte of a body reaches a provider of the same format as it is", async () => {
  const id = await uploaded(PNG, "a.png");
  const text = await uploaded(TEXT, 'q"ü.txt');
  const data = PNG.toString("base64");
  const said = Buffer.from(TEXT).toString("base64");
  const cases: readonly [path: string, given: string, sent: string][] = [
    [
      "/v1/chat/completions",
      `{"seed": 1.50e1, "x_own":{"a" : 1e400}, "messages":[{"role":"user","content":[ {"cache":1,"file" : {"file_id" : "${text}" , "y":2.0},"type":"file"},{"type":"text","text":"\\u0041"}]}],"model":"MODEL","zz":[]}`,
      `{"seed": 1.50e1, "x_own":{"a" : 1e400}, "messages":[{"role":"user","content":[ {"cache":1,"file" : {"file_data":"data:text/plain;base64,${said}","filename":"q\\"ü.txt" , "y":2.0},"type":"file"},{"type":"text","text":"\\u0041"}]}],"model":"MODEL","zz":[]}`,
    ],
    [
      "/v1/responses",
      `{"model":"MODEL","store":false,"input":[{"role":"user","content":[{"type":"input_image", "image_url":null,"\\u0066ile_id":"${id}"}]}],"top_p":1.0}`,
      `{"model":"MODEL","store":false,"input":[{"role":"user","content":[{"type":"input_image", "image_url":"data:image/png;base64,${data}","\\u0066ile_id":null}]}],"top_p":1.0}`,
    ],
    [
      "/v1/messages",
      `{"max_tokens":10,"messages":[{"role":"user","content":[{"source":{ "file_id" : "${id}","type": "file"},"type":"image"},{"type":"tool_result","tool_use_id":"t","content":[{"type":"document","source":{"type":"file","file_id":"${text}"}}]}]}],"model":"MODEL","temperature":1.0}`,
      `{"max_tokens":10,"messages":[{"role":"user","content":[{"source":{ "media_type":"image/png","data":"${data}","type": "base64"},"type":"image"},{"type":"tool_result","tool_use_id":"t","content":[{"type":"document","source":{"type":"text","media_type":"text/plain","data":${JSON.stringify(TEXT)}}}]}]}],"model":"MODEL","temperature":1.0}`,
    ],
    [
      "/v1beta/models/gem/m:generateContent",
      `{"contents":{"parts":[{"file_data" : {"file_uri":"${gateway.url}\\/v1beta/files/${bare(id)}" ,"display_name":"d"},"videoMetadata":{"fps":1.0}}],"role":"user"}}`,
      `{"contents":{"parts":[{"inlineData" : {"data":"${data}","mimeType":"image/png" ,"display_name":"d"},"videoMetadata":{"fps":1.0}}],"role":"user"}}`,
    ],
  ];
  for (const [at, [path, given, sent]] of cases.entries()) {
    const model = `${PROVIDERS[at]}/m`;
    const answer = await post(path, given.replace("MODEL", model));
    expect([path, answer.status, await answer.text()]).toEqual([path, 200, expect.any(String)]);
    expect(lastBody()).toBe(sent.replace("MODEL", "m"));
  }
});

test("words of a file in arguments and results of tools, and ids of a provider, stay as they are", async () => {
  const id = await uploaded(PNG, "a.png");
  const body = `{"model":"msgs/m","max_tokens":9,"messages":[{"role":"user","content":"file_id ${id}"},{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"f","input":{"type":"image","source":{"type":"file","file_id":"${id}"}}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"{\\"file_id\\":\\"${id}\\"}"},{"type":"document","source":{"type":"file","file_id":"file_011CNha8iCJcU1wXNR6q4V8w"}}]}]}`;
  expect((await post("/v1/messages", body)).status).toBe(200);
  expect(lastBody()).toBe(body.replace("msgs/m", "m"));
  const chat = `{"model":"chat/m","messages":[{"role":"user","content":[{"type":"file","file":{"file_id":"file-6F2ksmvXxt4VdoqmHRw6kL"}}]}]}`;
  expect((await post("/v1/chat/completions", chat)).status).toBe(200);
  expect(lastBody()).toBe(chat.replace("chat/m", "m"));
  const gemini = `{"contents":[{"role":"user","parts":[{"fileData":{"mimeType":"image/png","fileUri":"https://generativelanguage.googleapis.com/v1beta/files/${bare(id)}"}}]}]}`;
  expect((await post("/v1beta/models/gem/m:generateContent", gemini)).status).toBe(200);
  expect(lastBody()).toBe(gemini);
  const before = upstream.requests.length;
  for (const provider of ["msgs", "gem", "resp"]) {
    const refused = await post("/v1/chat/completions", chat.replace("chat/m", `${provider}/m`));
    expect([provider, refused.status, await refused.text()]).toEqual([
      ...[provider, 400],
      expect.stringContaining("messages[0].content[0]"),
    ]);
  }
  for (const provider of ["chat", "msgs", "resp"]) {
    const path = `/v1beta/models/${provider}/m:generateContent`;
    expect([provider, (await post(path, gemini)).status]).toEqual([provider, 400]);
  }
  expect(upstream.requests.length).toBe(before);
});

/** Asks for a file in each dialect. */
const asking = (id: string): Record<string, [path: string, body: object, place: string]> => ({
  chat: [
    "/v1/chat/completions",
    { model: "chat/m", messages: [{ role: "user", content: [{ type: "file", file: { file_id: id } }] }] },
    "messages[0].content[0].file.file_id",
  ],
  responses: [
    "/v1/responses",
    { model: "resp/m", input: [{ role: "user", content: [{ type: "input_file", file_id: id }] }] },
    "input[0].content[0].file_id",
  ],
  messages: [
    "/v1/messages",
    {
      ...{ model: "msgs/m", max_tokens: 9 },
      messages: [{ role: "user", content: [{ type: "document", source: { type: "file", file_id: id } }] }],
    },
    "messages[0].content[0].source.file_id",
  ],
  gemini: [
    "/v1beta/models/gem/m:generateContent",
    { contents: [{ role: "user", parts: [{ fileData: { fileUri: `files/${bare(id)}` } }] }] },
    "contents[0].parts[0].fileData.fileUri",
  ],
});

test("a file that is foreign, deleted or unknown is an error in each dialect", async () => {
  const foreign = await uploaded(PDF, "a.pdf", KEYS.bob);
  const deleted = await uploaded(PDF, "a.pdf");
  await openai().files.delete(deleted);
  const unknown = `file-${"0".repeat(26)}`;
  const before = upstream.requests.length;
  for (const id of [foreign, deleted, unknown])
    for (const [path, body, place] of Object.values(asking(id))) {
      const answer = await post(path, JSON.stringify(body));
      const text = await answer.text();
      expect([path, answer.status, text]).toEqual([path, 404, expect.stringContaining(place)]);
      expect(text).toContain(bare(id));
    }
  expect(upstream.requests.length).toBe(before);
  const thrown = await openai()
    .chat.completions.create(asking(foreign)["chat"]![1] as OpenAI.ChatCompletionCreateParamsNonStreaming)
    .catch((error: unknown) => error);
  expect(thrown).toBeInstanceOf(OpenAI.NotFoundError);
  expect(thrown).toMatchObject({ code: "file_not_found", param: "messages[0].content[0].file.file_id" });
});

test("files that are together too large, and files of a type that has no place, are refused", async () => {
  const large = await uploaded(new Uint8Array(1_100_000), "a.pdf");
  const twice = { type: "file", file: { file_id: large } };
  const chat = (...content: object[]) =>
    post("/v1/chat/completions", JSON.stringify({ model: "chat/m", messages: [{ role: "user", content }] }));
  expect((await chat(twice)).status).toBe(200);
  const refused = await chat(twice, twice);
  expect([refused.status, await refused.text()]).toEqual([413, expect.stringContaining("files.inline")]);
  const binary = await uploaded(new Uint8Array([0, 1, 2, 255]), "a.bin");
  const png = await uploaded(PNG, "a.png");
  for (const [id, dialect] of [
    [binary, "messages"],
    [png, "messages"],
    [png, "responses"],
  ] as const) {
    const [path, body, place] = asking(id)[dialect]!;
    const answer = await post(path, JSON.stringify(body));
    expect([answer.status, await answer.text()]).toEqual([400, expect.stringContaining(place)]);
  }
  const container = {
    ...{ model: "resp/m", input: "Look." },
    tools: [{ type: "code_interpreter", container: { type: "auto", file_ids: [png] } }],
  };
  const answer = await post("/v1/responses", JSON.stringify(container));
  expect([answer.status, await answer.text()]).toEqual([
    400,
    expect.stringContaining("tools[0].container.file_ids[0]"),
  ]);
});

test("the tokens of a file are counted", async () => {
  const text = await uploaded("many words ".repeat(2_000), "a.txt");
  const [, body] = asking(text)["messages"]!;
  const counted = await anthropic().messages.countTokens(body as Anthropic.MessageCountTokensParams);
  expect(counted.input_tokens).toBeWithin(2_000, 20_000);
});

test("a budget holds what the file costs, and not the most of any file", async () => {
  const own = await startGateway({
    config: {
      keys: [{ name: "alice", key: KEYS.alice }],
      budgets: { small: { on: "all", limit: 0.001, every: "total", mode: "hard" } },
      providers: {
        chat: { speaks: "chat-completions", baseUrl: `${upstream.url}/v1`, apiKey: "k-1", models: ["m"] },
      },
      prices: { "chat/m": { input: 1, output: 1 } },
    },
  });
  try {
    await own.opened();
    const client = new OpenAI({ apiKey: KEYS.alice, baseURL: `${own.url}/v1`, maxRetries: 0 });
    const ask = async (words: number) => {
      const file = new File(["word ".repeat(words)], "a.txt");
      const { id } = await client.files.create({ file, purpose: "user_data" });
      return client.chat.completions
        .create({
          ...{ model: "chat/m", max_tokens: 10 },
          messages: [{ role: "user", content: [{ type: "file", file: { file_id: id } }] }],
        })
        .then(
          () => 200,
          (thrown: { status?: number }) => thrown.status,
        );
    };
    // A token costs a millionth of a dollar: the budget has a thousand of them.
    expect(await ask(100)).toBe(200);
    expect(await ask(5_000)).toBe(429);
  } finally {
    await own.stop();
  }
});

test("a file that has expired is gone, also with keys that know its id", async () => {
  const own = await startGateway({
    config: {
      files: { keep: "1s" },
      providers: {
        chat: { speaks: "chat-completions", baseUrl: `${upstream.url}/v1`, apiKey: "k-1", models: ["m"] },
      },
    },
  });
  try {
    await own.opened();
    const client = new OpenAI({ apiKey: "none", baseURL: `${own.url}/v1`, maxRetries: 0 });
    const { id } = await client.files.create({ file: new File([PNG], "a.png"), purpose: "vision" });
    await Bun.sleep(1_100);
    const [path, body] = asking(id)["chat"]!;
    const answer = await fetch(own.url + path, {
      ...{ method: "POST", body: JSON.stringify(body), headers: { "content-type": "application/json" } },
    });
    expect([answer.status, await answer.text()]).toEqual([404, expect.stringContaining(id)]);
  } finally {
    await own.stop();
  }
});

test("an explanation shows the request with its files, and sends nothing", async () => {
  const id = await uploaded(PNG, "a.png");
  const before = upstream.requests.length;
  const answer = await post("/v1/explain?format=chat-completions", JSON.stringify(asking(id)["chat"]![1]));
  const said = (await answer.json()) as { request: { body: object } };
  expect(JSON.stringify(said.request.body)).toContain(PNG.toString("base64"));
  const foreign = await uploaded(PNG, "a.png", KEYS.bob);
  const body = JSON.stringify(asking(foreign)["chat"]![1]);
  expect((await post("/v1/explain?format=chat-completions", body)).status).toBe(404);
  expect(upstream.requests.length).toBe(before);
});

const has = (feature: string) => FEATURES.some(({ name }) => name === feature);

test.skipIf(!has("guards"))("guards see the text of a file", async () => {
  const own = await startGateway({
    config: {
      guards: { mails: { find: ["email"], do: "mask" } },
      providers: {
        msgs: { speaks: "messages", baseUrl: `${upstream.url}/v1`, apiKey: "k-1", models: ["m"] },
      },
    },
  });
  try {
    await own.opened();
    const client = new Anthropic({ apiKey: "none", baseURL: own.url, maxRetries: 0 });
    const file = new File(["Write to anna@example.com."], "a.txt", { type: "text/plain" });
    const { id } = await client.beta.files.upload({ file });
    await client.messages.create(asking(id)["messages"]![1] as Anthropic.MessageCreateParamsNonStreaming);
    expect(lastBody()).toContain("Write to [EMAIL].");
  } finally {
    await own.stop();
  }
});

test.skipIf(!has("batches"))("lines of a batch name files", async () => {
  const id = await uploaded(PDF, "a.pdf");
  const foreign = await uploaded(PDF, "a.pdf", KEYS.bob);
  const lines = [id, foreign].map((each, at) =>
    JSON.stringify({
      ...{ custom_id: `c${at}`, method: "POST", url: "/v1/chat/completions" },
      body: asking(each)["chat"]![1],
    }),
  );
  const file = await openai().files.create({
    file: new File([lines.join("\n")], "in.jsonl"),
    purpose: "batch",
  });
  const before = upstream.requests.length;
  let batch = await openai().batches.create({
    ...{ input_file_id: file.id, endpoint: "/v1/chat/completions", completion_window: "24h" },
  });
  for (let tries = 0; tries < 600 && batch.status !== "completed"; tries++) {
    await Bun.sleep(50);
    batch = await openai().batches.retrieve(batch.id);
  }
  expect(batch.request_counts).toMatchObject({ total: 2, completed: 1, failed: 1 });
  expect(upstream.requests.length).toBe(before + 1);
  expectSent(PDF, bare(id));
  const errors = await (await openai().files.content(batch.error_file_id!)).text();
  expect(errors).toContain("messages[0].content[0].file.file_id");
});
