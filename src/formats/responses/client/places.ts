/** Where the texts of Responses requests and answers are. */
import type { BrokenStream } from "../../../core/format.ts";
import type { Frame } from "../../../core/frame.ts";
import { isObject, type Json, type JsonObject, parseJson } from "../../../core/json.ts";
import {
  ARGUMENTS,
  CALL_NAME,
  CALLED_NAME,
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
  type Level,
  type Rule,
  type Said,
} from "../../shared/text-places.ts";
import { FrameWriter } from "./frames.ts";
import { ResponseBuilder } from "./response.ts";

const MARKS = each(WORD, "cache_control prompt_cache_breakpoint");
const ANNOTATION: Level = {
  kind: "document",
  members: {
    type: WORD,
    ...each(ID, "file_id container_id"),
    ...each(NUMBER, "index start_index end_index"),
    ...each(TEXT, "title url filename text"),
  },
};
const LOGPROBS = { kind: "logprobs" } as const;

/** The encrypted content, which signs the texts of an item, comes last in a stream. */
const SIGNED = { kind: "reasoning", fixed: "signed" } as const;

const PART: Level = {
  says: (read) => (read("type") === "reasoning_text" || read("type") === "summary_text" ? SIGNED : undefined),
  members: {
    type: WORD,
    ...each(TEXT, "text refusal stdout stderr transcript"),
    ...each(MEDIA, "image_url file_data file_url"),
    file_id: ID,
    filename: { kind: "document" },
    input_audio: { members: { data: MEDIA, format: WORD } },
    outcome: WORD,
    detail: WORD,
    annotations: ANNOTATION,
    logprobs: LOGPROBS,
    ...MARKS,
  },
};

const GRAMMAR = each(TEXT, "syntax definition");
const DECLARED = { name: TOOL_NAME, ...each(TEXT, "description parameters"), strict: NUMBER };
const FORMAT: Level = {
  kind: "declaration",
  members: { type: WORD, ...GRAMMAR, grammar: { members: GRAMMAR } },
};

const TOOL: Level = {
  kind: "declaration",
  members: {
    type: WORD,
    ...DECLARED,
    execution: WORD,
    environment: OTHER,
    format: FORMAT,
    function: { members: DECLARED },
    custom: { members: { name: TOOL_NAME, ...each(TEXT, "description"), format: FORMAT } },
    get tools(): Rule {
      return TOOL;
    },
    ...each(TEXT, "output_schema input_schema server_description"),
    server_label: NAME,
    ...each(WORD, "allowed_callers"),
    defer_loading: NUMBER,
    ...MARKS,
  },
};

const TEXT_FORMAT: Level = {
  kind: "declaration",
  members: { type: WORD, ...each(TEXT, "name description schema"), strict: NUMBER },
};

function saidByItem(read: (name: string) => Json | undefined): Said {
  const type = String(read("type") ?? "message");
  const role = read("role");
  if (type === "reasoning") return SIGNED;
  if (type.endsWith("_output")) return { role: "tool", kind: "tool-result" };
  if (role === "system" || role === "developer") return { role, kind: "system" };
  if (typeof role === "string") return { role };
  return { hasRun: type !== "function_call" && type !== "custom_tool_call" };
}

const ITEM: Level = {
  says: saidByItem,
  members: {
    ...each(WORD, "type role status phase execution"),
    ...each(ID, "id call_id"),
    content: PART,
    name: CALL_NAME,
    namespace: CALLED_NAME,
    output: { ...PART, kind: "tool-result" },
    arguments: { kind: "tool-arguments", isJson: true },
    ...each(ARGUMENTS, "input code queries"),
    ...each({ kind: "tool-result" }, "outputs results"),
    server_label: NAME,
    container_id: ID,
    encrypted_content: SEALED,
    ...each({ kind: "tool-result" }, "error"),
    result: { kind: "tool-result" },
    summary: PART,
    action: {
      kind: "tool-arguments",
      members: {
        type: WORD,
        ...each(TEXT, "command working_directory commands query queries sources env user"),
        ...each(NUMBER, "timeout_ms max_output_length"),
      },
    },
    operation: { kind: "tool-arguments", members: { type: WORD, ...each(TEXT, "path diff") } },
    tools: TOOL,
    reasoning: { members: { effort: WORD } },
    text: { members: { format: TEXT_FORMAT } },
    max_output_length: NUMBER,
    internal_chat_message_metadata_passthrough: OTHER,
  },
};

const CHOSEN = {
  type: WORD,
  ...each(CALLED_NAME, "name namespace server_label"),
  ...each({ members: { name: CALLED_NAME } }, "function custom"),
};

const REQUEST: Level = {
  members: {
    ...each(ID, "model previous_response_id conversation"),
    input: ITEM,
    instructions: { kind: "system", members: ITEM.members },
    tools: TOOL,
    tool_choice: {
      kind: "name",
      members: {
        ...CHOSEN,
        mode: WORD,
        tools: { members: CHOSEN },
        allowed_tools: { members: { mode: WORD, tools: { members: CHOSEN } } },
      },
    },
    ...each(
      NUMBER,
      `stream store parallel_tool_calls max_output_tokens max_tool_calls temperature top_p top_logprobs background
      stream_options`,
    ),
    reasoning: { members: each(WORD, "effort summary mode generate_summary context") },
    text: { members: { format: TEXT_FORMAT, verbosity: WORD } },
    ...each(
      WORD,
      "truncation include service_tier cache_control prompt_cache_options prompt_cache_retention",
    ),
    prompt: { members: { ...each(ID, "id version"), variables: TEXT } },
    ...each(NAME, "metadata user safety_identifier prompt_cache_key client_metadata"),
    ...each(OTHER, "moderation context_management personality access_programs image"),
  },
};

/** Members of the request that the answer repeats, and its own. */
const RESPONSE: Level = {
  members: {
    ...REQUEST.members,
    ...each(ID, "id"),
    ...each(WORD, "object status usage"),
    ...each(NUMBER, "created_at completed_at"),
    output: ITEM,
    output_text: TEXT,
    error: { members: { code: WORD, message: TEXT } },
    incomplete_details: WORD,
  },
};

/** By the type of an event: the kind of the text in it. */
function saidByEvent(read: (name: string) => Json | undefined): Said | undefined {
  const type = read("type");
  if (typeof type !== "string" || !type.startsWith("response.")) return undefined;
  const part = read("content_index") ?? read("summary_index") ?? 0;
  const channel = `${Number(read("output_index") ?? 0)}/${Number(part)}`;
  if (type.startsWith("response.reasoning")) return { channel, ...SIGNED };
  if (!type.includes("call")) return { channel };
  return { channel, kind: "tool-arguments", isJson: type.startsWith("response.function_call_arguments") };
}

/** An answer, or an event of a stream. */
const ANSWER: Level = {
  says: saidByEvent,
  members: {
    ...RESPONSE.members,
    ...each(WORD, "type obfuscation billing content_filters"),
    ...each(ID, "item_id"),
    ...each(NUMBER, "sequence_number output_index content_index summary_index annotation_index"),
    response: RESPONSE,
    item: ITEM,
    part: PART,
    delta: { piece: "delta" },
    ...each(TEXT, "text refusal arguments input code"),
    annotation: ANNOTATION,
    logprobs: LOGPROBS,
    message: TEXT,
    param: WORD,
  },
};

/** Items that are open stay so: what clients have of them is cut. */
function stopped(reason: string, { begun, last }: BrokenStream): Frame[] {
  const event = last && parseJson(last.data);
  const number = isObject(event) ? event.sequence_number : undefined;
  const frames = new FrameWriter(typeof number === "number" ? number + 1 : 0);
  const refusal = { type: "message", id: "msg_stopped", status: "incomplete", role: "assistant" };
  const output = [{ ...refusal, content: [{ type: "refusal", refusal: reason }] }];
  const state = { status: "incomplete", output, store: false, incomplete: "content_filter" } as const;
  const response = new ResponseBuilder({ id: "stopped", model: "" }).build(state);
  const ended = { status: "incomplete", output, incomplete_details: response.incomplete_details! };
  frames.add("response.incomplete", { response: { ...response, ...begun, ...ended } });
  return frames.take();
}

function closed({ type, output_index, content_index, summary_index }: JsonObject): string[] {
  if (typeof type !== "string" || !type.endsWith(".done")) return [];
  const item = `${Number(output_index ?? 0)}/`;
  const part = content_index ?? summary_index;
  return [part === undefined ? item : `${item}${Number(part)}/`];
}

export const places = textPlaces({ request: REQUEST, answer: ANSWER, stopped, closed });
