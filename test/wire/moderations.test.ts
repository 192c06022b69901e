/** Moderations by OpenAI's SDK at fakes of OpenAI and Mistral, and at the mock. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { JsonObject } from "../../src/core/json.ts";
import { type RunningGateway, startGateway } from "../helpers/gateway.ts";
import { openaiClient, seeError } from "../helpers/sdk.ts";
import { json, startUpstream, type Upstream } from "../helpers/upstream.ts";

const bodyOf = (request: { body: Uint8Array }) =>
  JSON.parse(Buffer.from(request.body).toString()) as JsonObject;

/** OpenAI's answer, with a category that its SDK does not know yet. */
const OPENAI =
  '{"id":"modr-1","model":"omni-moderation-2024-09-26","results":[{"flagged":true,"categories":{"violence":true,"new/one":false,"illicit":null},"category_scores":{"violence":9.1e-01,"new/one":1e-05},"category_applied_input_types":{"violence":["image"]}}]}';

const MISTRAL = {
  id: "m1",
  model: "mistral-moderation-latest",
  results: [{ categories: { pii: true, sexual: false }, category_scores: { pii: 0.91, sexual: 0.00002 } }],
  usage: { prompt_tokens: 7, total_tokens: 7 },
};

let openai: Upstream;
let mistral: Upstream;
let gateway: RunningGateway;

beforeAll(async () => {
  openai = startUpstream(() => ({ ...json({}), body: OPENAI }));
  mistral = startUpstream(() => json(MISTRAL));
  gateway = await startGateway({
    config: {
      ...{ admin: "off", state: "none" },
      providers: {
        openai: { apiKey: "k", baseUrl: `${openai.url}/v1` },
        mistral: { apiKey: "k", baseUrl: `${mistral.url}/v1` },
      },
    },
  });
});
afterAll(async () => {
  await gateway.stop();
  openai.stop();
  mistral.stop();
});

async function post(path: string, body: JsonObject, headers: Record<string, string> = {}) {
  const response = await fetch(gateway.url + path, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
  });
  return { status: response.status, headers: response.headers, text: await response.text() };
}

test("a request without a model goes to OpenAI, byte for byte there and back", async () => {
  const { text } = await post("/v1/moderations", { input: "hello", later: 1 });
  expect(text).toBe(OPENAI);
  expect(bodyOf(openai.requests.at(-1)!)).toEqual({ input: "hello", later: 1 });
  const { results } = await openaiClient(gateway.url).moderations.create({ input: "hello" });
  expect([results[0]!.flagged, results[0]!.categories.violence]).toEqual([true, true]);
});

test("texts with an image are one input", async () => {
  const input = [
    { type: "text" as const, text: "a" },
    { type: "image_url" as const, image_url: { url: "data:image/png;base64,AAAA" } },
  ];
  const { results } = await openaiClient(gateway.url).moderations.create({
    model: "omni-moderation-latest",
    input,
  });
  expect(results.length).toBe(1);
  expect(bodyOf(openai.requests.at(-1)!)["input"]).toEqual(input);
  const error = await seeError(() =>
    openaiClient(gateway.url).moderations.create({ model: "mistral/mistral-moderation-latest", input }),
  );
  expect([error.status, error.message]).toEqual([400, expect.stringContaining("judges texts")]);
});

test("Mistral's categories keep their names beside those that the SDK knows, and what it did not judge is named", async () => {
  const answer = await openaiClient(gateway.url).moderations.create({
    model: "mistral/mistral-moderation-latest",
    input: ["hello"],
  });
  const [result] = answer.results;
  const categories = result!.categories as unknown as Record<string, boolean>;
  expect([result!.flagged, categories["pii"], categories["sexual"], categories["violence"]]).toEqual([
    true,
    true,
    false,
    false,
  ]);
  expect((result!.category_scores as unknown as Record<string, number>)["pii"]).toBe(0.91);
  expect(Object.keys(result!.category_applied_input_types)).toHaveLength(14);
  const { weir } = result as unknown as { weir: { not_measured: string[] } };
  expect(weir.not_measured).toContain("violence");
  expect(weir.not_measured).not.toContain("sexual");
  expect(bodyOf(mistral.requests.at(-1)!)).toEqual({ model: "mistral-moderation-latest", input: ["hello"] });
  expect(mistral.requests.at(-1)!.path).toBe("/v1/moderations");
});

test("conversations go to Mistral as they are, and to OpenAI as texts, which is told", async () => {
  const input = [{ role: "user", content: "hi" }];
  await post("/v1/chat/moderations", { model: "mistral/mistral-moderation-latest", input });
  expect(mistral.requests.at(-1)!.path).toBe("/v1/chat/moderations");
  expect(bodyOf(mistral.requests.at(-1)!)["input"]).toEqual(input);
  const { headers } = await post("/v1/chat/moderations", { model: "openai/omni-moderation-latest", input });
  expect(headers.get("x-weir-warnings")).toContain("converted:input");
  expect(bodyOf(openai.requests.at(-1)!)["input"]).toBe("hi");
});

test("an answer without a result for each input is a failure, not a verdict", async () => {
  const { status, text } = await post("/v1/moderations", { model: "mistral/m", input: ["a", "b"] });
  expect([status, text]).toEqual([502, expect.stringContaining("sent 1 results for 2 inputs")]);
});

test("the mock judges by words", async () => {
  const client = openaiClient(gateway.url);
  const { results } = await client.moderations.create({
    model: "mock/moderation",
    input: ["nice", "violence"],
  });
  expect(results.map(({ flagged }) => flagged)).toEqual([false, true]);
});

test.each([
  [{}, "input"],
  [{ input: [] }, "input"],
  [{ input: ["a", 1] }, "input[1]"],
  [{ input: [{ type: "text" }] }, "input[0]"],
  [{ input: "a", model: 3 }, "model"],
])("%j is refused with the place of its fault", async (body, param) => {
  const { status, text } = await post("/v1/moderations", body as JsonObject);
  expect([status, (JSON.parse(text) as { error: JsonObject }).error["param"]]).toEqual([400, param]);
});
