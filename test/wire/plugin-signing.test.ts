/** A dropped plugin that signs its requests, for a host with the model in its path and AWS event streams around Messages. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { join } from "node:path";
import { awsMessage } from "../helpers/aws-event-stream.ts";
import { type RunningGateway, startGateway } from "../helpers/gateway.ts";
import { anthropicClient, openaiClient } from "../helpers/sdk.ts";
import { readStreamed } from "../helpers/streamed.ts";
import { json, startUpstream, type Piece, type Upstream, type UpstreamRequest } from "../helpers/upstream.ts";
import { signatureFault } from "../helpers/verify-sig-v4.ts";

const KEY_ID = "AKIDGATEWAY00001";
const SECRET = "secret-canary/0123456789+abcdefghijklmno";
const OTHER_ID = "AKIDGATEWAY00002";
const OTHER = "other-canary/0123456789+abcdefghijklmno";
const SECRETS = { [KEY_ID]: SECRET, [OTHER_ID]: OTHER };
const SESSION = "session-canary-0123456789";

let gateway: RunningGateway;
let upstream: Upstream;
/** Why the host refused requests. */
const faults: string[] = [];

beforeAll(async () => {
  upstream = startUpstream(json({}));
  gateway = await start({});
});

/** @param options options of the provider besides its session token */
async function start(options: object): Promise<RunningGateway> {
  return startGateway({
    plugins: { "signing.ts": await Bun.file(join(import.meta.dir, "plugins/signing.ts")).text() },
    env: {
      SIGNING_BASE_URL: upstream.url,
      AWS_REGION: "eu-central-1",
      SIGNING_ACCESS_KEY_ID: KEY_ID,
      SIGNING_SECRET_ACCESS_KEY: SECRET,
    },
    config: { providers: { signing: { secrets: { SIGNING_SESSION_TOKEN: SESSION }, ...options } } },
  });
}

afterAll(async () => {
  await gateway.stop();
  upstream.stop();
});

type Answering = (request: UpstreamRequest) => ReturnType<typeof json>;

/** Lets the host answer requests whose signature is right, and refuse others. */
function answer(answering: Answering): void {
  upstream.answer((request) => {
    const fault = signatureFault(request, SECRETS);
    if (fault === undefined) return answering(request);
    faults.push(fault);
    return json({ message: fault }, 403);
  });
}

const MESSAGE = {
  ...{ id: "msg_1", type: "message", role: "assistant", model: "m", stop_reason: "end_turn" },
  content: [{ type: "text", text: "Grüße 😀" }],
  usage: { input_tokens: 5, output_tokens: 2 },
};

const events = (text = "Grüße 😀"): object[] => [
  { type: "message_start", message: { ...MESSAGE, content: [], stop_reason: null } },
  { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
  { type: "content_block_delta", index: 0, delta: { type: "text_delta", text } },
  { type: "content_block_stop", index: 0 },
  { type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens: 2 } },
  { type: "message_stop" },
];

const framed = (event: object) =>
  awsMessage(
    { ":event-type": "chunk", ":content-type": "application/json", ":message-type": "event" },
    JSON.stringify({ bytes: Buffer.from(JSON.stringify(event)).toString("base64"), p: "abcd" }),
  );

function stream(body: Iterable<Piece>, ending: "whole" | "fin" = "whole") {
  const headers = { "content-type": "application/vnd.amazon.eventstream" };
  return { headers, body, framing: "chunked" as const, ending };
}

const ask = { max_tokens: 9, messages: [{ role: "user" as const, content: "hi" }] };
const MODEL = "signing/us.anthropic.claude-x-v1:0";
const PATH = "/model/us.anthropic.claude-x-v1%3A0";

test("the native lane: the client's bytes without model and stream, signed, at the path of the model", async () => {
  answer(() => json(MESSAGE));
  const body = `{ "model":"${MODEL}", "stream": false,"max_tokens":9,\n"messages":[{"role":"user","content":"grüße"}]}`;
  const response = await fetch(`${gateway.url}/v1/messages`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body,
  });
  expect([response.status, await response.json()]).toEqual([200, MESSAGE]);
  expect(response.headers.get("x-weir-lane")).toBe("native");
  const request = upstream.requests.at(-1)!;
  expect(request.path).toBe(`${PATH}/invoke`);
  expect(request.headers.get("x-amz-security-token")).toBe(SESSION);
  expect(request.headers.get("authorization")).toContain("/eu-central-1/signing/aws4_request");
  expect(request.body.toString()).toBe(
    '{"anthropic_version":"bedrock-2023-05-31",  "max_tokens":9,\n"messages":[{"role":"user","content":"grüße"}]}',
  );
});

test("the native lane: a stream has its own path, and its events reach the client as server-sent events", async () => {
  const bytes = Buffer.concat(events().map(framed));
  for (const at of [0, 1, 11, 13, 200, bytes.length - 1]) {
    answer(() => stream([bytes.subarray(0, at), { wait: 5 }, bytes.subarray(at)]));
    const message = await anthropicClient(gateway.url)
      .messages.stream({ ...ask, model: MODEL })
      .finalMessage();
    expect(message).toMatchObject({ content: MESSAGE.content, stop_reason: "end_turn" });
  }
  const request = upstream.requests.at(-1)!;
  expect(request.path).toBe(`${PATH}/invoke-with-response-stream`);
  expect(request.headers.get("accept")).toBe("application/vnd.amazon.eventstream");
  expect(Object.keys(JSON.parse(request.body.toString()) as object)).toEqual([
    "anthropic_version",
    "max_tokens",
    "messages",
  ]);
  const { text } = await streamed();
  expect(text).toBe(
    events()
      .map((event) => `event: ${(event as { type: string }).type}\ndata: ${JSON.stringify(event)}\n\n`)
      .join(""),
  );
});

test("the translated lane: a chat client gets JSON and streams from the same host", async () => {
  answer((request) => (request.path.endsWith("/invoke") ? json(MESSAGE) : stream(events().map(framed))));
  const client = openaiClient(gateway.url);
  const completion = await client.chat.completions.create({ model: MODEL, messages: ask.messages });
  expect(completion.choices[0]!.message.content).toBe("Grüße 😀");
  expect(upstream.requests.at(-1)!.path).toBe(`${PATH}/invoke`);
  const chunks = await Array.fromAsync(
    await client.chat.completions.create({ model: MODEL, messages: ask.messages, stream: true }),
  );
  expect(chunks.map(({ choices }) => choices[0]?.delta.content ?? "").join("")).toBe("Grüße 😀");
  expect(upstream.requests.at(-1)!.path).toBe(`${PATH}/invoke-with-response-stream`);
  // A long answer comes as a stream although the client asked for JSON: the encoded request decides.
  const long = await client.chat.completions.create({
    model: MODEL,
    messages: ask.messages,
    max_tokens: 20_000,
  });
  expect(long.choices[0]!.message.content).toBe("Grüße 😀");
  expect(upstream.requests.at(-1)!.path).toBe(`${PATH}/invoke-with-response-stream`);
  expect(faults).toEqual([]);
});

async function streamed(path = "/v1/messages"): Promise<{ text: string; status: number }> {
  const response = await fetch(gateway.url + path, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ ...ask, model: MODEL, stream: true }),
  });
  const { status } = response;
  return { status, text: response.ok ? (await readStreamed(response, true)).text : await response.text() };
}

const BOTH = ["/v1/messages", "/v1/chat/completions"];

test("a stream that is cut at a message, inside one, or has a wrong checksum, never looks complete", async () => {
  const frames = events().map(framed);
  const atMessage = Buffer.concat(frames.slice(0, 4));
  const inside = Buffer.concat([atMessage, frames[4]!.subarray(0, 30)]);
  const broken = Buffer.concat([atMessage, frames[4]!, frames[5]!]);
  broken[atMessage.length + 40]! ^= 1;
  for (const path of BOTH)
    for (const bytes of [atMessage, inside, broken])
      for (const ending of ["whole", "fin"] as const) {
        answer(() => stream([bytes, { wait: 5 }], ending));
        const { text } = await streamed(path);
        expect(text).toContain("Grüße 😀");
        expect(text).toContain('"error"');
        expect(text).not.toMatch(/message_stop|\[DONE\]|end_turn/);
      }
});

test("an exception inside the stream is the provider's error, before the first event and after it", async () => {
  const thrown = awsMessage(
    { ":message-type": "exception", ":exception-type": "throttlingException" },
    '{"message":"Too many requests"}',
  );
  for (const path of BOTH) {
    answer(() => stream([Buffer.concat([...events().slice(0, 3).map(framed), thrown])]));
    const { text } = await streamed(path);
    expect(text).toContain("Grüße 😀");
    expect(text).toContain("Too many requests");
    expect(text).not.toMatch(/message_stop|\[DONE\]/);
    answer(() => stream([thrown]));
    const early = await streamed(path);
    expect(early.status).toBeGreaterThanOrEqual(400);
    expect(early.text).toContain("Too many requests");
  }
});

test("each attempt is signed for its own deployment", async () => {
  const deployments = [
    { name: "one", priority: 0, variables: { region: "us-east-1" } },
    {
      name: "two",
      priority: 1,
      secrets: { SIGNING_ACCESS_KEY_ID: OTHER_ID, SIGNING_SECRET_ACCESS_KEY: OTHER },
    },
  ];
  const two = await start({ deployments });
  try {
    const before = upstream.requests.length;
    answer((request) => (isOf(request, KEY_ID) ? json({ error: { message: "later" } }, 529) : json(MESSAGE)));
    await anthropicClient(two.url).messages.create({ ...ask, model: MODEL });
    const [first, second] = upstream.requests.slice(before);
    expect(isOf(first!, KEY_ID) && isOf(second!, OTHER_ID)).toBe(true);
    expect(first!.headers.get("authorization")).toContain("/us-east-1/signing/");
    expect(second!.headers.get("authorization")).toContain("/eu-central-1/signing/");
    expect(faults).toEqual([]);
  } finally {
    await two.stop();
  }
});

const isOf = ({ headers }: UpstreamRequest, keyId: string) =>
  headers.get("authorization")!.includes(`Credential=${keyId}/`);

test("credentials that the host repeats are masked, also inside the payloads of a stream, and never logged", async () => {
  const said = `${SECRET} ${SESSION} ${KEY_ID}`;
  for (const path of BOTH) {
    answer(() => stream(events(said).map(framed)));
    expect((await streamed(path)).text).toContain("*** *** ***");
    answer(() => json({ type: "error", error: { type: "invalid_request_error", message: said } }, 400));
    const { text } = await streamed(path);
    expect(text).toContain("***");
    for (const secret of [SECRET, SESSION, KEY_ID]) expect(text).not.toContain(secret);
  }
  for (const secret of [SECRET, SESSION, KEY_ID]) expect(gateway.log.join("\n")).not.toContain(secret);
});

test("a refused signature is not sent again, because nothing would change, and is no fault of the client", async () => {
  const before = upstream.requests.length;
  upstream.answer(() => json({ message: "The security token included in the request is invalid." }, 403));
  const { status, text } = await streamed();
  expect(status).toBe(502);
  expect(text).toContain("error");
  expect(upstream.requests.length - before).toBe(1);
});

test("a clock that is wrong costs one more request, once", async () => {
  const hour = 3600_000;
  const other = await start({});
  try {
    upstream.answer((request) => {
      const date = new Date(Date.now() + hour).toUTCString();
      const fault = signatureFault(request, SECRETS, Date.now() + hour);
      return fault === undefined ? json(MESSAGE, 200, { date }) : json({ message: fault }, 403, { date });
    });
    const before = upstream.requests.length;
    for (let call = 0; call < 2; call++)
      await anthropicClient(other.url).messages.create({ ...ask, model: MODEL });
    expect(upstream.requests.length - before).toBe(3);
  } finally {
    await other.stop();
  }
});

test("explain shows the URL, and credentials by the names of their variables", async () => {
  for (const [stream, path] of [
    [false, "invoke"],
    [true, "invoke-with-response-stream"],
  ] as const) {
    const response = await fetch(`${gateway.url}/v1/explain`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ ...ask, model: MODEL, stream, system: "s" }),
    });
    const text = await response.text();
    const { request } = JSON.parse(text) as { request: Record<string, unknown> };
    expect(request["url"]).toBe(`${upstream.url}${PATH}/${path}`);
    expect(request["authorized_with"]).toEqual([
      "$SIGNING_ACCESS_KEY_ID",
      "$SIGNING_SECRET_ACCESS_KEY",
      "$SIGNING_SESSION_TOKEN",
    ]);
    for (const secret of [SECRET, SESSION, KEY_ID]) expect(text).not.toContain(secret);
  }
});
