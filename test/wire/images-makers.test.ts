/** Images of makers with requests of their own, and of plugins, asked by OpenAI's SDK. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { toFile } from "openai";
import type { JsonObject } from "../../src/core/json.ts";
import { CHARGE_STATES } from "../../src/ledger/charge.ts";
import { type BookedGateway, startBooked } from "../helpers/books.ts";
import { startGateway } from "../helpers/gateway.ts";
import { openaiClient, seeError } from "../helpers/sdk.ts";
import { type Handler, json, startUpstream, type Upstream } from "../helpers/upstream.ts";

setDefaultTimeout(60_000);

const BIG = Buffer.alloc(5_000_000, 8).toString("base64");

const gemini: Handler = () =>
  json({
    candidates: [
      {
        content: {
          parts: [
            { thought: true, inlineData: { mimeType: "image/png", data: "ZHJhZnQ=" } },
            { text: "Here." },
            { inlineData: { mimeType: "image/png", data: BIG } },
          ],
        },
      },
    ],
    usageMetadata: {
      ...{ promptTokenCount: 300, candidatesTokenCount: 1290, thoughtsTokenCount: 10 },
      promptTokensDetails: [
        { modality: "TEXT", tokenCount: 42 },
        { modality: "IMAGE", tokenCount: 258 },
      ],
      candidatesTokensDetails: [{ modality: "IMAGE", tokenCount: 1290 }],
    },
  });
const imagen: Handler = () =>
  json({
    predictions: [{ bytesBase64Encoded: "aGk=", mimeType: "image/png" }, { bytesBase64Encoded: "aG8=" }],
  });
const like: Handler = () => json({ created: 1, data: [{ b64_json: "aGk=" }] });

const PLUGIN = `import { definePlugin } from "weir";
export default definePlugin({
  name: "draws",
  providers: [
    {
      name: "draws",
      models: ["draws/*"],
      does: {
        async image({ prompt, count, images }) {
          const seen = await Promise.all(images.map(async ({ read }) => (await read()).length));
          return {
            images: Array.from({ length: count }, () => ({ base64: btoa([prompt, ...seen].join(" ")) })),
            usage: { units: { image: count } },
          };
        },
      },
    },
    { name: "hosts", models: ["hosts/*"], baseUrl: "http://127.0.0.1:9", does: { image: { "openai-images": "/draw" } } },
  ],
});`;

let google: Upstream;
let other: Upstream;
let gateway: BookedGateway;

beforeAll(async () => {
  google = startUpstream((request) =>
    request.path.endsWith(":predict") ? imagen(request) : gemini(request),
  );
  other = startUpstream(like);
  const host = (dialect: string) => ({
    baseUrl: other.url,
    models: ["*"],
    does: { image: { [dialect]: "/draw" } },
  });
  gateway = await startBooked({
    providers: {
      gemini: { apiKey: "k-of-gemini-123456", baseUrl: google.url },
      x: host("xai-images"),
      t: host("together-images"),
      edits: host("openai-image-edits"),
    },
    prices: {
      "gemini/gemini-3-pro-image": { input: 2, output: 12, imageOut: 120 },
      "gemini/imagen-4": { units: { image: 0.04 } },
    },
  });
});
afterAll(async () => {
  await gateway.stop();
  google.stop();
  other.stop();
});

const client = () => openaiClient(gateway.url);
const bodyOf = (upstream: Upstream) => JSON.parse(upstream.requests.at(-1)!.body.toString()) as JsonObject;
const lossesOf = (response: Response) => response.headers.get("x-weir-warnings");

describe("Google", () => {
  test("Gemini draws; what it has no place for is told", async () => {
    const asked = {
      model: "gemini/gemini-3-pro-image",
      prompt: "a red cat",
      size: "1536x1024",
      quality: "high",
      n: 2,
    } as const;
    const { data, response } = await client().images.generate(asked).withResponse();
    expect(data.data).toEqual([{ b64_json: BIG }]);
    expect(data.usage).toMatchObject({ input_tokens: 300, output_tokens: 1300 });
    expect(google.requests.at(-1)!.path).toBe("/v1beta/models/gemini-3-pro-image:generateContent");
    expect(bodyOf(google)).toEqual({
      contents: [{ role: "user", parts: [{ text: "a red cat" }] }],
      generationConfig: { responseModalities: ["IMAGE"], imageConfig: { aspectRatio: "3:2" } },
    });
    for (const lost of ["quality", "n", "size"]) expect(lossesOf(response)).toContain(lost);
  });

  test("Gemini edits the files of a form", async () => {
    const files = [Buffer.from("89504e470d0a1a0a00", "hex"), Buffer.alloc(1_500_000, 4)];
    const image = [
      await toFile(files[0]!, "a.png", { type: "application/octet-stream" }),
      await toFile(files[1]!, "b.webp", { type: "image/webp" }),
    ];
    await client().images.edit({ model: "gemini/gemini-3-pro-image", prompt: "merge", image });
    const [{ parts }] = bodyOf(google)["contents"] as unknown as [{ parts: JsonObject[] }];
    expect(parts).toEqual([
      { text: "merge" },
      { inlineData: { mimeType: "image/png", data: files[0]!.toString("base64") } },
      { inlineData: { mimeType: "image/webp", data: files[1]!.toString("base64") } },
    ]);
  });

  test("a stream has the whole image", async () => {
    const stream = await client().images.generate({
      model: "gemini/gemini-3-pro-image",
      prompt: "a",
      stream: true,
      partial_images: 2,
    });
    const events: [string, number][] = [];
    for await (const { type, b64_json: base64 } of stream) events.push([type, base64.length]);
    expect(events).toEqual([["image_generation.completed", BIG.length]]);
  });

  test("Imagen makes several", async () => {
    const answer = await client().images.generate({
      model: "imagen-4",
      prompt: "a",
      n: 2,
      size: "1024x1792",
    });
    expect(answer.data).toEqual([{ b64_json: "aGk=" }, { b64_json: "aG8=" }]);
    expect(bodyOf(google)).toEqual({
      instances: [{ prompt: "a" }],
      parameters: { sampleCount: 2, aspectRatio: "9:16" },
    });
  });

  test("Imagen edits nothing", async () => {
    const image = await toFile(Buffer.from("png"), "a.png");
    const error = await seeError(() => client().images.edit({ model: "imagen-4", prompt: "a", image }));
    expect([error.status, error.message]).toEqual([400, expect.stringContaining("edits no images")]);
  });
});

describe("hosts like OpenAI", () => {
  test("xAI gets a ratio", async () => {
    await client().images.generate({
      model: "x/grok-image",
      prompt: "a",
      size: "1024x1024",
      response_format: "b64_json",
    });
    expect(bodyOf(other)).toEqual({
      model: "grok-image",
      prompt: "a",
      n: 1,
      aspect_ratio: "1:1",
      response_format: "b64_json",
    });
  });

  test("Together gets width and height, and the file of an edit", async () => {
    const image = await toFile(Buffer.from("png"), "a.png", { type: "image/png" });
    await client().images.edit({ model: "t/flux", prompt: "a", image, size: "1024x1536" });
    expect(bodyOf(other)).toEqual({
      ...{ model: "flux", prompt: "a", n: 1, width: 1024, height: 1536 },
      image_url: `data:image/png;base64,${Buffer.from("png").toString("base64")}`,
    });
  });

  test("a generation is refused by a host that only edits", async () => {
    const error = await seeError(() => client().images.generate({ model: "edits/m", prompt: "a" }));
    expect(error.status).toBe(400);
  });
});

test("a plugin is a provider as a function and as a host", async () => {
  const own = await startGateway({
    plugins: { "draws.ts": PLUGIN },
    config: { providers: { hosts: { baseUrl: other.url } } },
    env: { WEIR_STATE: "none" },
  });
  try {
    const image = await toFile(Buffer.alloc(2_000_000), "a.png", { type: "image/png" });
    const { data } = await openaiClient(own.url).images.edit({
      model: "draws/a",
      prompt: "red",
      image,
      n: 2,
    });
    expect(data!.map(({ b64_json: base64 }) => atob(base64!))).toEqual(["red 2000000", "red 2000000"]);
    const hosted = await openaiClient(own.url).images.generate({ model: "hosts/a", prompt: "red" });
    expect([hosted.data, other.requests.at(-1)!.path]).toEqual([[{ b64_json: "aGk=" }], "/draw"]);
  } finally {
    await own.stop();
  }
});

test("tokens of Gemini and images of Imagen are charged", async () => {
  const { calls } = await gateway.finish();
  const charged = calls.filter(({ status, cost }) => status === 200 && cost > 0);
  // 300 tokens in at $2, 10 of reasoning at $12 and 1,290 of images at $120 a million; two images at 4 cents.
  const tokens = 300 * 2_000 + 10 * 12_000 + 1290 * 120_000;
  expect(charged.map(({ cost, state }) => [cost, CHARGE_STATES[state]!])).toEqual([
    ...[tokens, tokens, tokens].map((cost) => [cost, "metered"] as [number, "metered"]),
    [80_000_000, "metered"],
  ]);
});
