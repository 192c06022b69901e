/** Where the texts of chat-completions requests and answers, and of requests for embeddings, are. */
import type { BrokenStream } from "../../../core/format.ts";
import type { Frame } from "../../../core/frame.ts";
import { isObject, type JsonObject, parseJson } from "../../../core/json.ts";
import {
  CALL_NAME,
  CALLED_NAME,
  DECLARATION,
  each,
  ID,
  MEDIA,
  NAME,
  NUMBER,
  OTHER,
  SEALED,
  TEXT,
  textPlaces,
  TOOL_NAME,
  WORD,
  type Leaf,
  type Level,
  type Rule,
} from "../../shared/text-places.ts";

const MARKS = each(WORD, "cache_control prompt_cache_breakpoint");
const LINK: Level = { kind: "media", members: { url: MEDIA, ...each(WORD, "detail") } };
const IMAGE: Level = { members: { type: WORD, index: NUMBER, image_url: LINK } };
const JSON_TEXT: Leaf = { kind: "tool-arguments", isJson: true, piece: "arguments" };
const REASONING: Leaf = { kind: "reasoning", piece: "reasoning" };
const ANNOTATION: Level = {
  kind: "document",
  members: {
    type: WORD,
    url_citation: {
      members: { ...each(NUMBER, "start_index end_index"), ...each(TEXT, "title url content") },
    },
  },
};

const PART: Level = {
  members: {
    type: WORD,
    ...each({ piece: "part" }, "text"),
    refusal: TEXT,
    thinking: {
      kind: "reasoning",
      members: { type: WORD, text: { kind: "reasoning", piece: "thinking" } },
    },
    ...each({ kind: "document" }, "document_name file_name"),
    signature: SEALED,
    ...each(LINK, "image_url video_url document_url file_url"),
    input_audio: { members: { data: MEDIA, format: WORD } },
    file: { members: { file_id: ID, filename: { kind: "document" }, file_data: MEDIA } },
    annotations: ANNOTATION,
    ...MARKS,
  },
};

/** In a stream, the signature of an entry comes later. */
const DETAIL: Level = {
  kind: "reasoning",
  says: () => ({ fixed: "signed" }),
  members: {
    ...each(WORD, "type format"),
    ...each(ID, "id"),
    index: NUMBER,
    ...each({ piece: "detail" }, "text summary thinking"),
    ...each(SEALED, "data signature"),
  },
};

const CALLED: Level = { members: { name: CALL_NAME, arguments: JSON_TEXT } };

const CALL: Level = {
  says: (read) => {
    const index = read("index");
    return { channel: `call ${Number(index ?? 0)}`, ...(typeof index === "number" && { isPieced: true }) };
  },
  members: {
    id: ID,
    type: WORD,
    index: NUMBER,
    function: CALLED,
    custom: { members: { name: CALL_NAME, input: { kind: "tool-arguments", piece: "input" } } },
    extra_content: { members: { google: { members: { thought_signature: SEALED } } } },
    ...MARKS,
  },
};

const MESSAGE: Readonly<Record<string, Rule>> = {
  role: WORD,
  content: { ...PART, piece: "content" },
  refusal: { piece: "refusal" },
  name: NAME,
  tool_calls: CALL,
  function_call: CALLED,
  images: IMAGE,
  ...each(REASONING, "reasoning reasoning_content"),
  ...each(DETAIL, "reasoning_details thinking_blocks"),
  annotations: ANNOTATION,
  executed_tools: { kind: "tool-result" },
  ...each(WORD, "channel padding"),
  audio: { members: { id: ID, data: MEDIA, transcript: { piece: "transcript" }, expires_at: NUMBER } },
};

const GRAMMAR = each(DECLARATION, "definition syntax");
const FUNCTION: Level = {
  kind: "declaration",
  members: { name: TOOL_NAME, ...each(TEXT, "description parameters"), strict: NUMBER },
};
const CHOSEN = {
  name: CALLED_NAME,
  type: WORD,
  ...each({ members: { name: CALLED_NAME } }, "function custom"),
};

const REQUEST: Level = {
  members: {
    model: ID,
    messages: {
      says: (read) => {
        const role = read("role");
        if (role === "system" || role === "developer") return { role, kind: "system" };
        if (role === "tool" || role === "function") return { role, kind: "tool-result" };
        return { role: String(role) };
      },
      members: {
        ...MESSAGE,
        ...each(ID, "tool_call_id"),
        ...each(NUMBER, "is_error prefix"),
        ...MARKS,
      },
    },
    ...each(
      NUMBER,
      `stream temperature top_p top_k min_p max_tokens max_completion_tokens n frequency_penalty presence_penalty
      logit_bias logprobs top_logprobs seed random_seed parallel_tool_calls enable_thinking store usage dimensions`,
    ),
    stream_options: NUMBER,
    ...each(NAME, "stop user safety_identifier prompt_cache_key metadata"),
    tools: {
      kind: "declaration",
      members: {
        type: WORD,
        function: FUNCTION,
        custom: {
          members: {
            name: TOOL_NAME,
            ...each(TEXT, "description"),
            format: { members: { type: WORD, ...GRAMMAR, grammar: { members: GRAMMAR } } },
          },
        },
        name: TOOL_NAME,
        ...MARKS,
      },
    },
    functions: FUNCTION,
    tool_choice: {
      kind: "name",
      members: {
        ...CHOSEN,
        allowed_tools: { members: { mode: WORD, tools: { members: CHOSEN } } },
      },
    },
    function_call: { kind: "name", members: { name: CALLED_NAME } },
    response_format: {
      kind: "declaration",
      members: {
        type: WORD,
        json_schema: { members: { ...each(TEXT, "description schema name"), strict: NUMBER } },
      },
    },
    ...each(WORD, "reasoning_effort service_tier modalities verbosity encoding_format input_type"),
    ...each(WORD, "cache_control prompt_cache_options prompt_cache_retention"),
    reasoning: {
      members: { ...each(WORD, "effort summary"), ...each(NUMBER, "max_tokens enabled exclude") },
    },
    thinking: { members: { ...each(WORD, "type display"), budget_tokens: NUMBER } },
    audio: { members: each(WORD, "voice format") },
    web_search_options: { members: { search_context_size: WORD, user_location: NAME } },
    prediction: { members: { type: WORD, content: PART } },
    moderation: OTHER,
    input: TEXT,
  },
};

const CHOICE: Level = {
  says: (read) => ({ channel: String(read("index") ?? 0) }),
  members: {
    index: NUMBER,
    ...each({ members: MESSAGE }, "message delta"),
    ...each(WORD, "finish_reason native_finish_reason content_filter_results"),
    stop_reason: NAME,
    logprobs: { kind: "logprobs" },
  },
};

const ANSWER: Level = {
  members: {
    ...each(ID, "id model system_fingerprint"),
    ...each(WORD, "object service_tier obfuscation p provider prompt_filter_results"),
    // Of vendors that search.
    ...each({ kind: "document" }, "citations search_results"),
    ...each(NUMBER, "created usage"),
    choices: CHOICE,
    error: { members: { ...each(WORD, "type code"), ...each(TEXT, "message param") } },
  },
};

function stopped(reason: string, { last }: BrokenStream): Frame[] {
  const chunk = last && parseJson(last.data);
  const { choices, usage: _, ...head } = isObject(chunk) ? chunk : { object: "chat.completion.chunk" };
  const begun = Array.isArray(choices) ? choices.filter(isObject) : [];
  const indices = begun.length > 0 ? begun.map(({ index }) => index ?? 0) : [0];
  const ended = indices.map((index) => ({
    index,
    delta: { refusal: reason },
    finish_reason: "content_filter",
  }));
  return [{ data: JSON.stringify({ ...head, choices: ended }) }, { data: "[DONE]" }];
}

function closed({ choices }: JsonObject): string[] {
  const all = Array.isArray(choices) ? choices.filter(isObject) : [];
  return all.flatMap(({ finish_reason, index }) => (finish_reason ? [`${Number(index ?? 0)}/`] : []));
}

export const places = textPlaces({ request: REQUEST, answer: ANSWER, stopped, closed, independent: true });
