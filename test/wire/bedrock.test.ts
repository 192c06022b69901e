/** Claude on Bedrock, over sockets: requests as AWS accepts them, answers as each client expects them. */
import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import {
  asClaude,
  awsError,
  type Bedrock,
  CLAUDE_EVENTS,
  CLAUDE_MESSAGE,
  startBedrock,
} from "../helpers/bedrock.ts";
import { type RunningGateway, startGateway } from "../helpers/gateway.ts";
import { anthropicClient, openaiClient } from "../helpers/sdk.ts";
import { readStreamed } from "../helpers/streamed.ts";
import { json } from "../helpers/upstream.ts";

const KEY_ID = "AKIDCANARY0123456789";
const SECRET = "secret-canary-0123456789abcdef";
const SESSION = "session-canary-0123456789abcdef";
const MODEL = "bedrock/us.anthropic.claude-sonnet-4-6-v1:0";
const PATH = "/model/us.anthropic.claude-sonnet-4-6-v1%3A0";

let bedrock: Bedrock;
let gateway: RunningGateway;

beforeAll(async () => {
  bedrock = startBedrock({ secrets: { [KEY_ID]: SECRET } });
  gateway = await startGateway({
    env: {
      AWS_REGION: "eu-central-1",
      AWS_ACCESS_KEY_ID: KEY_ID,
      AWS_SECRET_ACCESS_KEY: SECRET,
      AWS_SESSION_TOKEN: SESSION,
      BEDROCK_BASE_URL: bedrock.url,
    },
  });
});

afterAll(async () => {
  await gateway.stop();
  bedrock.stop();
});

beforeEach(() => {
  bedrock.handle(asClaude);
  bedrock.requests.length = bedrock.faults.length = 0;
});

const ask = { model: MODEL, max_tokens: 9, messages: [{ role: "user" as const, content: "hi" }] };

function post(body: object | string, headers: Record<string, string> = {}, path = "/v1/messages") {
  return fetch(gateway.url + path, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
}

const sentBody = () => JSON.parse(bedrock.requests.at(-1)!.body.toString()) as Record<string, unknown>;
const warnings = (response: Response) => response.headers.get("x-weir-warnings") ?? "";

test("a messages client's bytes reach Bedrock without model and stream, with the version, signed", async () => {
  const body = `{ "model":"${MODEL}","stream":false, "max_tokens":9,\n"messages":[{"role":"user", "content":"grüße"}],"metadata":{"b":1,"a":2}}`;
  const response = await post(body);
  expect([response.status, await response.json()]).toEqual([200, CLAUDE_MESSAGE]);
  expect(response.headers.get("x-weir-lane")).toBe("native");
  const { path, headers, body: sent } = bedrock.requests[0]!;
  expect(path).toBe(`${PATH}/invoke`);
  expect(sent.toString()).toBe(
    '{"anthropic_version":"bedrock-2023-05-31",  "max_tokens":9,\n"messages":[{"role":"user", "content":"grüße"}],"metadata":{"b":1,"a":2}}',
  );
  expect(headers.get("x-amz-security-token")).toBe(SESSION);
  expect(headers.get("authorization")).toMatch(
    /\/eu-central-1\/bedrock\/aws4_request, SignedHeaders=content-type;host;x-amz-content-sha256;x-amz-date;x-amz-security-token,/,
  );
  for (const name of ["anthropic-version", "anthropic-beta", "x-app"]) expect(headers.has(name)).toBe(false);
  expect(bedrock.faults).toEqual([]);
});

test("the version is the client's: of the body, of the header, else the one that Bedrock knows", async () => {
  const versions = async (body: object, headers?: Record<string, string>) => {
    await (await post({ ...ask, ...body }, headers)).json();
    return sentBody()["anthropic_version"];
  };
  expect(await versions({})).toBe("bedrock-2023-05-31");
  expect(await versions({}, { "anthropic-version": "2023-06-01" })).toBe("bedrock-2023-05-31");
  expect(await versions({}, { "anthropic-version": "2026-10-21" })).toBe("2026-10-21");
  expect(await versions({ anthropic_version: "x" }, { "anthropic-version": "2026-10-21" })).toBe("x");
});

test("the Anthropic SDK reads a stream with its pings, and the padding of the frames reaches no client", async () => {
  const message = await anthropicClient(gateway.url).messages.stream(ask).finalMessage();
  expect(message).toMatchObject({
    content: CLAUDE_MESSAGE.content,
    usage: { input_tokens: 5, output_tokens: 2 },
  });
  expect(bedrock.requests[0]!.path).toBe(`${PATH}/invoke-with-response-stream`);
  expect(Object.keys(sentBody())).toEqual(["anthropic_version", "max_tokens", "messages"]);
  const { text } = await readStreamed(await post({ ...ask, stream: true }), true);
  expect(text).toBe(
    CLAUDE_EVENTS.map(
      (event) => `event: ${(event as { type: string }).type}\ndata: ${JSON.stringify(event)}\n\n`,
    ).join(""),
  );
});

test("chat-completions and responses clients get Claude's answers over the same operation", async () => {
  const client = openaiClient(gateway.url);
  const completion = await client.chat.completions.create({ model: MODEL, messages: ask.messages });
  expect(completion.choices[0]!.message.content).toBe("Grüße 😀");
  expect(completion.usage).toMatchObject({ prompt_tokens: 5, completion_tokens: 2 });
  expect(bedrock.requests[0]!.path).toBe(`${PATH}/invoke`);
  expect(Object.keys(sentBody())).not.toContain("model");
  expect(sentBody()["anthropic_version"]).toBe("bedrock-2023-05-31");
  const response = await client.responses.create({ model: MODEL, input: "hi" });
  expect(response.output_text).toBe("Grüße 😀");
  const chunks = await Array.fromAsync(
    await client.chat.completions.create({ model: MODEL, messages: ask.messages, stream: true }),
  );
  expect(chunks.map(({ choices }) => choices[0]?.delta.content ?? "").join("")).toBe("Grüße 😀");
  expect(sentBody()["stream"]).toBeUndefined();
  expect(bedrock.faults).toEqual([]);
});

test("other models, and ARNs that name no family, are reached over Converse", async () => {
  const answer = {
    output: { message: { role: "assistant", content: [{ text: "Grüße 😀" }] } },
    ...{ stopReason: "end_turn", usage: { inputTokens: 5, outputTokens: 2, totalTokens: 7 } },
  };
  bedrock.handle(() => json(answer));
  const arn = "arn:aws:bedrock:eu-central-1:123456789012:application-inference-profile/abc123";
  for (const [model, path] of [
    ["us.amazon.nova-pro-v1:0", "/model/us.amazon.nova-pro-v1%3A0/converse"],
    [
      arn,
      "/model/arn%3Aaws%3Abedrock%3Aeu-central-1%3A123456789012%3Aapplication-inference-profile%2Fabc123/converse",
    ],
  ] as const) {
    const message = await anthropicClient(gateway.url).messages.create({ ...ask, model: `bedrock/${model}` });
    expect(message.content).toMatchObject(CLAUDE_MESSAGE.content);
    expect(bedrock.requests.at(-1)!.path).toBe(path);
  }
  expect(bedrock.faults).toEqual([]);
});

test("the config says which ARNs are Claude, and an ARN of another region is refused", async () => {
  const arn = "arn:aws:bedrock:eu-central-1:123456789012:application-inference-profile/claude1";
  const invoke = { json: "/model/{model}/invoke", stream: "/model/{model}/invoke-with-response-stream" };
  const other = await startGateway({
    env: { AWS_BEARER_TOKEN_BEDROCK: "bedrock-key-0123456789", BEDROCK_BASE_URL: bedrock.url },
    config: {
      providers: {
        bedrock: {
          variables: { region: "eu-central-1" },
          speaks: {
            messages: { ...invoke, models: ["*anthropic.claude*", "*/claude1"] },
            converse: { json: "/model/{model}/converse", stream: "/model/{model}/converse-stream" },
          },
        },
      },
    },
  });
  try {
    const explained = async (model: string) => {
      const response = await fetch(`${other.url}/v1/explain?format=messages`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ ...ask, model: `bedrock/${model}` }),
      });
      return (await response.json()) as { served_by?: { format: string }; error?: { message: string } };
    };
    expect((await explained(arn)).served_by?.format).toBe("messages");
    expect((await explained(arn.replace("claude1", "x"))).served_by?.format).toBe("converse");
    const refused = await explained(arn.replace("eu-central-1", "us-east-1"));
    expect(refused.error?.message).toContain(
      "is an ARN of the region us-east-1, and the region of the provider is eu-central-1",
    );
  } finally {
    await other.stop();
  }
});

test("a schema is a tool where Bedrock refuses it in output_config, and the tool is not strict", async () => {
  const schema = {
    type: "object",
    properties: { a: { type: "string" } },
    required: ["a"],
    additionalProperties: false,
  };
  const request = {
    ...{
      messages: ask.messages,
      response_format: { type: "json_schema", json_schema: { name: "s", schema } },
    },
    tools: [{ type: "function", function: { name: "f", parameters: schema, strict: true } }],
  };
  const sentFor = async (model: string) => {
    const response = await post({ ...request, model: `bedrock/${model}` }, {}, "/v1/chat/completions");
    await response.text();
    const sent = sentBody() as {
      output_config?: { format?: object };
      tools: { name: string; strict?: boolean }[];
    };
    return { format: sent.output_config?.format, tools: sent.tools, warned: warnings(response) };
  };
  const native = await sentFor("us.anthropic.claude-sonnet-4-5-20250929-v1:0");
  expect(native.format).toBeDefined();
  expect(native.tools).toMatchObject([{ name: "f", strict: true }]);
  const refused = await sentFor("us.anthropic.claude-opus-4-8");
  expect(refused.format).toBeUndefined();
  expect(refused.tools).toHaveLength(2);
  expect(refused.tools.map(({ strict }) => strict)).toEqual([undefined, undefined]);
  expect(refused.warned).toContain("downgraded:response_format");
  expect(refused.warned).toContain("dropped:tools[0].function.strict");
});

test("beta features move from the header into the body, and those that Bedrock lacks are reported", async () => {
  const tools = [{ name: "t", input_schema: { type: "object" }, eager_input_streaming: true }];
  const response = await post(
    { ...ask, tools },
    { "anthropic-beta": "context-1m-2025-08-07,fine-grained-tool-streaming-2025-05-14" },
  );
  expect(response.status).toBe(200);
  expect(sentBody()["anthropic_beta"]).toEqual(["context-1m-2025-08-07"]);
  expect(sentBody()["tools"]).toEqual([{ name: "t", input_schema: { type: "object" } }]);
  expect(bedrock.requests[0]!.headers.has("anthropic-beta")).toBe(false);
  expect(warnings(response)).toContain("dropped:anthropic-beta");
  expect(warnings(response)).toContain("dropped:tools[0].eager_input_streaming");
});

test("a plugin that edits requests changes nothing of that", async () => {
  const edited = await startGateway({
    env: {
      AWS_REGION: "eu-central-1",
      AWS_ACCESS_KEY_ID: KEY_ID,
      AWS_SECRET_ACCESS_KEY: SECRET,
      BEDROCK_BASE_URL: bedrock.url,
    },
    plugins: {
      "edit.ts":
        'import { definePlugin } from "weir";\nexport default definePlugin({ name: "edit", hooks: { request() {} } });',
    },
  });
  try {
    const response = await fetch(`${edited.url}/v1/messages`, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        "anthropic-beta": "context-1m-2025-08-07,unknown-2020-01-01",
      },
      body: JSON.stringify({ ...ask, stream: true }),
    });
    expect((await readStreamed(response, true)).text).toContain("message_stop");
    expect(warnings(response)).toContain("dropped:anthropic-beta");
    const { path, headers } = bedrock.requests[0]!;
    expect([path, headers.has("anthropic-beta")]).toEqual([`${PATH}/invoke-with-response-stream`, false]);
    expect(sentBody()).toEqual({
      max_tokens: 9,
      messages: [{ role: "user", content: [{ type: "text", text: "hi" }] }],
      anthropic_version: "bedrock-2023-05-31",
      anthropic_beta: ["context-1m-2025-08-07"],
    });
  } finally {
    await edited.stop();
  }
});

test("a refusal of a beta feature costs one more request, without any", async () => {
  bedrock.handle((asked) =>
    asked.body["anthropic_beta"] === undefined
      ? asClaude(asked)
      : awsError(400, "ValidationException", "invalid beta flag"),
  );
  const response = await post(
    { ...ask, context_management: { edits: [] } },
    { "anthropic-beta": "context-management-2025-06-27" },
  );
  expect(response.status).toBe(200);
  expect(bedrock.requests).toHaveLength(2);
  expect(sentBody()["context_management"]).toBeUndefined();
  expect(warnings(response)).toContain("dropped:anthropic-beta");
  bedrock.handle(() => awsError(400, "ValidationException", "invalid beta flag"));
  bedrock.requests.length = 0;
  expect((await post(ask, { "anthropic-beta": "context-1m-2025-08-07" })).status).toBe(400);
  expect(bedrock.requests).toHaveLength(2);
});

test("tokens are counted for the foundation model, and estimated if Bedrock does not count", async () => {
  bedrock.handle(() => json({ inputTokens: 42 }));
  const { max_tokens: _max, ...count } = ask;
  const counted = await post({ ...count, system: "s" }, {}, "/v1/messages/count_tokens");
  expect(await counted.json()).toEqual({ input_tokens: 42 });
  expect(bedrock.requests[0]!.path).toBe("/model/anthropic.claude-sonnet-4-6-v1%3A0/count-tokens");
  const { input } = sentBody() as { input: { invokeModel: { body: string } } };
  expect(JSON.parse(Buffer.from(input.invokeModel.body, "base64").toString())).toEqual({
    anthropic_version: "bedrock-2023-05-31",
    max_tokens: 1,
    system: "s",
    messages: ask.messages,
  });
  bedrock.handle(() =>
    awsError(400, "ValidationException", "The provided model doesn't support counting tokens."),
  );
  const estimated = await post(count, {}, "/v1/messages/count_tokens");
  expect(estimated.status).toBe(200);
  expect(((await estimated.json()) as { input_tokens: number }).input_tokens).toBeGreaterThan(0);
  expect(warnings(estimated)).toContain("synthesized:input_tokens");
  expect(bedrock.faults).toEqual([]);
});

test("explain shows method, URL, framing, the masked signature and the credentials in use", async () => {
  const response = await post({ ...ask, stream: true }, {}, "/v1/explain?format=messages");
  const { request } = (await response.json()) as { request: Record<string, unknown> };
  expect(request).toMatchObject({
    method: "POST",
    url: `${bedrock.url}${PATH}/invoke-with-response-stream`,
    framing: "application/vnd.amazon.eventstream",
    headers: {
      "content-type": "application/json",
      authorization: "***",
      "x-amz-content-sha256": "***",
      "x-amz-date": "***",
      "x-amz-security-token": "***",
    },
    authorized_with: ["$AWS_ACCESS_KEY_ID", "$AWS_SECRET_ACCESS_KEY", "$AWS_SESSION_TOKEN"],
    body: { anthropic_version: "bedrock-2023-05-31", max_tokens: 9 },
    changed: expect.arrayContaining(["anthropic_version", "model", "stream"]) as string[],
  });
  expect(bedrock.requests).toEqual([]);
});
