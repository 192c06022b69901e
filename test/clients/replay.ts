/**
 * Captured requests sent as their client sent them, with the vendor's own SDK reading the answer. Long strings of the
 * captures are cut; where the cut left something no vendor would take (base64, JSON), a whole one of our own stands in.
 */
import type Anthropic from "@anthropic-ai/sdk";
import type OpenAI from "openai";
import type { Json, JsonObject } from "../../src/core/json.ts";
import { type Capture, captures } from "../helpers/captures.ts";
import { anthropicClient, collect, openaiClient } from "../helpers/sdk.ts";

/** One pixel. */
export const PNG =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==";
export const PDF = Buffer.from("%PDF-1.4\n1 0 obj<</Type/Catalog>>endobj\ntrailer<</Root 1 0 R>>").toString(
  "base64",
);

export interface Replay extends Capture {
  body: JsonObject;
  /** Its tools by name. */
  tools: string[];
  text: string;
}

/** The captures of these clients, healed. */
export function replays(path: string, client: RegExp): Replay[] {
  return captures(path, client).map((capture) => {
    const body = heal(capture.body as JsonObject) as JsonObject;
    const tools = ((body.tools ?? []) as JsonObject[]).map((tool) =>
      String(((tool.function ?? tool) as JsonObject).name),
    );
    return { ...capture, body, tools, text: JSON.stringify(body) };
  });
}

function heal(value: Json): Json {
  if (Array.isArray(value)) return value.map(heal);
  if (typeof value !== "object" || value === null) return value;
  const healed = Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, heal(inner!)]));
  const { media_type: type, data } = healed;
  const { type: kind, image_url: url } = healed;
  if (kind === "input_image" && String(url).includes("…")) healed.image_url = `data:image/png;base64,${PNG}`;
  if (String(healed.arguments).includes("…")) healed.arguments = '{"cut":true}';
  if (typeof data === "string" && data.includes("…")) healed.data = type === "application/pdf" ? PDF : PNG;
  return healed;
}

/** Headers that belong to the connection of the capture, or were taken out of it. */
const NOT_SENT = /^(host|connection|content-length|accept-encoding|authorization|x-api-key)$/i;

/** Sends a capture's bytes with its headers. */
export function post(url: string, replay: Replay): Promise<Response> {
  const headers = replay.headers.filter(([name]) => !NOT_SENT.test(name));
  return fetch(url + replay.path, { method: "POST", headers, body: replay.text });
}

/** An SDK's transport that sends the capture, whatever the SDK was asked to send. */
function transport(url: string, replay: Replay): typeof fetch {
  return Object.assign(() => post(url, replay), { preconnect: fetch.preconnect });
}

/** What Anthropic's SDK makes of the answer; throws what it throws. */
export async function seeMessage(url: string, replay: Replay): Promise<Anthropic.Message> {
  const client = anthropicClient(url, { fetch: transport(url, replay) });
  const asked = { model: "m", max_tokens: 9, messages: [{ role: "user" as const, content: "x" }] };
  return replay.body.stream === true
    ? client.messages.stream(asked).finalMessage()
    : client.messages.create(asked);
}

export interface SeenCompletion {
  completion: OpenAI.ChatCompletion;
  chunks: OpenAI.ChatCompletionChunk[];
  reasoning: string;
}

/** What OpenAI's SDK makes of the streamed answer; throws what it throws. */
export async function seeCompletion(url: string, replay: Replay): Promise<SeenCompletion> {
  const client = openaiClient(url, { fetch: transport(url, replay) });
  const stream = client.chat.completions.stream({
    model: "m",
    messages: [{ role: "user", content: "x" }],
  });
  const chunks = await collect(stream);
  const reasoning = chunks
    .map(
      (chunk) => (chunk.choices[0]?.delta as { reasoning_content?: string } | undefined)?.reasoning_content,
    )
    .join("");
  return { completion: await stream.finalChatCompletion(), chunks, reasoning };
}
