/** The chat-completions format (`POST /v1/chat/completions`): OpenAI's wire language, and most other vendors' too. */
import type { ClientCodec, Format, UpstreamCodec } from "../../core/format.ts";
import { client } from "./client.ts";
import { upstream } from "./upstream.ts";

export const chatCompletionsFormat: Format & { client: ClientCodec; upstream: UpstreamCodec } = {
  id: "chat-completions",
  client,
  upstream,
};
