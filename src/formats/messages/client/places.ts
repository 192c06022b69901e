/** Where the texts of Messages requests and answers are. */
import type { BrokenStream } from "../../../core/format.ts";
import type { Frame } from "../../../core/frame.ts";
import { isObject, type JsonObject, parseJson } from "../../../core/json.ts";
import type { Json } from "../../../core/json.ts";
import {
  ARGUMENTS,
  CALL_NAME,
  CALLED_NAME,
  DECLARATION,
  each,
  ID,
  NAME,
  NUMBER,
  OTHER,
  SEALED,
  TEXT,
  textPlaces,
  TOOL_NAME,
  WORD,
  type Level,
  type Rule,
  type Said,
} from "../../shared/text-places.ts";

const CACHED: Level = { members: each(WORD, "type ttl") };

/** The vendor checks thinking by its signature: it may not change, also where the signature comes later. */
function saidByBlock(read: (name: string) => Json | undefined): Said | undefined {
  const type = read("type");
  if (typeof type === "string" && type.endsWith("tool_result")) return { kind: "tool-result" };
  switch (type) {
    case "thinking":
    case "thinking_delta":
      return { kind: "reasoning", fixed: "signed" };
    case "redacted_thinking":
      return { kind: "reasoning", fixed: "encrypted" };
    case "document":
    case "search_result":
      return { kind: "document" };
    case "base64":
    case "url":
      return { kind: "media" };
    case "server_tool_use":
    case "mcp_tool_use":
      return { hasRun: true };
    default:
      return undefined;
  }
}

const CITATION: Level = {
  kind: "document",
  members: {
    ...each(WORD, "type"),
    ...each(ID, "file_id encrypted_index"),
    ...each(NUMBER, "enabled"),
    ...each(TEXT, "cited_text document_title title source url"),
  },
};

const BLOCK: Level = {
  says: saidByBlock,
  members: {
    type: WORD,
    ...each(ID, "id tool_use_id file_id caller"),
    media_type: WORD,
    ...each(NUMBER, "is_error"),
    ...each(TEXT, "text title context thinking data url refusal"),
    ...each(TEXT, "stdout stderr snippet"),
    name: CALL_NAME,
    ...each(CALLED_NAME, "toolset_name tool_name server_name"),
    ...each(WORD, "page_age retrieved_at file_type"),
    encrypted_content: { kind: "document", fixed: "encrypted" },
    get tool_references(): Rule {
      return BLOCK;
    },
    input: ARGUMENTS,
    signature: SEALED,
    cache_control: CACHED,
    citations: CITATION,
    get content(): Rule {
      return BLOCK;
    },
    get source(): Rule {
      return BLOCK;
    },
  },
};

const TOOL: Level = {
  kind: "declaration",
  members: {
    ...each(WORD, "type"),
    name: TOOL_NAME,
    ...each(TEXT, "description input_schema input_examples"),
    ...each(
      NUMBER,
      `strict max_uses display_width_px display_height_px display_number max_characters
      eager_input_streaming defer_loading`,
    ),
    ...each(NAME, "allowed_domains blocked_domains user_location"),
    ...each(WORD, "allowed_callers"),
    cache_control: CACHED,
  },
};

const FORMAT: Level = { members: { type: WORD, schema: DECLARATION } };

const REQUEST: Level = {
  members: {
    ...each(ID, "model container"),
    system: { ...BLOCK, kind: "system" },
    messages: {
      says: (read) => ({ role: String(read("role")), ...(read("role") === "system" && { kind: "system" }) }),
      members: {
        role: WORD,
        content: BLOCK,
        cache_control: CACHED,
        clear_at: WORD,
        output_config: { members: { effort: WORD } },
      },
    },
    ...each(NUMBER, "stream temperature top_p top_k max_tokens"),
    ...each(NAME, "stop_sequences metadata tags"),
    tools: TOOL,
    tool_choice: { members: { type: WORD, name: CALLED_NAME, disable_parallel_tool_use: NUMBER } },
    thinking: { members: { ...each(WORD, "type display block_binding"), budget_tokens: NUMBER } },
    output_config: { members: { effort: WORD, format: FORMAT, task_budget: WORD } },
    output_format: FORMAT,
    ...each(WORD, "service_tier speed inference_geo"),
    cache_control: CACHED,
    ...each(OTHER, "context_management mcp_servers compaction fallbacks safeguards thread"),
  },
};

const STOP = {
  ...each(WORD, "stop_reason"),
  stop_sequence: NAME,
  stop_details: { members: { ...each(WORD, "type category"), explanation: TEXT } },
  container: ID,
};

const MESSAGE = { ...each(ID, "id model"), ...each(WORD, "type role"), content: BLOCK, usage: WORD, ...STOP };

/** An answer, or an event of a stream. */
const ANSWER: Level = {
  says: (read) => (typeof read("index") === "number" ? { channel: String(read("index")) } : undefined),
  members: {
    ...MESSAGE,
    message: { members: MESSAGE },
    index: NUMBER,
    content_block: BLOCK,
    delta: {
      says: saidByBlock,
      members: {
        ...STOP,
        type: WORD,
        text: { piece: "text" },
        thinking: { piece: "thinking" },
        signature: SEALED,
        partial_json: { kind: "tool-arguments", isJson: true, piece: "input" },
        citation: CITATION,
      },
    },
    error: { members: { type: WORD, message: TEXT } },
    request_id: ID,
  },
};

/** An open block gets its end, which clients need; an open tool call so has arguments that are no JSON. */
function stopped(reason: string, { last }: BrokenStream): Frame[] {
  const event = last && parseJson(last.data);
  const { type, index } = isObject(event) ? event : {};
  const isOpen = type === "content_block_start" || type === "content_block_delta";
  const ending: JsonObject[] = [
    ...(isOpen ? [{ type: "content_block_stop", index: index! }] : []),
    {
      type: "message_delta",
      delta: {
        stop_reason: "refusal",
        stop_sequence: null,
        stop_details: { type: "refusal", category: null, explanation: reason },
      },
      usage: { output_tokens: 0 },
    },
    { type: "message_stop" },
  ];
  return ending.map((data) => ({ event: data.type as string, data: JSON.stringify(data) }));
}

function closed({ type, index }: JsonObject): string[] {
  return type === "content_block_stop" ? [`${Number(index)}/`] : [];
}

export const places = textPlaces({ request: REQUEST, answer: ANSWER, stopped, closed });
