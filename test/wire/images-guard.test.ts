/** Guards at images: they see prompts in JSON and in forms, and what they change reaches the host. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { toFile } from "openai";
import { type RunningGateway, startGateway } from "../helpers/gateway.ts";
import { openaiClient, seeError } from "../helpers/sdk.ts";
import { json, sse, startUpstream, type Upstream } from "../helpers/upstream.ts";

setDefaultTimeout(60_000);

let openai: Upstream;
let gateway: RunningGateway;
const ANSWER = { created: 1, data: [{ b64_json: "aGk=", revised_prompt: "a cat" }] };

beforeAll(async () => {
  openai = startUpstream(() => json(ANSWER));
  gateway = await startGateway({
    config: {
      providers: { openai: { apiKey: "k", baseUrl: `${openai.url}/v1` } },
      guards: {
        mails: { find: ["email"], do: "mask" },
        words: { find: [{ name: "word", pattern: "forbidden", longest: 9 }], do: "block", on: ["input"] },
      },
    },
    env: { WEIR_STATE: "none" },
  });
});
afterAll(async () => {
  await gateway.stop();
  openai.stop();
});

const client = () => openaiClient(gateway.url);
const model = "openai/gpt-image-1.5";

test("a prompt that is masked reaches the host masked, in a form, too", async () => {
  await client().images.generate({ model, prompt: "a letter to anna@example.com" });
  expect(openai.requests.at(-1)!.body.toString()).not.toContain("anna@example.com");
  const bytes = Buffer.alloc(1_200_000, 3);
  const image = await toFile(bytes, "a.png", { type: "image/png" });
  await client().images.edit({ model, prompt: "a letter to anna@example.com", image });
  const { body, headers } = openai.requests.at(-1)!;
  const form = await new Response(new Uint8Array(body), {
    headers: { "content-type": headers.get("content-type")! },
  }).formData();
  expect(form.get("prompt")).toStartWith("a letter to ");
  expect(form.get("prompt")).not.toContain("anna@example.com");
  expect(Buffer.from(await (form.get("image") as File).arrayBuffer()).equals(bytes)).toBe(true);
});

test("a blocked prompt reaches no host, and the file of its form is gone", async () => {
  const before = openai.requests.length;
  const image = await toFile(Buffer.alloc(2_000_000), "a.png", { type: "image/png" });
  const one = await seeError(() => client().images.generate({ model, prompt: "forbidden" }));
  const other = await seeError(() => client().images.edit({ model, prompt: "forbidden", image }));
  expect([other.status, other.code]).toEqual([one.status, "blocked_by_guard"]);
  expect(one.status).toBeGreaterThanOrEqual(400);
  expect(openai.requests.length).toBe(before);
});

test("a stream of images passes", async () => {
  const event = `event: image_generation.completed\ndata: {"type":"image_generation.completed","b64_json":"aGk="}\n\n`;
  openai.answer(() => sse([event]));
  const types: string[] = [];
  for await (const { type } of await client().images.generate({ model, prompt: "a", stream: true }))
    types.push(type);
  expect(types).toEqual(["image_generation.completed"]);
});
