/** What the SDKs of AWS and Anthropic send to Bedrock, and how they read it, beside what weir sends and reads. */
import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import AnthropicBedrock from "@anthropic-ai/bedrock-sdk";
import {
  BedrockRuntimeClient,
  ConverseCommand,
  InvokeModelCommand,
  InvokeModelWithResponseStreamCommand,
} from "@aws-sdk/client-bedrock-runtime";
import { NodeHttpHandler } from "@smithy/node-http-handler";
import {
  asClaude,
  type Bedrock,
  CLAUDE_EVENTS,
  CLAUDE_MESSAGE,
  eventStreamOf,
  exceptionFrame,
  inFrontOf,
  invokeFrame,
  startBedrock,
} from "../helpers/bedrock.ts";
import { type RunningGateway, startGateway } from "../helpers/gateway.ts";
import { anthropicClient } from "../helpers/sdk.ts";
import { json } from "../helpers/upstream.ts";

const KEY_ID = "AKIDCANARY0123456789";
const SECRET = "secret-canary-0123456789abcdef";
const SESSION = "session-canary-0123456789abcdef";
const REGION = "us-east-1";
const PROFILE = "us.anthropic.claude-sonnet-4-5-20250929-v1:0";
const ARN = `arn:aws:bedrock:${REGION}:123456789012:inference-profile/${PROFILE}`;

let bedrock: Bedrock;
let gateway: RunningGateway;
let aws: BedrockRuntimeClient;
let sdk: AnthropicBedrock;

beforeAll(async () => {
  bedrock = startBedrock({ secrets: { [KEY_ID]: SECRET } });
  gateway = await startGateway({
    env: {
      ...{ AWS_REGION: REGION, AWS_ACCESS_KEY_ID: KEY_ID, AWS_SECRET_ACCESS_KEY: SECRET },
      ...{ AWS_SESSION_TOKEN: SESSION, BEDROCK_BASE_URL: bedrock.url },
    },
  });
  aws = new BedrockRuntimeClient({
    ...{ region: REGION, endpoint: bedrock.url, maxAttempts: 1 },
    credentials: { accessKeyId: KEY_ID, secretAccessKey: SECRET, sessionToken: SESSION },
    // Its own handler speaks HTTP/2 to a plain socket.
    requestHandler: new NodeHttpHandler(),
  });
  sdk = new AnthropicBedrock({
    ...{ baseURL: bedrock.url, awsRegion: REGION, apiKey: null, maxRetries: 0, logLevel: "off" },
    ...{ awsAccessKey: KEY_ID, awsSecretKey: SECRET, awsSessionToken: SESSION },
  });
});

afterAll(async () => {
  aws.destroy();
  await gateway.stop();
  bedrock.stop();
});

beforeEach(() => {
  bedrock.handle(asClaude);
  bedrock.requests.length = bedrock.faults.length = 0;
});

const ask = { max_tokens: 9, messages: [{ role: "user" as const, content: "hi" }] };
const claude = { ...ask, anthropic_version: "bedrock-2023-05-31" };

/** The signed headers in order, without the values that depend on the time. */
const signedNames = (headers: Headers) =>
  /SignedHeaders=([^,]+)/.exec(headers.get("authorization")!)![1]!.split(";");

test("the AWS SDK's request is the same as weir's: path, body and signed headers", async () => {
  for (const model of [PROFILE, ARN])
    for (const stream of [false, true]) {
      bedrock.requests.length = 0;
      const input = { modelId: model, body: JSON.stringify(claude), contentType: "application/json" };
      if (stream) await aws.send(new InvokeModelWithResponseStreamCommand(input));
      else await aws.send(new InvokeModelCommand(input));
      await (
        await fetch(`${gateway.url}/v1/messages`, {
          method: "POST",
          headers: { "content-type": "application/json" },
          body: JSON.stringify({ ...ask, model: `bedrock/${model}`, stream }),
        })
      ).text();
      const [theirs, ours] = bedrock.requests;
      expect(ours!.path).toBe(theirs!.path);
      expect(JSON.parse(ours!.body.toString())).toEqual(JSON.parse(theirs!.body.toString()));
      for (const name of ["content-type", "x-amz-security-token", "host"])
        expect(ours!.headers.get(name)).toBe(theirs!.headers.get(name));
      // The SDK signs more headers, which a proxy may change.
      expect(signedNames(theirs!.headers)).toEqual(expect.arrayContaining(signedNames(ours!.headers)));
    }
  expect(bedrock.faults).toEqual([]);
});

test("Anthropic's SDK for Bedrock asks for the same, except for the version and the colon in the path", async () => {
  await sdk.messages.create({ ...ask, model: PROFILE, stream: false });
  await anthropicClient(gateway.url).messages.create({ ...ask, model: `bedrock/${PROFILE}` });
  const [theirs, ours] = bedrock.requests;
  expect(decodeURIComponent(ours!.path)).toBe(decodeURIComponent(theirs!.path));
  const { anthropic_version: _ours, ...body } = JSON.parse(ours!.body.toString()) as Record<string, unknown>;
  const { anthropic_version: _theirs, ...other } = JSON.parse(theirs!.body.toString()) as Record<
    string,
    unknown
  >;
  expect(body).toEqual(other);
  expect(bedrock.faults).toEqual([]);
});

test("both SDKs read the stand-in's frames as weir does", async () => {
  const { body } = await aws.send(
    new InvokeModelWithResponseStreamCommand({ modelId: PROFILE, body: JSON.stringify(claude) }),
  );
  const events = (await Array.fromAsync(body!)).map(
    ({ chunk }) => JSON.parse(Buffer.from(chunk!.bytes!).toString()) as object,
  );
  expect(events).toEqual([...CLAUDE_EVENTS]);
  const theirs = await sdk.messages.stream({ ...ask, model: PROFILE }).finalMessage();
  const ours = await anthropicClient(gateway.url)
    .messages.stream({ ...ask, model: `bedrock/${PROFILE}` })
    .finalMessage();
  expect(ours.content).toEqual(theirs.content as typeof ours.content);
  expect([ours.stop_reason, ours.usage]).toEqual([theirs.stop_reason, theirs.usage as typeof ours.usage]);
});

test("the stand-in can pass requests on to any messages host", async () => {
  bedrock.handle(inFrontOf(gateway.url));
  const whole = await sdk.messages.create({ ...ask, max_tokens: 100, model: "mock/chat" });
  const streamed = await sdk.messages.stream({ ...ask, max_tokens: 100, model: "mock/chat" }).finalMessage();
  expect(whole.content[0]).toMatchObject({ type: "text" });
  expect(streamed.content).toMatchObject(whole.content);
  expect(bedrock.faults).toEqual([]);
});

test("synthetic: an exception inside a stream fails for all of them", async () => {
  bedrock.handle(() =>
    eventStreamOf([
      ...CLAUDE_EVENTS.slice(0, 4).map(invokeFrame),
      exceptionFrame("throttlingException", "Too many requests"),
    ]),
  );
  const { body } = await aws.send(
    new InvokeModelWithResponseStreamCommand({ modelId: PROFILE, body: JSON.stringify(claude) }),
  );
  expect(String(await Array.fromAsync(body!).catch(String))).toContain("Too many requests");
  const failed = (client: { messages: AnthropicBedrock["messages"] }, model: string) =>
    client.messages
      .stream({ ...ask, model })
      .finalMessage()
      .then(() => "whole", String);
  expect(await failed(sdk, PROFILE)).not.toBe("whole");
  expect(await failed(anthropicClient(gateway.url), `bedrock/${PROFILE}`)).toContain("Too many requests");
});

test("the AWS SDK's Converse request has weir's path and signature rules, too", async () => {
  const answer = {
    output: { message: { role: "assistant", content: [{ text: "Grüße 😀" }] } },
    ...{ stopReason: "end_turn", usage: { inputTokens: 5, outputTokens: 2, totalTokens: 7 } },
    metrics: { latencyMs: 1 },
  };
  bedrock.handle(() => json(answer));
  const modelId = "us.amazon.nova-pro-v1:0";
  await aws.send(new ConverseCommand({ modelId, messages: [{ role: "user", content: [{ text: "hi" }] }] }));
  const message = await anthropicClient(gateway.url).messages.create({ ...ask, model: `bedrock/${modelId}` });
  expect(message.content).toMatchObject(CLAUDE_MESSAGE.content);
  const [theirs, ours] = bedrock.requests;
  expect(ours!.path).toBe(theirs!.path);
  expect((JSON.parse(ours!.body.toString()) as { messages: unknown }).messages).toEqual(
    (JSON.parse(theirs!.body.toString()) as { messages: unknown }).messages,
  );
  expect(bedrock.faults).toEqual([]);
});
