/** The chat-completions format: OpenAI's wire language, and that of most other vendors and local servers. */
import type { Format } from "../../core/format.ts";
import { client } from "./client.ts";
import { upstream } from "./upstream.ts";

export const chatCompletionsFormat: Format = { id: "chat-completions", client, upstream };
