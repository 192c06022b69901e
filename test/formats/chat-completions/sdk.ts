/** The vendor's SDK as the judge of a streamed answer, without a socket. */
import OpenAI from "openai";
import type { ChatCompletionCreateParamsBase } from "openai/resources/chat/completions";
import type { ErrorAnswer, Frame } from "../../../src/core/format.ts";
import type { JsonObject } from "../../../src/core/json.ts";
import { writeFrame } from "../../../src/stream/sse.ts";

type Tools = ChatCompletionCreateParamsBase["tools"];

const QUESTION = { model: "m", messages: [{ role: "user" as const, content: "x" }] };

function sdk(response: () => Response): OpenAI {
  return new OpenAI({ apiKey: "k", maxRetries: 0, fetch: async () => response() });
}

/** The completion the SDK adds these frames up to. Throws what the SDK throws. */
export async function accumulate(frames: readonly Frame[], tools?: Tools, before = ""): Promise<JsonObject> {
  const body = before + frames.map(writeFrame).join("");
  const { completions } = sdk(
    () => new Response(body, { headers: { "content-type": "text/event-stream" } }),
  ).chat;
  const stream = completions.stream({ ...QUESTION, ...(tools && { tools }) });
  return JSON.parse(JSON.stringify(await stream.finalChatCompletion())) as JsonObject;
}

/** What the SDK throws for an error answer. */
export async function thrownFor({
  status,
  headers,
  body,
}: ErrorAnswer): Promise<InstanceType<typeof OpenAI.APIError>> {
  const client = sdk(() =>
    Response.json(body, { status, headers: { ...headers, "x-request-id": "req_test" } }),
  );
  try {
    await client.chat.completions.create(QUESTION);
  } catch (thrown) {
    if (thrown instanceof OpenAI.APIError) return thrown;
    throw thrown;
  }
  throw new Error("the SDK saw no error");
}

/** A tool as strict as can be: the SDK then checks what it gets. */
export function strictTool(name: string, properties: JsonObject = {}): NonNullable<Tools>[number] {
  const parameters = {
    type: "object",
    properties,
    required: Object.keys(properties),
    additionalProperties: false,
  };
  return { type: "function", function: { name, strict: true, parameters } };
}
