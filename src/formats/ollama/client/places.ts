/** Where the texts of Ollama's requests and answers, and of requests for embeddings, are. */
import type { BrokenStream } from "../../../core/format.ts";
import type { Frame } from "../../../core/frame.ts";
import { isObject, parseJson } from "../../../core/json.ts";
import {
  ARGUMENTS,
  CALL_NAME,
  CALLED_NAME,
  DECLARATION,
  each,
  ID,
  MEDIA,
  NAME,
  NUMBER,
  OTHER,
  TEXT,
  textPlaces,
  TOOL_NAME,
  WORD,
  type Level,
} from "../../shared/text-places.ts";

const CALL: Level = {
  members: {
    id: ID,
    type: WORD,
    function: { members: { index: NUMBER, name: CALL_NAME, arguments: ARGUMENTS } },
  },
};

const MESSAGE = {
  role: WORD,
  content: { piece: "content" },
  thinking: { kind: "reasoning", piece: "thinking" },
  images: MEDIA,
  tool_calls: CALL,
} as const;

/** Of both requests, and of those for embeddings. */
const REQUEST: Level = {
  members: {
    model: ID,
    messages: {
      says: (read) => {
        const role = String(read("role"));
        if (role === "system") return { role, kind: "system" };
        return role === "tool" ? { role, kind: "tool-result" } : { role };
      },
      members: { ...MESSAGE, ...each(NAME, "name"), tool_name: CALLED_NAME, tool_call_id: ID },
    },
    tools: {
      kind: "declaration",
      members: {
        type: WORD,
        function: { members: { name: TOOL_NAME, ...each(TEXT, "description parameters") } },
      },
    },
    ...each(NUMBER, "stream logprobs top_logprobs truncate shift context raw width height steps dimensions"),
    format: DECLARATION,
    options: {
      members: {
        ...each(
          NUMBER,
          `temperature top_p top_k num_predict seed presence_penalty frequency_penalty min_p typical_p tfs_z
          repeat_penalty repeat_last_n mirostat mirostat_tau mirostat_eta penalize_newline num_ctx num_keep num_batch num_gpu
          main_gpu num_thread numa low_vram f16_kv vocab_only use_mmap use_mlock`,
        ),
        stop: NAME,
      },
    },
    ...each(WORD, "think keep_alive"),
    ...each(TEXT, "prompt suffix input"),
    ...each({ kind: "system" }, "system template"),
    images: MEDIA,
  },
};

const ANSWER: Level = {
  members: {
    model: ID,
    ...each(WORD, "created_at done_reason"),
    ...each(
      NUMBER,
      `done total_duration load_duration prompt_eval_duration eval_duration prompt_eval_count eval_count context`,
    ),
    message: { members: MESSAGE },
    response: { piece: "content" },
    thinking: MESSAGE.thinking,
    image: MEDIA,
    logprobs: { kind: "logprobs" },
    error: TEXT,
    remote_host: OTHER,
  },
};

/** The reason has no member of its own, and is the last piece of the text. */
function stopped(reason: string, { last }: BrokenStream): Frame[] {
  const record = last && parseJson(last.data);
  const { model = "", message } = isObject(record) ? record : {};
  const said =
    message === undefined ? { response: reason } : { message: { role: "assistant", content: reason } };
  const created_at = new Date().toISOString();
  return [
    { data: JSON.stringify({ model, created_at, ...said, done: true, done_reason: "content_filter" }) },
  ];
}

export const places = textPlaces({ request: REQUEST, answer: ANSWER, stopped });
