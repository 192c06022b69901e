/** Where the texts of interactions are. */
import type { BrokenStream } from "../../../core/format.ts";
import type { Frame } from "../../../core/frame.ts";
import {
  ARGUMENTS,
  CALL_NAME,
  CALLED_NAME,
  DECLARATION,
  each,
  ID,
  type Level,
  MEDIA,
  NAME,
  NUMBER,
  OTHER,
  SEALED,
  TEXT,
  textPlaces,
  TOOL_NAME,
  WORD,
} from "../../shared/text-places.ts";
import { FILTERED } from "./own-fields.ts";

const CONTENT: Level = {
  members: {
    ...each(WORD, "type mime_type resolution"),
    text: TEXT,
    ...each(MEDIA, "data uri"),
    annotations: { kind: "document" },
  },
};

const ROLES: Readonly<Record<string, string>> = { user_input: "user", function_result: "tool" };

const STEP: Level = {
  says: (read) => {
    const type = String(read("type") ?? "user_input");
    if (type === "thought") return { kind: "reasoning", role: "model", fixed: "signed" };
    return { role: ROLES[type] ?? String(read("role") ?? "model") };
  },
  members: {
    ...each(WORD, "type role is_error mime_type resolution search_type"),
    ...each(ID, "id call_id"),
    ...each(NAME, "server_name"),
    name: CALL_NAME,
    text: TEXT,
    ...each(MEDIA, "data uri"),
    content: CONTENT,
    summary: CONTENT,
    signature: SEALED,
    arguments: ARGUMENTS,
    result: { ...CONTENT, kind: "tool-result" },
    error: OTHER,
  },
};

const TOOL: Level = {
  kind: "declaration",
  members: {
    ...each(WORD, "type"),
    name: TOOL_NAME,
    ...each(TEXT, "description parameters"),
  },
};

const CONFIG: Level = {
  members: {
    ...each(NUMBER, "temperature top_p max_output_tokens seed"),
    stop_sequences: NAME,
    ...each(WORD, "thinking_level thinking_summaries"),
    tool_choice: { members: { allowed_tools: { members: { mode: WORD, tools: CALLED_NAME } } } },
    ...each(OTHER, "image_config speech_config transcription_config video_config"),
  },
};

const FORMAT: Level = { members: { ...each(WORD, "type mime_type delivery"), schema: DECLARATION } };

const DELTA: Level = {
  says: (read) =>
    String(read("type")).startsWith("thought") ? { kind: "reasoning", fixed: "signed" } : { role: "model" },
  members: {
    type: WORD,
    text: { piece: "text" },
    content: { members: { type: WORD, text: { piece: "thought" }, ...each(MEDIA, "data uri") } },
    arguments: { ...ARGUMENTS, piece: "arguments" },
    signature: SEALED,
    ...each(MEDIA, "data uri"),
    mime_type: WORD,
  },
};

const INTERACTION: Level = {
  members: {
    ...each(ID, "id model previous_interaction_id environment_id"),
    ...each(WORD, "object status created updated usage service_tier response_modalities role"),
    steps: STEP,
    input: STEP,
    system_instruction: { kind: "system" },
    tools: TOOL,
    continuation_token: SEALED,
    errors: { members: { code: WORD, message: TEXT } },
  },
};

const REQUEST: Level = {
  members: {
    ...each(ID, "model agent previous_interaction_id cached_content"),
    input: STEP,
    system_instruction: { kind: "system" },
    tools: TOOL,
    generation_config: CONFIG,
    response_format: FORMAT,
    ...each(WORD, "response_mime_type response_modalities safety_settings service_tier"),
    labels: NAME,
    continuation_token: SEALED,
    ...each(OTHER, "environment webhook_config"),
    ...each(NUMBER, "background store stream"),
  },
};

const ANSWER: Level = {
  members: {
    ...INTERACTION.members,
    ...each(WORD, "event_type event_id"),
    interaction_id: ID,
    index: NUMBER,
    interaction: INTERACTION,
    step: STEP,
    delta: DELTA,
    ...each(WORD, "step_usage metadata"),
    error: { members: { code: WORD, message: TEXT, status: WORD, details: OTHER } },
  },
};

/** An interaction has no word for a filter: its errors say it. */
function stopped(reason: string, { begun }: BrokenStream): Frame[] {
  const interaction = { ...begun, status: "incomplete", errors: [{ code: FILTERED, message: reason }] };
  const event_type = "interaction.completed";
  return [
    { event: event_type, data: JSON.stringify({ event_type, interaction }) },
    { event: "done", data: "[DONE]" },
  ];
}

export const places = textPlaces({ request: REQUEST, answer: ANSWER, stopped });
