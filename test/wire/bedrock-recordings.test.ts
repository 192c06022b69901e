/** Recorded answers of Claude on Bedrock, played to the clients of two formats. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { type Bedrock, startBedrock } from "../helpers/bedrock.ts";
import { type RunningGateway, startGateway } from "../helpers/gateway.ts";
import { haveRecordings, NO_RECORDINGS, type Recording, recordings } from "../helpers/recordings.ts";
import { anthropicClient, openaiClient } from "../helpers/sdk.ts";

const MODEL = "bedrock/us.anthropic.claude-x";
const ask = { model: MODEL, max_tokens: 9, messages: [{ role: "user" as const, content: "hi" }] };

/** Answers in the messages format; older models of Claude have another. */
const claude = recordings({ api: "bedrock_invoke", vendors: ["bedrock"] }).filter(
  ({ model, response }) => /claude/.test(model ?? "") && response.status === 200 && isMessage(response),
);
if (!haveRecordings) console.log(NO_RECORDINGS);

let bedrock: Bedrock;
let gateway: RunningGateway;

beforeAll(async () => {
  bedrock = startBedrock({ apiKey: "bedrock-key-0123456789" });
  gateway = await startGateway({
    env: {
      ...{ AWS_REGION: "us-east-1", AWS_BEARER_TOKEN_BEDROCK: "bedrock-key-0123456789" },
      BEDROCK_BASE_URL: bedrock.url,
    },
  });
});

afterAll(async () => {
  await gateway.stop();
  bedrock.stop();
});

function bytesOf({ body, body_base64 }: Recording["response"]): Buffer {
  return body_base64 === undefined ? Buffer.from(body ?? "") : Buffer.from(body_base64, "base64");
}

function isMessage(response: Recording["response"]): boolean {
  const text = bytesOf(response).toString("latin1");
  // A framed stream of messages begins with `{"type":"message_start"` in base64.
  return /"type": ?"message"/.test(text) || /eyJ0eXBlIjoibWVzc2FnZV9zdGFydCI/.test(text);
}

function play({ response }: Recording): void {
  const headers = Object.fromEntries(
    Object.entries(response.headers).filter(([name]) => /^x-amzn-bedrock|^content-type$/.test(name)),
  );
  bedrock.handle(() => ({ headers, body: bytesOf(response) }));
}

/** What Bedrock says it counted. */
const counted = ({ response }: Recording) =>
  ["input", "output"].map((side) => Number(response.headers[`x-amzn-bedrock-${side}-token-count`]));

const whole = claude.filter(({ stream }) => !stream);
const streams = claude.filter(({ stream }) => stream);

test.skipIf(!haveRecordings)("there are recordings of both kinds", () => {
  expect(whole.length).toBeGreaterThan(5);
  expect(streams.length).toBeGreaterThan(2);
});

test.skipIf(!haveRecordings)(
  "JSON answers pass unchanged, and the usage is that of Bedrock's headers",
  async () => {
    for (const record of whole) {
      play(record);
      const message = await anthropicClient(gateway.url).messages.create(ask);
      const { content, stop_reason } = JSON.parse(bytesOf(record.response).toString()) as typeof message;
      expect([record.id, message.content, message.stop_reason]).toEqual([record.id, content, stop_reason]);
      const completion = await openaiClient(gateway.url).chat.completions.create(ask);
      const { prompt_tokens, completion_tokens } = completion.usage!;
      expect([record.id, completion.choices.length]).toEqual([record.id, 1]);
      if (record.response.headers["x-amzn-bedrock-input-token-count"] === undefined) continue;
      expect([record.id, message.usage.input_tokens, message.usage.output_tokens]).toEqual([
        record.id,
        ...(counted(record) as [number, number]),
      ]);
      expect([record.id, prompt_tokens, completion_tokens]).toEqual([
        record.id,
        ...(counted(record) as [number, number]),
      ]);
    }
  },
);

test.skipIf(!haveRecordings)("streams are complete for the SDKs of both formats", async () => {
  for (const record of streams) {
    play(record);
    const message = await anthropicClient(gateway.url).messages.stream(ask).finalMessage();
    expect([record.id, message.stop_reason === null]).toEqual([record.id, false]);
    const text = message.content.map((block) => (block.type === "text" ? block.text : "")).join("");
    const chunks = await Array.fromAsync(
      await openaiClient(gateway.url).chat.completions.create({
        ...{ ...ask, stream: true },
        stream_options: { include_usage: true },
      }),
    );
    expect(chunks.map(({ choices }) => choices[0]?.delta.content ?? "").join("")).toBe(text);
    expect(chunks.at(-1)!.usage).toMatchObject({
      completion_tokens: message.usage.output_tokens,
    });
  }
});
