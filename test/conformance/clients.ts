/** One call of a client of each format, and what the client reads: by the vendor's SDK, with the bytes held to the vendor's rules. */
import { ApiError, GoogleGenAI } from "@google/genai";
import type { Frame } from "../../src/core/frame.ts";
import { isObject, parseJson, type JsonObject } from "../../src/core/json.ts";
import { parseFrames } from "../../src/stream/sse.ts";
import { judgeResponseObject, judgeWritten, readBySdk } from "../helpers/judge-responses.ts";
import { readStreamed } from "../helpers/streamed.ts";
import { callWithSdk } from "./call.ts";
import { parseInput } from "./expected.ts";
import { readGemini } from "./gemini-reading.ts";
import { readAnswer, readStream } from "./reading.ts";
import { saidIn, saidNothing, unwrapped, type Ending, type Said, type Unsaid, type Value } from "./said.ts";
import { countOf, listOf, objectOf, textOf } from "./said.ts";
import { answerShape, streamShape } from "./shapes.ts";
import type { Api } from "./policy.ts";

export type Client = Api | "responses" | "gemini";

export type Outcome =
  | { said: Said; faults: string[] }
  /** `status`: the HTTP status; 200 if the error came in the stream. */
  | { failed: string; status: number };

/** Asks a model one thing, with a stream or without. */
export type Ask = (url: string, model: string, stream: boolean) => Promise<Outcome>;

/** What an answer of the format cannot say. */
export const UNSAID: Readonly<Record<Client, Unsaid>> = {
  chat: [],
  // Programs take the last block of a message for the answer.
  messages: ["citations", "signedBehind"],
  responses: ["citations", "cacheWrite"],
  gemini: ["citations", "cacheWrite"],
};

export const ASK: Readonly<Record<Client, Ask>> = {
  chat: (url, model, stream) => throughSdk("chat", url, model, stream),
  messages: (url, model, stream) => throughSdk("messages", url, model, stream),
  async responses(url, model, stream) {
    const response = await post(`${url}/v1/responses`, { model, input: "Go.", stream });
    const { bytes, text } = await readStreamed(response, true);
    if (response.status !== 200) return { failed: text, status: response.status };
    if (!stream)
      return readResponse(parseJson(text) as JsonObject, judgeResponseObject(parseJson(text) as JsonObject));
    const frames: Frame[] = parseFrames(bytes);
    if (frames.some(({ event }) => event === "response.failed" || event === "error"))
      return { failed: text.slice(-500), status: 200 };
    const answer = (await readBySdk(frames)) as unknown as JsonObject;
    return readResponse(answer, await judgeWritten(bytes));
  },
  async gemini(url, model, stream) {
    const operation = stream ? "streamGenerateContent?alt=sse" : "generateContent";
    const contents = [{ role: "user", parts: [{ text: "Go." }] }];
    const address = `${url}/v1beta/models/${encodeURIComponent(model)}:${operation}`;
    const generationConfig = { thinkingConfig: { includeThoughts: true } };
    const response = await post(address, { contents, generationConfig });
    const { text } = await readStreamed(response, true);
    if (response.status !== 200) return { failed: text, status: response.status };
    const faults = stream ? geminiStreamFaults(text) : [];
    const records = stream ? dataOf(text) : [objectOf(parseJson(text))];
    if (records.some((record) => record["error"] !== undefined))
      return { failed: text.slice(-500), status: 200 };
    const said = readGemini(records);
    const seen = await seenByGenai(url, model, stream);
    if (typeof seen === "string") faults.push(`@google/genai throws ${seen}`);
    else if (seen.text !== said.text) faults.push("@google/genai reads another text");
    return { said: { ...said, signed: opened(records) }, faults };
  },
};

async function throughSdk(api: Api, url: string, model: string, stream: boolean): Promise<Outcome> {
  const messages = [{ role: "user", content: "Go." }];
  const more =
    api === "messages" ? { max_tokens: 1024 } : stream ? { stream_options: { include_usage: true } } : {};
  const body = { model, messages, stream, ...more };
  const { items, message, wire } = await callWithSdk(api, url, body, JSON.stringify(body));
  const status = wire?.status ?? 0;
  if ("error" in items) return { failed: items.error.message, status };
  if ("error" in message) return { failed: message.error.message, status };
  const text = wire!.bytes.toString("utf8");
  const faults = stream ? streamShape[api](text) : answerShape[api](JSON.parse(text));
  const reading = stream ? readStream[api](items.value as unknown[]) : readAnswer[api](items.value);
  const helper = saidIn(readAnswer[api](message.value));
  const said = saidIn(reading);
  if (stream && helper.text !== said.text) faults.push("the helper of the SDK reads another text");
  return { said, faults: [...new Set(faults)] };
}

function readResponse(answer: JsonObject, faults: string[]): Outcome {
  const said = saidNothing();
  for (const item of listOf(answer["output"])) {
    for (const part of listOf(item["content"]))
      if (item["type"] === "message") said.text += textOf(part["text"]) + textOf(part["refusal"]);
    if (item["type"] === "function_call")
      said.calls.push({ name: textOf(item["name"]), input: parseInput(textOf(item["arguments"])) });
    if (item["type"] === "custom_tool_call")
      said.calls.push({ name: textOf(item["name"]), input: { input: item["input"] } });
    if (item["type"] !== "reasoning") continue;
    said.reasoning += listOf(item["summary"])
      .map(({ text }) => textOf(text))
      .join("\n\n");
    said.signed += unwrapped(textOf(item["encrypted_content"]));
  }
  const usage = objectOf(answer["usage"]);
  const cacheRead = countOf(objectOf(usage["input_tokens_details"])["cached_tokens"]);
  const why = textOf(objectOf(answer["incomplete_details"])["reason"]);
  const finish: Ending =
    why === "" ? (said.calls.length > 0 ? "tool-calls" : "stop") : (INCOMPLETE[why] ?? "stop");
  return {
    faults,
    said: {
      ...said,
      finish,
      usage: {
        ...{ input: countOf(usage["input_tokens"]) - cacheRead, cacheRead, cacheWrite: 0 },
        output: countOf(usage["output_tokens"]),
        reasoning: countOf(objectOf(usage["output_tokens_details"])["reasoning_tokens"]),
      },
    },
  };
}

const INCOMPLETE: Readonly<Record<string, Ending>> = {
  max_output_tokens: "length",
  content_filter: "content-filter",
};

/** The rules of Google's streams that its SDK does not say when they are broken, because it skips the record. */
function geminiStreamFaults(text: string): string[] {
  const faults: string[] = [];
  if (/^event:/m.test(text)) faults.push("a record with a name, which @google/genai skips");
  if (text.includes("[DONE]")) faults.push("a terminator that Google does not have");
  if (!/\r?\n\r?\n$/.test(text)) faults.push("the last record has no blank line behind it");
  const finished = dataOf(text).map((record) =>
    listOf(record["candidates"]).some(({ finishReason }) => finishReason),
  );
  if (finished.filter(Boolean).length !== 1) faults.push("not one record with a finish reason");
  if (finished.at(-1) !== true) faults.push("the finish reason is not in the last record");
  return faults;
}

function dataOf(text: string): Value[] {
  return parseFrames(Buffer.from(text)).map(({ data }) => objectOf(parseJson(data)));
}

/** Google's signatures as they are, those of other vendors out of the base64 that the member demands. */
function opened(records: readonly Value[]): string {
  const parts = records
    .flatMap((record) => listOf(record["candidates"]))
    .flatMap(({ content }) => listOf(objectOf(content)["parts"]));
  return parts
    .map(({ thoughtSignature }) => textOf(thoughtSignature))
    .map((signature) => {
      const text = Buffer.from(signature, "base64").toString("utf8");
      return text.startsWith("weir1.") ? unwrapped(text) : signature;
    })
    .join("");
}

async function seenByGenai(url: string, model: string, stream: boolean): Promise<{ text: string } | string> {
  const { models } = new GoogleGenAI({ apiKey: "none-needed", httpOptions: { baseUrl: url } });
  const params = { model, contents: "Go." };
  try {
    const answers = [];
    if (stream) for await (const chunk of await models.generateContentStream(params)) answers.push(chunk);
    else answers.push(await models.generateContent(params));
    return { text: readGemini(answers as unknown as Value[]).text };
  } catch (thrown) {
    return thrown instanceof ApiError ? `${thrown.status} ${thrown.message.slice(0, 200)}` : String(thrown);
  }
}

export function post(url: string, body: unknown): Promise<Response> {
  return fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json", connection: "close" },
    body: JSON.stringify(body),
  });
}

/** The sentence of an error in any envelope. */
export function sentenceOf(text: string): string {
  try {
    const body = parseJson(text);
    const inner = isObject(body) && isObject(body.error) ? body.error : body;
    return isObject(inner) ? textOf(inner["message"]) : text;
  } catch {
    return text;
  }
}
