/** The smallest whole answer of each API, for exchanges in which only the request is judged. */
import { json, type Answer } from "../helpers/upstream.ts";
import type { Api } from "./policy.ts";

/** What an upstream of the API answers: one word. */
export function plainAnswer(api: Api, stream: boolean): Answer {
  if (!stream) return json(ANSWERS[api]);
  return { headers: { "content-type": "text/event-stream" }, body: STREAMS[api] };
}

/** What local hosts answer when weir asks for their models. */
export const noModels = (): Answer => json({ object: "list", data: [] });

const COUNTS = { input_tokens: 3, output_tokens: 1 };
const MESSAGE = { id: "msg_1", type: "message", role: "assistant", model: "m" };

const ANSWERS: Record<Api, unknown> = {
  chat: {
    id: "chatcmpl-1",
    object: "chat.completion",
    created: 1,
    model: "m",
    choices: [{ index: 0, message: { role: "assistant", content: "Yes." }, finish_reason: "stop" }],
    usage: { prompt_tokens: 3, completion_tokens: 1, total_tokens: 4 },
  },
  messages: {
    ...MESSAGE,
    content: [{ type: "text", text: "Yes." }],
    stop_reason: "end_turn",
    stop_sequence: null,
    usage: COUNTS,
  },
};

const CHUNK = { id: "chatcmpl-1", object: "chat.completion.chunk", created: 1, model: "m" };

const STREAMS: Record<Api, string> = {
  chat: [
    {
      ...CHUNK,
      choices: [{ index: 0, delta: { role: "assistant", content: "Yes." }, finish_reason: "stop" }],
    },
    { ...CHUNK, choices: [], usage: { prompt_tokens: 3, completion_tokens: 1, total_tokens: 4 } },
  ]
    .map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`)
    .concat("data: [DONE]\n\n")
    .join(""),
  messages: [
    { type: "message_start", message: { ...MESSAGE, content: [], stop_reason: null, usage: COUNTS } },
    { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
    { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "Yes." } },
    { type: "content_block_stop", index: 0 },
    { type: "message_delta", delta: { stop_reason: "end_turn", stop_sequence: null }, usage: COUNTS },
    { type: "message_stop" },
  ]
    .map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
    .join(""),
};
