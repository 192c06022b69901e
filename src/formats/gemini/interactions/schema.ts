/** The schemas of interactions. That of the request covers the fields whose shape weir relies on. */
import { Type } from "@sinclair/typebox";
import { anything, count, open, optional, validatorCode } from "../../shared/schema.ts";
import { DISPLAYED, STORED } from "../../shared/silent.ts";
import { lost, named, silent } from "../../shared/vocabulary.ts";

const Tool = named(
  open({
    type: Type.String(),
    name: optional(Type.String()),
    description: optional(Type.String()),
    parameters: optional(anything()),
  }),
  // Every other tool is one that Google runs, which the codec reports.
  { passed: true, types: "function" },
);

const Config = named(
  open({
    temperature: optional(Type.Number({ minimum: 0, maximum: 2 })),
    top_p: optional(Type.Number({ minimum: 0, maximum: 1 })),
    max_output_tokens: optional(Type.Integer({ minimum: 1 })),
    stop_sequences: optional(Type.Array(Type.String())),
    thinking_level: optional(Type.String()),
    thinking_summaries: silent(DISPLAYED, Type.String()),
    tool_choice: optional(anything()),
  }),
  { read: "seed image_config speech_config transcription_config video_config", passed: true },
);

const request = {
  model: Type.String({ minLength: 1 }),
  input: Type.Union([Type.String(), Type.Array(anything()), open({})], {
    description: "A text, a content, or a list of contents or of steps.",
  }),
  system_instruction: optional(Type.String()),
  tools: optional(Type.Array(Tool)),
  generation_config: optional(Config),
  response_format: optional(anything()),
  stream: optional(Type.Boolean()),
  previous_interaction_id: optional(Type.String()),
  service_tier: optional(Type.String()),
  background: optional(Type.Boolean()),
  safety_settings: lost(Type.Array(anything())),
};

export const InteractionRequest = named(open(request, { title: "InteractionRequest" }), {
  read: `cached_content continuation_token environment labels response_mime_type response_modalities webhook_config`,
  passed: true,
  silent: { store: STORED },
});

/** The validator of requests, as JavaScript. */
export function interactionValidatorCode(): string {
  return validatorCode(InteractionRequest);
}

const Usage = open({
  total_input_tokens: Type.Optional(count({ description: "Including tokens read from a cache." })),
  total_cached_tokens: Type.Optional(count()),
  total_output_tokens: Type.Optional(count({ description: "Without reasoning." })),
  total_thought_tokens: Type.Optional(count()),
  total_tokens: Type.Optional(count()),
});

const answer = {
  id: Type.String(),
  object: Type.Optional(Type.String()),
  model: Type.Optional(Type.String()),
  status: Type.String({
    description: "`completed`, `requires_action` (a tool is called), `incomplete`, `in_progress` and others.",
  }),
  created: Type.Optional(Type.String()),
  updated: Type.Optional(Type.String()),
  errors: Type.Optional(
    Type.Array(open({ code: Type.Optional(Type.String()), message: Type.Optional(Type.String()) })),
  ),
  steps: Type.Optional(Type.Array(open({ type: Type.String() }))),
  usage: Type.Optional(Usage),
};

export const InteractionAnswer = open(answer, { title: "InteractionAnswer" });

export const InteractionEvent = open(
  {
    event_type: Type.String(),
    index: Type.Optional(Type.Integer()),
    interaction: Type.Optional(open({ id: Type.String(), status: Type.String() })),
    step: Type.Optional(anything()),
    delta: Type.Optional(anything()),
  },
  { title: "InteractionEvent" },
);
