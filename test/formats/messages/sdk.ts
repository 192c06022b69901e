/** The vendor's SDK as the judge of a streamed answer, without a socket. */
import Anthropic from "@anthropic-ai/sdk";
import type { Frame } from "../../../src/core/format.ts";
import type { JsonObject } from "../../../src/core/json.ts";
import { writeFrame } from "../../../src/stream/sse.ts";

/** The message the SDK adds these frames up to. Throws what the SDK throws. */
export async function accumulate(frames: readonly Frame[], before = ""): Promise<JsonObject> {
  const body = before + frames.map(writeFrame).join("");
  const sdk = new Anthropic({
    apiKey: "k",
    maxRetries: 0,
    fetch: async () =>
      new Response(body, { headers: { "content-type": "text/event-stream", "request-id": "req_test" } }),
  });
  const stream = sdk.messages.stream({
    model: "m",
    max_tokens: 1,
    messages: [{ role: "user", content: "x" }],
  });
  return JSON.parse(JSON.stringify(await stream.finalMessage())) as JsonObject;
}
