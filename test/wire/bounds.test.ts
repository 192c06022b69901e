/** What clients choose and weir keeps, logs or sends back is bounded, whatever its length. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type RunningGateway, startGateway, upstreamConfig } from "../helpers/gateway.ts";
import { json, startUpstream, until, type Upstream } from "../helpers/upstream.ts";

let gateway: RunningGateway;
let upstream: Upstream;

const COMPLETION = {
  id: "c",
  object: "chat.completion",
  created: 1,
  model: "m",
  choices: [{ index: 0, message: { role: "assistant", content: "hi" }, finish_reason: "stop" }],
};

beforeAll(async () => {
  upstream = startUpstream(json(COMPLETION));
  gateway = await startGateway({
    config: upstreamConfig({ openai: upstream.url, anthropic: upstream.url }),
  });
});

afterAll(async () => {
  await gateway.stop();
  upstream.stop();
});

const PATHS = ["/v1/chat/completions", "/v1/messages", "/v1/messages/count_tokens", "/v1/explain"];

const post = (path: string, body: string) =>
  fetch(gateway.url + path, { method: "POST", headers: { "content-type": "application/json" }, body });

const bodyOf = (model: string) =>
  `{"model":"${model}","max_tokens":9,"messages":[{"role":"user","content":"go"}]}`;

interface ErrorBody {
  error: { message: string; param?: string; code?: string };
}

describe("a model name of more than 256 bytes is 400 on `model`", () => {
  const NAMES: readonly [why: string, name: string][] = [
    ["one byte too many", `openai/${"x".repeat(250)}`],
    ["letters of three bytes", `openai/${"漢".repeat(90)}`],
    ["letters spelled in digits", `openai/${"\\u00e9".repeat(130)}`],
    ["a kilobyte", "x".repeat(1_000)],
    ["a megabyte", "x".repeat(1_000_000)],
    ["more than is outlined", "x".repeat(5_000_000)],
  ];
  for (const path of PATHS)
    for (const [why, name] of NAMES)
      test(`${path}, ${why}`, async () => {
        const response = await post(path, bodyOf(name));
        const text = await response.text();
        const { error } = JSON.parse(text) as ErrorBody;
        expect([response.status, error.message]).toEqual([400, expect.stringContaining("'model'")]);
        expect(text.length).toBeLessThan(400);
        for (const [, value] of response.headers) expect(value.length).toBeLessThanOrEqual(256);
      });

  test("and one of 256 bytes is served, however it is spelled", async () => {
    for (const name of [`openai/${"x".repeat(249)}`, `openai/${"\\u0078".repeat(249)}`]) {
      const response = await post("/v1/chat/completions", bodyOf(name));
      expect(response.status).toBe(200);
      expect(response.headers.get("x-weir-model")).toBe("x".repeat(249));
      await response.text();
    }
  });
});

test("GET /v1/models/ID repeats at most 256 bytes of the id, and serves no longer one", async () => {
  const response = await fetch(`${gateway.url}/v1/models/openai/${"x".repeat(5_000)}`);
  const text = await response.text();
  expect(response.status).toBe(404);
  expect(text.length).toBeLessThan(600);
});

/** Requests with a long text where the sentence of a refusal, a warning or the log may repeat it. */
const LONG = "y".repeat(100_000);
const message = { role: "user", content: "go" };
const REQUESTS: readonly [why: string, path: string, body: object][] = [
  ["a role", PATHS[0]!, { model: "openai/m", messages: [{ role: LONG, content: "x" }] }],
  ["a role", PATHS[1]!, { model: "anthropic/m", max_tokens: 9, messages: [{ role: LONG, content: "x" }] }],
  ["a member", PATHS[0]!, { model: "anthropic/m", messages: [message], [LONG]: 1 }],
  ["a member", PATHS[1]!, { model: "openai/m", max_tokens: 9, messages: [message], [LONG]: 1 }],
  [
    "a part type",
    PATHS[0]!,
    { model: "anthropic/m", messages: [{ role: "user", content: [{ type: LONG }] }] },
  ],
  [
    "a block type",
    PATHS[1]!,
    { model: "openai/m", max_tokens: 9, messages: [{ role: "user", content: [{ type: LONG }] }] },
  ],
  ["a tool type", PATHS[0]!, { model: "anthropic/m", messages: [message], tools: [{ type: LONG }] }],
  [
    "a tool type",
    PATHS[1]!,
    { model: "openai/m", max_tokens: 9, messages: [message], tools: [{ type: LONG, name: "f" }] },
  ],
  ["a tool choice", PATHS[0]!, { model: "anthropic/m", messages: [message], tool_choice: LONG }],
  [
    "a tool choice",
    PATHS[1]!,
    { model: "openai/m", max_tokens: 9, messages: [message], tool_choice: { type: LONG } },
  ],
  [
    "a tool of no name",
    PATHS[0]!,
    {
      model: "anthropic/m",
      messages: [message],
      tool_choice: { type: "function", function: { name: LONG } },
    },
  ],
  ["an effort", PATHS[0]!, { model: "anthropic/m", messages: [message], reasoning_effort: LONG }],
  [
    "a response format",
    PATHS[0]!,
    { model: "anthropic/m", messages: [message], response_format: { type: LONG } },
  ],
  [
    "a call nobody made",
    PATHS[0]!,
    { model: "anthropic/m", messages: [message, { role: "tool", tool_call_id: LONG, content: "x" }] },
  ],
  [
    "a media type",
    PATHS[1]!,
    {
      model: "openai/m",
      max_tokens: 9,
      messages: [
        {
          role: "user",
          content: [{ type: "image", source: { type: "base64", media_type: LONG, data: "aaaa" } }],
        },
      ],
    },
  ],
  [
    "an address",
    PATHS[0]!,
    {
      model: "anthropic/m",
      messages: [{ role: "user", content: [{ type: "image_url", image_url: { url: LONG } }] }],
    },
  ],
  ["a tier", PATHS[0]!, { model: "anthropic/m", messages: [message], service_tier: LONG }],
];

describe("a long text of the client comes back short", () => {
  for (const [why, path, body] of REQUESTS)
    test(`${why} of ${path}`, async () => {
      const seen = gateway.log.length;
      const response = await post(path, JSON.stringify(body));
      const text = await response.text();
      expect(text.length).toBeLessThan(5_000);
      for (const [name, value] of response.headers) expect([name, value.length <= 512]).toEqual([name, true]);
      await until(
        () => gateway.log.length > seen,
        5_000,
        () => "the call has no line in the log",
      );
      for (const line of gateway.log.slice(seen)) expect(line.length).toBeLessThan(4_000);
    });
});
