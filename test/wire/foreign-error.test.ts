/** Errors that a compatible host gives in another shape than that of the format it was asked in. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { type RunningGateway, startGateway } from "../helpers/gateway.ts";
import { anthropicClient, openaiClient, seeError } from "../helpers/sdk.ts";
import { json, startUpstream, type Upstream } from "../helpers/upstream.ts";

let gateway: RunningGateway;
let upstream: Upstream;

beforeAll(async () => {
  upstream = startUpstream(json({}));
  gateway = await startGateway({
    config: { providers: { llamacpp: { baseUrl: `${upstream.url}/v1` } } },
  });
});

afterAll(async () => {
  await gateway.stop();
  upstream.stop();
});

const request = {
  model: "llamacpp/m",
  max_tokens: 16,
  messages: [{ role: "user" as const, content: "hi" }],
};
const messages = () => seeError(() => anthropicClient(gateway.url).messages.create(request));
const chat = () => seeError(() => openaiClient(gateway.url).chat.completions.create(request));

/** As llama.cpp's server answers on every path. */
const TOO_LONG = {
  error: {
    code: 400,
    message: "request (5031 tokens) exceeds the available context size (2048 tokens), try increasing it",
    type: "exceed_context_size_error",
    n_prompt_tokens: 5031,
    n_ctx: 2048,
  },
};

test("a host that words its errors as OpenAI does is understood by messages clients", async () => {
  upstream.answer(() => json(TOO_LONG, 400));
  expect(await messages()).toMatchObject({
    status: 400,
    type: "invalid_request_error",
    message: expect.stringContaining("prompt is too long: 5031 tokens > 2048 maximum"),
  });
  expect(await chat()).toMatchObject({ status: 400, message: `400 ${TOO_LONG.error.message}` });
});

test("a list of faults, as FastAPI servers give, reaches the client as a sentence", async () => {
  const detail = [
    { type: "greater_than_equal", loc: ["body", "top_k"], msg: "Input should be greater than or equal to 0" },
    { type: "extra_forbidden", loc: ["body", "messages", 0, "name"], msg: "Extra inputs are not permitted" },
  ];
  const sentence =
    "top_k: Input should be greater than or equal to 0; messages.0.name: Extra inputs are not permitted";
  upstream.answer(() => json({ detail }, 422));
  for (const seen of [await chat(), await messages()])
    expect(seen).toMatchObject({
      status: 422,
      type: "invalid_request_error",
      message: expect.stringContaining(sentence),
    });
});

test("an error in the format's own shape reaches the client as it is", async () => {
  const own = { type: "error", error: { type: "odd_error", message: "said by the host" }, more: [1] };
  upstream.answer(() => json(own, 418));
  const response = await fetch(`${gateway.url}/v1/messages`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(request),
  });
  expect(response.status).toBe(418);
  expect(await response.json()).toEqual(own);
});
