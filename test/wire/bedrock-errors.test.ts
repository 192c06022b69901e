/** Errors of Bedrock and its broken streams, as each client gets them. */
import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import {
  asClaude,
  awsError,
  type Bedrock,
  CLAUDE_EVENTS,
  eventStreamOf,
  exceptionFrame,
  invokeFrame,
  startBedrock,
} from "../helpers/bedrock.ts";
import { type RunningGateway, startGateway } from "../helpers/gateway.ts";
import { readStreamed } from "../helpers/streamed.ts";

const KEY_ID = "AKIDCANARY0123456789";
const SECRET = "secret-canary-0123456789abcdef";
const SESSION = "session-canary-0123456789abcdef";
const MODEL = "bedrock/us.anthropic.claude-sonnet-4-6-v1:0";

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

test("the log has the request id of AWS", async () => {
  bedrock.handle(() => awsError(400, "ValidationException", "no"));
  await post(ask);
  for (let tries = 0; tries < 500 && !gateway.log.join("").includes("aws-request-1"); tries++)
    await Bun.sleep(10);
  expect(gateway.log.join("\n")).toContain("aws-request-1");
});

const PATHS = {
  "/v1/messages": ask,
  "/v1/chat/completions": ask,
  "/v1/responses": { model: MODEL, input: "hi" },
};

test("synthetic: errors of AWS have the right status for each client", async () => {
  const rows: [status: number, name: string, message: string, expected: number][] = [
    [429, "ThrottlingException", "Too many requests", 429],
    [503, "ServiceUnavailableException", "busy", 503],
    [400, "ValidationException", "messages: Field required", 400],
    [400, "ValidationException", "Input is too long for requested model.", 400],
    [404, "ResourceNotFoundException", "This model version has reached the end of its life.", 404],
    [403, "AccessDeniedException", "You don't have access to the model with the specified model ID.", 502],
  ];
  for (const [path, body] of Object.entries(PATHS))
    for (const [status, name, message, expected] of rows) {
      bedrock.handle(() => awsError(status, name, message));
      const response = await post({ ...body }, { "x-stainless-retry-count": "0" }, path);
      const got = response.status === 529 ? 503 : response.status;
      expect([path, name, got]).toEqual([path, name, expected]);
      const text = await response.text();
      if (expected !== 502) expect(text).toContain(message.slice(0, 20));
    }
});

test("a model that needs an inference profile is refused with that advice", async () => {
  const message =
    "Invocation of model ID x with on-demand throughput isn’t supported. Retry your request with the ID or ARN of an inference profile that contains this model.";
  bedrock.handle(() => awsError(400, "ValidationException", message));
  for (const [path, body] of Object.entries(PATHS))
    expect(await (await post(body, {}, path)).text()).toContain("prefix of your geography");
});

test("synthetic: an exception inside a stream is an error in each client's format, and never an end", async () => {
  const before = CLAUDE_EVENTS.slice(0, 4).map(invokeFrame);
  const thrown = exceptionFrame("throttlingException", "Too many requests, please wait");
  for (const [path, body] of Object.entries(PATHS)) {
    bedrock.handle(() => eventStreamOf([Buffer.concat([...before, thrown])]));
    const { text } = await readStreamed(await post({ ...body, stream: true }, {}, path), true);
    expect(text).toContain("Grüße 😀");
    expect(text).toContain("Too many requests, please wait");
    expect(text).not.toMatch(/message_stop|\[DONE\]|response\.completed/);
    bedrock.handle(() => eventStreamOf([thrown]));
    const early = await post({ ...body, stream: true }, { "x-stainless-retry-count": "0" }, path);
    expect([path, early.status]).toEqual([path, 429]);
    expect(await early.text()).toContain("Too many requests, please wait");
  }
});

test("synthetic: a stream that ends before its stop reason is an error for every client", async () => {
  for (const [path, body] of Object.entries(PATHS)) {
    bedrock.handle(() => eventStreamOf(CLAUDE_EVENTS.slice(0, 4).map(invokeFrame)));
    const { text } = await readStreamed(await post({ ...body, stream: true }, {}, path), true);
    expect(text).toContain("Grüße 😀");
    expect([path, text.includes("error")]).toEqual([path, true]);
    expect(text).not.toMatch(/message_stop|\[DONE\]|response\.completed/);
  }
});

test("synthetic: a stream without message_stop is an error for a client of the same format", async () => {
  bedrock.handle(() => eventStreamOf(CLAUDE_EVENTS.slice(0, -1).map(invokeFrame)));
  const { text } = await readStreamed(await post({ ...ask, stream: true }), true);
  expect(text).toContain("event: error");
  expect(text).not.toContain("message_stop");
});

test("no client and no log sees a credential, also if Bedrock repeats it", async () => {
  for (const [path, body] of Object.entries(PATHS)) {
    bedrock.handle(() => awsError(400, "ValidationException", `${SECRET} ${SESSION}`));
    const text = await (await post(body, {}, path)).text();
    for (const secret of [SECRET, SESSION]) expect(text).not.toContain(secret);
  }
  for (const secret of [SECRET, SESSION]) expect(gateway.log.join("\n")).not.toContain(secret);
});
