/** Recorded answers of Azure's chat-completions endpoints, through weir to the clients of all formats. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { GoogleGenAI } from "@google/genai";
import { type RunningGateway, startGateway } from "../helpers/gateway.ts";
import { isObject, parseJson } from "../../src/core/json.ts";
import { parseFrames } from "../../src/stream/sse.ts";
import {
  answerBytes,
  answerHeaders,
  cutInto,
  haveRecordings,
  NO_RECORDINGS,
  type Recording,
  recordings,
  seedOf,
} from "../helpers/recordings.ts";
import { anthropicClient, collect, openaiClient } from "../helpers/sdk.ts";
import { startUpstream, type Upstream } from "../helpers/upstream.ts";

if (!haveRecordings) console.log(NO_RECORDINGS);

const recorded = recordings({ api: "chat", vendors: ["azure"] });

function isError({ response }: Recording): boolean {
  const body = parseJson(response.body ?? "");
  return response.status !== 200 || (isObject(body) && body.error !== undefined);
}

const answered = recorded.filter((recording) => !isError(recording));

let host: Upstream;
let gateway: RunningGateway;
let current: Recording;

beforeAll(async () => {
  host = startUpstream(() => ({
    status: current.response.status,
    headers: answerHeaders(current),
    body: current.stream ? cutInto(answerBytes(current), "random", seedOf(current.id)) : answerBytes(current),
    ...(current.stream && { framing: "chunked" as const }),
  }));
  const speaks = { "chat-completions": "/chat/completions" };
  gateway = await startGateway({
    config: {
      providers: { azure: { apiKey: "k-0123456789", baseUrl: `${host.url}/openai/v1`, speaks } },
    },
  });
});

afterAll(async () => {
  await gateway.stop();
  host.stop();
});

/** What an answer is for a client of any format. */
interface Gist {
  hasId: boolean;
  model: string;
  text: string;
  calls: string[];
  input: number;
}

interface Chunk {
  choices: { delta?: Message; message?: Message }[];
  usage?: Counts | null;
}
interface Counts {
  prompt_tokens: number;
  prompt_tokens_details?: { cached_tokens?: number } | null;
}
interface Message {
  content?: string | null;
  tool_calls?: { index?: number; function: { name?: string; arguments?: string } }[] | null;
}

/** The gist of a recorded answer, read without weir. */
function recordedGist(recording: Recording): Omit<Gist, "hasId" | "model"> {
  const bytes = answerBytes(recording);
  const text = bytes.toString();
  const bodies = (recording.stream
    ? parseFrames(bytes).flatMap(({ data }) => (data === "[DONE]" ? [] : [parseJson(data)]))
    : [parseJson(text)]) as unknown as Chunk[];
  const said = bodies.flatMap(({ choices }) => choices.map(({ delta, message }) => delta ?? message ?? {}));
  const calls = said.flatMap(({ tool_calls }) => tool_calls ?? []);
  return {
    text: said.map(({ content }) => content ?? "").join(""),
    calls: calls.flatMap(({ function: { name } }) => (name ? [name] : [])),
    input: bodies.map(({ usage }) => inputOf(usage)).findLast((count) => count > 0) ?? 0,
  };
}

/** Grok in Foundry does not count what was read from the cache as part of the prompt. */
function inputOf(usage: Counts | null | undefined): number {
  const prompt = usage?.prompt_tokens ?? 0;
  const cached = usage?.prompt_tokens_details?.cached_tokens ?? 0;
  return cached > prompt ? prompt + cached : prompt;
}

interface GeminiAnswer {
  responseId?: string;
  modelVersion?: string;
  candidates?: { content?: { parts?: { text?: string; functionCall?: { name: string } }[] } }[];
  usageMetadata?: { promptTokenCount?: number };
}

const messages = [{ role: "user" as const, content: "hi" }];
const model = "azure/deployment";

const CLIENTS: Record<string, (stream: boolean) => Promise<Gist>> = {
  async "chat-completions"(stream) {
    const { completions } = openaiClient(gateway.url).chat;
    const options = { include_usage: true };
    const answer = stream
      ? await completions.stream({ model, messages, stream_options: options }).finalChatCompletion()
      : await completions.create({ model, messages });
    const { content, tool_calls = [] } = answer.choices[0]!.message;
    return {
      hasId: answer.id !== "",
      model: answer.model,
      text: content ?? "",
      calls: tool_calls.map((call) => (call.type === "function" ? call.function.name : "")),
      input: inputOf(answer.usage),
    };
  },
  async messages(stream) {
    const client = anthropicClient(gateway.url).messages;
    const request = { model, messages, max_tokens: 100 };
    const answer = stream ? await client.stream(request).finalMessage() : await client.create(request);
    return {
      hasId: answer.id !== "",
      model: answer.model,
      text: answer.content.map((block) => (block.type === "text" ? block.text : "")).join(""),
      calls: answer.content.flatMap((block) => (block.type === "tool_use" ? [block.name] : [])),
      input: answer.usage.input_tokens + (answer.usage.cache_read_input_tokens ?? 0),
    };
  },
  async gemini(stream) {
    const { models } = new GoogleGenAI({ apiKey: "unused", httpOptions: { baseUrl: gateway.url } });
    const request = { model, contents: "hi" };
    const answers = (
      stream
        ? await collect(await models.generateContentStream(request))
        : [await models.generateContent(request)]
    ) as GeminiAnswer[];
    const parts = answers.flatMap(({ candidates }) => candidates?.[0]?.content?.parts ?? []);
    const last = answers.at(-1)!;
    return {
      hasId: (last.responseId ?? "") !== "",
      model: last.modelVersion ?? "",
      text: parts.map(({ text }) => text ?? "").join(""),
      calls: parts.flatMap(({ functionCall }) => (functionCall ? [functionCall.name] : [])),
      input: last.usageMetadata?.promptTokenCount ?? 0,
    };
  },
  async responses(stream) {
    const client = openaiClient(gateway.url).responses;
    const request = { model, input: "hi" };
    const answer = stream ? await client.stream(request).finalResponse() : await client.create(request);
    return {
      hasId: answer.id !== "",
      model: answer.model,
      text: answer.output_text,
      calls: answer.output.flatMap((item) => (item.type === "function_call" ? [item.name] : [])),
      input: answer.usage?.input_tokens ?? 0,
    };
  },
};

test("there are records of both kinds, or none is there", () => {
  expect(answered.some(({ stream }) => stream)).toBe(haveRecordings);
  expect(answered.length > 40).toBe(haveRecordings);
});

for (const [format, ask] of Object.entries(CLIENTS))
  describe(`a ${format} client gets the same from`, () => {
    for (const recording of answered)
      test(`${recording.id}${recording.stream ? ", a stream" : ""}`, async () => {
        current = recording;
        const { hasId, model: name, ...gist } = await ask(recording.stream);
        expect([hasId, name !== ""]).toEqual([true, true]);
        const expected = recordedGist(recording);
        // Without usage in the stream, clients get an estimate.
        if (expected.input === 0) expected.input = gist.input;
        expect(gist).toEqual(expected);
      });
  });

describe("a recorded error has the same meaning in every format", () => {
  for (const recording of recorded.filter(isError))
    test(`${recording.id}, status ${recording.response.status}`, async () => {
      current = recording;
      const { body = "", status: given } = recording.response;
      // One refusal of the content filter was recorded with a status of 200.
      const status = body.includes("Resource not found")
        ? 502
        : body.includes('"content_filter"')
          ? 400
          : given;
      for (const ask of Object.values(CLIENTS))
        expect(await ask(false).catch((thrown: unknown) => thrown)).toMatchObject({ status });
    });
});
