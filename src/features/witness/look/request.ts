/** A question as a client asks it. weir translates it for the provider. */
import type { JsonObject } from "../../../core/json.ts";
import type { Question } from "../questions.ts";

/** The format of the requests, and its path. */
export const FORMAT = "chat-completions";
export const PATH = "/v1/chat/completions";

/** An image of which only the first bytes are there: hosts refuse it in each format, and weir does not look into images. */
const BROKEN_IMAGE = "data:image/png;base64,iVBORw0KGgo=";

/** The request of a question, in the format chat-completions. */
export function bodyOf(
  { prompt, streams, isFaulty }: Question,
  model: string,
  outputTokens: number,
): JsonObject {
  const image = { type: "image_url", image_url: { url: BROKEN_IMAGE } };
  return {
    model,
    messages: [{ role: "user", content: isFaulty ? [{ type: "text", text: prompt }, image] : prompt }],
    max_tokens: outputTokens,
    ...(streams && { stream: true, stream_options: { include_usage: true } }),
  };
}
