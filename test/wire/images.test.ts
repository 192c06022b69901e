/** Images by OpenAI's SDK, at a fake of OpenAI and at the mock. */
import { afterAll, beforeAll, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { createHash } from "node:crypto";
import { inflateSync } from "node:zlib";
import { APIError, toFile } from "openai";
import type { JsonObject } from "../../src/core/json.ts";
import { type RunningGateway, startGateway } from "../helpers/gateway.ts";
import { openaiClient, seeError } from "../helpers/sdk.ts";
import { cut, json, sse, startUpstream, type Upstream } from "../helpers/upstream.ts";

setDefaultTimeout(60_000);

const KEY = "a-key-of-the-gateway-images-1234567890";
const OTHER = "a-key-of-the-gateway-chats-1234567890";

const USAGE = {
  ...{ input_tokens: 10, input_tokens_details: { text_tokens: 4, image_tokens: 6 } },
  ...{ output_tokens: 100, total_tokens: 110 },
};
const ANSWER = {
  ...{
    created: 1_700_000_000,
    background: "opaque",
    output_format: "png",
    quality: "high",
    size: "1024x1024",
  },
  data: [{ b64_json: "aGVsbG8=" }, { b64_json: Buffer.alloc(3_000_000, 5).toString("base64") }],
  usage: USAGE,
};

const event = (type: string, rest: JsonObject) =>
  `event: ${type}\ndata: ${JSON.stringify({ type, created_at: 1, size: "auto", quality: "auto", background: "auto", output_format: "png", ...rest })}\n\n`;
const partial = (task: string, index: number, b64: string) =>
  event(`${task}.partial_image`, { b64_json: b64, partial_image_index: index });
/** Longer than what weir holds of an event. */
const BIG = Buffer.alloc(9_000_000, 9).toString("base64");

let openai: Upstream;
let gateway: RunningGateway;

beforeAll(async () => {
  openai = startUpstream(() => json(ANSWER));
  gateway = await startGateway({
    config: {
      keys: [
        { name: "images", key: KEY },
        { name: "chats", key: OTHER, endpoints: ["chat"] },
        { name: "poor", key: `${OTHER}-poor` },
      ],
      providers: { openai: { apiKey: "k", baseUrl: `${openai.url}/v1` } },
      budgets: { poor: { on: { key: "poor" }, every: "total", limit: 0.000001, mode: "hard" } },
      prices: { "openai/gpt-image-1.5": { input: 5, imageIn: 8, output: 10, imageOut: 32 } },
      retries: { attempts: 1 },
    },
    env: { WEIR_STATE: "state" },
  });
  await gateway.opened();
});
afterAll(async () => {
  await gateway.stop();
  openai.stop();
});
beforeEach(() => openai.answer(() => json(ANSWER)));

const client = (apiKey = KEY) => openaiClient(gateway.url, { apiKey });
const sent = () => openai.requests.at(-1)!;
const model = "openai/gpt-image-1.5";

describe("at OpenAI", () => {
  test("a generation: the client's bytes reach it, and its bytes the client", async () => {
    const asked = {
      model,
      prompt: "a red cat",
      n: 2,
      size: "1024x1024",
      quality: "high",
      moderation: "low",
    } as const;
    const { data: answer, response } = await client().images.generate(asked).withResponse();
    expect({ ...answer } as object).toMatchObject(ANSWER);
    expect(JSON.parse(sent().body.toString())).toEqual({ ...asked, model: "gpt-image-1.5" });
    expect([sent().path, response.headers.get("x-weir-lane")]).toEqual(["/v1/images/generations", "native"]);
  });

  test("an edit of 16 files with a mask: each part has its bytes", async () => {
    const bytes = Array.from({ length: 17 }, (_, at) => Buffer.alloc(200_000 + at * 1000, at + 1));
    const files = await Promise.all(bytes.map((one, at) => toFile(one, `f${at}.png`, { type: "image/png" })));
    const mask = files.pop()!;
    await client().images.edit({ model, prompt: "merge ü", image: files, mask, n: 1 });
    const { path, body, headers } = sent();
    expect(path).toBe("/v1/images/edits");
    const form = await new Response(new Uint8Array(body), {
      headers: { "content-type": headers.get("content-type")! },
    }).formData();
    const got = await Promise.all(
      [...form.getAll("image[]"), form.get("mask")].map(async (file) =>
        createHash("sha256")
          .update(Buffer.from(await (file as File).arrayBuffer()))
          .digest("hex"),
      ),
    );
    expect(got).toEqual(bytes.map((one) => createHash("sha256").update(one).digest("hex")));
    expect([form.get("model"), form.get("prompt"), form.get("n")]).toEqual(["gpt-image-1.5", "merge ü", "1"]);
  });

  test("a variation, whose model is dall-e-2", async () => {
    openai.answer(() => json({ created: 1, data: [{ url: "https://images.test/1.png" }] }));
    const image = await toFile(Buffer.from("png"), "a.png", { type: "image/png" });
    const answer = await client().images.createVariation({ model: "openai/dall-e-2", image, n: 1 });
    expect(answer.data).toEqual([{ url: "https://images.test/1.png" }]);
    expect(sent().path).toBe("/v1/images/variations");
  });

  test("an edit as JSON passes as it is", async () => {
    const body = `{ "model":"gpt-image-1.5", "images":[{"image_url":"data:image/png;base64,aGk="}], "prompt":"a" }`;
    const response = await fetch(`${gateway.url}/v1/images/edits`, {
      ...{ method: "POST", body },
      headers: { "content-type": "application/json", authorization: `Bearer ${KEY}` },
    });
    expect([response.status, sent().body.toString(), sent().path]).toEqual([200, body, "/v1/images/edits"]);
  });

  test.each(["image_generation", "image_edit"] as const)(
    "a stream of %s with three partial images",
    async (task) => {
      const events = [
        ...[0, 1, 2].map((index) => partial(task, index, index === 1 ? BIG : "aGk=")),
        event(`${task}.completed`, { b64_json: BIG, usage: USAGE }),
      ];
      const whole = Buffer.from(events.join(""));
      const pieces = Array.from({ length: Math.ceil(whole.length / 100_000) }, (_, at) =>
        whole.subarray(at * 100_000, (at + 1) * 100_000),
      );
      openai.answer(() => sse(pieces));
      const asked = { model, prompt: "a", stream: true, partial_images: 3 } as const;
      const stream =
        task === "image_edit"
          ? await client().images.edit({ ...asked, image: await toFile(Buffer.from("png"), "a.png") })
          : await client().images.generate(asked);
      const got: string[] = [];
      for await (const one of stream) got.push(`${one.type} ${one.b64_json.length}`);
      expect(got).toEqual([
        `${task}.partial_image 4`,
        `${task}.partial_image ${BIG.length}`,
        `${task}.partial_image 4`,
        `${task}.completed ${BIG.length}`,
      ]);
    },
  );

  test("a stream that breaks off ends with an error", async () => {
    openai.answer(() => cut([partial("image_generation", 0, "aGk=")], "fin"));
    const stream = await client().images.generate({ model, prompt: "a", stream: true, partial_images: 3 });
    const got: string[] = [];
    const failure = await (async () => {
      for await (const one of stream) got.push(one.type);
    })().then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    expect(got).toEqual(["image_generation.partial_image"]);
    expect(failure).toBeInstanceOf(APIError);
  });

  test("an error in the stream reaches the client as it came", async () => {
    const error = {
      message: "blocked",
      code: "moderation_blocked",
      type: "image_generation_user_error",
      param: null,
    };
    openai.answer(() =>
      sse([
        partial("image_generation", 0, "aGk="),
        `event: error\ndata: ${JSON.stringify({ type: "error", error })}\n\n`,
      ]),
    );
    const failed = await seeError(async () => {
      for await (const _ of await client().images.generate({ model, prompt: "a", stream: true }));
    });
    expect(failed.message).toContain("blocked");
  });

  test("a refusal of OpenAI reaches the client as it came", async () => {
    openai.answer(() =>
      json(
        { error: { message: "no", type: "invalid_request_error", code: "moderation_blocked", param: null } },
        400,
      ),
    );
    const error = await seeError(() => client().images.generate({ model, prompt: "a" }));
    expect([error.status, error.code]).toEqual([400, "moderation_blocked"]);
  });

  test("an answer without images is a failure", async () => {
    openai.answer(() => json({ created: 1, data: [] }));
    const error = await seeError(() => client().images.generate({ model, prompt: "a" }));
    expect([error.status, error.message]).toEqual([502, expect.stringContaining("sent no image")]);
  });
});

describe("the mock", () => {
  test("makes images that a reader of PNG reads", async () => {
    const { data, usage } = await client().images.generate({
      model: "mock/image",
      prompt: "a red cat",
      n: 3,
    });
    expect(data!.length).toBe(3);
    for (const { b64_json: base64 } of data!) {
      const png = Buffer.from(base64!, "base64");
      expect(png.subarray(1, 4).toString()).toBe("PNG");
      expect([png.readUInt32BE(16), png.readUInt32BE(20)]).toEqual([8, 8]);
      const length = png.readUInt32BE(33);
      expect(inflateSync(png.subarray(41, 41 + length)).length).toBe(8 * 25);
    }
    expect(usage!.output_tokens).toBe(48);
    const again = await client().images.generate({ model: "mock/image", prompt: "a red cat", n: 3 });
    expect(again.data).toEqual(data!);
  });

  test("sees the files of an edit, and streams", async () => {
    const file = Buffer.alloc(2_000_000, 3);
    const image = await toFile(file, "a.png", { type: "image/png" });
    const { data } = await client().images.edit({ model: "mock/image", prompt: "a", image });
    expect(data![0]!.revised_prompt).toBe(createHash("sha256").update(file).digest("hex"));
    const stream = await client().images.edit({
      model: "mock/image",
      prompt: "a",
      image,
      stream: true,
      partial_images: 2,
    });
    const types: string[] = [];
    for await (const { type } of stream) types.push(type);
    expect(types).toEqual(["image_edit.partial_image", "image_edit.partial_image", "image_edit.completed"]);
  });

  test.each([
    ["mock/error-503", 503],
    ["mock/rate-limited-5", 429],
    ["mock/throw", 500],
    ["mock/html-502", 502],
  ])("fails as %s", async (failing, status) => {
    const error = await seeError(() => client().images.generate({ model: failing, prompt: "a" }));
    expect(error.status).toBe(status);
  });
});

describe("refusals have the shape of the endpoint's errors", () => {
  const image = () => toFile(Buffer.from("png"), "a.png", { type: "image/png" });
  test.each([
    ["an unknown model", KEY, "mock/nothing", 404],
    ["a model of another kind", KEY, "mock/rerank", 404],
    ["a wrong key", "a-wrong-key-of-the-gateway-1234567890", "mock/image", 401],
    ["a key for other endpoints", OTHER, "mock/image", 403],
    ["an exhausted budget", `${OTHER}-poor`, model, 429],
  ])("%s", async (_, key, asked, status) => {
    const one = await seeError(() => client(key).images.generate({ model: asked, prompt: "a" }));
    const file = await image();
    const other = await seeError(() => client(key).images.edit({ model: asked, prompt: "a", image: file }));
    expect([one.status, other.status]).toEqual([status, status]);
    expect([typeof one.message, typeof other.code]).toEqual(["string", typeof one.code]);
  });
});

test("explain describes a generation, and a form by its parts", async () => {
  const headers = { authorization: `Bearer ${KEY}` };
  const one = await fetch(`${gateway.url}/v1/explain?format=/v1/images/generations`, {
    ...{ method: "POST", body: JSON.stringify({ model, prompt: "a", n: 2 }) },
    headers: { ...headers, "content-type": "application/json" },
  });
  expect((await one.json()) as JsonObject).toMatchObject({
    served_by: { provider: "openai", format: "openai-images", lane: "native" },
    request: { body: { model: "gpt-image-1.5", prompt: "a", n: 2 } },
  });
  const form = new FormData();
  form.append("image", new File([new Uint8Array(2_000_000)], "a.png", { type: "image/png" }));
  form.append("prompt", "red");
  form.append("model", model);
  const before = openai.requests.length;
  const url = `${gateway.url}/v1/explain?format=/v1/images/edits`;
  const other = await fetch(url, { method: "POST", body: form, headers });
  expect((await other.json()) as JsonObject).toMatchObject({
    served_by: { provider: "openai", format: "openai-image-edits" },
    request: {
      parts: [
        { name: "image", filename: "a.png", type: "image/png", length: 2_000_000 },
        { name: "prompt", length: 3 },
        { name: "model", length: model.length },
      ],
      changed: ["model"],
    },
  });
  expect(openai.requests.length).toBe(before);
});
