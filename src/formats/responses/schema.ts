/**
 * The schemas of the Responses format. That of the request is used for validation, error messages and the OpenAPI document,
 * the others for the document. The request covers the fields whose shape weir relies on, and has the names of the others: items
 * and tools of unknown types pass. Answers and events describe what weir writes; those of a provider that speaks this format reach the client as the
 * provider wrote them.
 */
import type { TSchema } from "@sinclair/typebox";
import { Type } from "@sinclair/typebox";
import { anything, count, nullable, oneOf, open, optional, validatorCode } from "../shared/schema.ts";
import {
  CACHED,
  DETAIL,
  IN_ANSWER,
  KIND,
  LOADED,
  NAMED,
  STORED,
  STREAMED,
  STRICT,
} from "../shared/silent.ts";
import { lost, named, names, silent } from "../shared/vocabulary.ts";

const MARKS = { cache_control: CACHED, prompt_cache_breakpoint: CACHED };
const CODEX = "Codex writes it for OpenAI's own records";

const Part = names({
  types: "input_text output_text text refusal input_image input_file input_audio summary_text reasoning_text",
  // An output of a shell has the last three.
  read: "type text refusal image_url file_id file_data file_url filename stdout stderr",
  inner: {
    input_audio: names("data format"),
    outcome: names({ read: "exit_code", silent: { type: KIND } }),
  },
  silent: { ...MARKS, detail: DETAIL, annotations: IN_ANSWER, logprobs: IN_ANSWER },
});

const Parts = Type.Array(Part);
const Content = Type.Union([Type.String(), Parts], { description: "Text, or a list of content parts." });

/** Clients omit `type` of messages, and write `null` for members that they do not use. */
const Message = open({
  type: optional(Type.Literal("message")),
  role: optional(Type.String()),
  content: optional(Content),
  id: silent(IN_ANSWER, Type.String()),
});

const call = (type: string) =>
  open({
    type: Type.Literal(type),
    call_id: Type.String(),
    name: Type.String(),
    namespace: optional(Type.String()),
  });

const output = (type: string) =>
  open({ type: Type.Literal(type), call_id: Type.String(), output: optional(Content) });

const KNOWN_ITEMS = [
  "message",
  "function_call",
  "custom_tool_call",
  "function_call_output",
  "custom_tool_call_output",
];

/** `parameters` are a JSON schema with names of the client. */
const DECLARED = "name description parameters strict";
const GRAMMAR = "syntax definition";

const Tool = names({
  rebuilt: "function custom namespace local_shell shell apply_patch tool_search",
  read: `type ${DECLARED} execution environment`,
  inner: {
    format: names({ read: GRAMMAR, inner: { grammar: names(GRAMMAR) }, silent: { type: KIND } }),
    function: names(DECLARED),
    custom: names("name description format"),
    tools: "same",
  },
  lost: "output_schema allowed_callers",
  silent: { ...MARKS, defer_loading: LOADED },
});

const ITEMS = [
  Message,
  call("function_call"),
  call("custom_tool_call"),
  output("function_call_output"),
  output("custom_tool_call_output"),
  open({ type: Type.String({ pattern: `^(?!(${KNOWN_ITEMS.join("|")})$)` }) }),
];

/** `arguments`, `input` and `result` hold words of the client's tools. */
const Item = named(oneOf("type", ITEMS), {
  types: `message reasoning function_call custom_tool_call local_shell_call shell_call apply_patch_call function_call_output
    custom_tool_call_output local_shell_call_output shell_call_output apply_patch_call_output additional_tools
    tool_search_output configuration_update`,
  read: "arguments input encrypted_content execution result error",
  inner: {
    summary: names({ read: "text", silent: { type: KIND } }),
    action: names({
      read: "command working_directory timeout_ms commands query",
      lost: "env user max_output_length",
      silent: { type: KIND },
    }),
    operation: names("type path diff"),
    tools: Tool,
    reasoning: names("effort"),
    text: names({ inner: { format: names("type name schema strict description") } }),
  },
  lost: "max_output_length",
  silent: {
    status: IN_ANSWER,
    phase: "tells OpenAI's models which of their texts were comments; others read the texts alone",
    internal_chat_message_metadata_passthrough: CODEX,
  },
});

const Named = names("name");

const Chosen = names({
  read: "name namespace server_label",
  inner: { function: Named, custom: Named },
  silent: { type: KIND },
});

const ToolChoice = names({
  read: "type name namespace mode server_label",
  inner: {
    tools: Chosen,
    function: Named,
    custom: Named,
    allowed_tools: names({ read: "mode", inner: { tools: Chosen } }),
  },
});

const Format = named(open({ type: Type.String() }), {
  read: "schema description",
  silent: { name: NAMED, strict: STRICT },
});

/** Members that make a request without `input` meaningful. */
export const INSTEAD_OF_INPUT = ["previous_response_id", "conversation", "prompt"];

/** Keywords that TypeBox does not check: the check of the request does. */
const NEEDS_INPUT = {
  description: "Needs a non-empty `input`, or one of `previous_response_id`, `conversation` and `prompt`.",
  anyOf: [
    {
      required: ["input"],
      properties: { input: { anyOf: [{ type: "string" }, { type: "array", minItems: 1 }] } },
    },
    ...INSTEAD_OF_INPUT.map((name) => ({
      required: [name],
      properties: { [name]: { not: { type: "null" } } },
    })),
  ],
};

const members = {
  model: Type.String({ minLength: 1, description: "Model identifier, at most 256 bytes of UTF-8." }),
  input: optional(
    Type.Union([Type.String(), Type.Array(Item)], { description: "Text, or the items of the conversation." }),
  ),
  instructions: optional(Type.String({ description: "System prompt of this call." })),
  previous_response_id: optional(
    Type.String({ description: "Id of the answer that the request continues." }),
  ),
  tools: optional(Type.Array(Tool)),
  tool_choice: optional(Type.Union([Type.String(), ToolChoice])),
  parallel_tool_calls: optional(Type.Boolean()),
  reasoning: optional(
    named(open({ effort: optional(Type.String()), summary: optional(Type.String()) }), {
      read: "mode generate_summary",
      passed: true,
      lost: "context",
    }),
  ),
  text: optional(
    named(open({ format: optional(Format), verbosity: optional(Type.String()) }), { passed: true }),
  ),
  truncation: optional(Type.String()),
  conversation: optional(Type.Union([Type.String(), anything()])),
  prompt: optional(names("id version variables")),
};

const checked = open(
  {
    ...members,
    stream: silent(
      STREAMED,
      Type.Boolean({ description: "`true` streams the answer as server-sent events." }),
    ),
    store: silent(
      STORED,
      Type.Boolean({ description: "`false`: the answer cannot be continued by its id." }),
    ),
    max_output_tokens: optional(
      Type.Integer({ minimum: 1, description: "Maximum number of tokens to generate, including reasoning." }),
    ),
    max_tool_calls: silent(
      "counts only calls of tools that the vendor runs, which other providers do not get",
      Type.Integer(),
    ),
    temperature: optional(Type.Number({ minimum: 0, maximum: 2, description: "Sampling temperature." })),
    top_p: optional(Type.Number({ minimum: 0, maximum: 1, description: "Nucleus sampling." })),
    top_logprobs: optional(Type.Integer({ minimum: 0, maximum: 20 })),
    include: optional(Type.Array(Type.String())),
    background: optional(Type.Boolean()),
    metadata: lost(anything()),
    user: silent(
      "beside `safety_identifier`, which takes its place; alone, it is carried or reported",
      Type.String(),
    ),
    safety_identifier: optional(Type.String()),
    prompt_cache_key: silent(CACHED, Type.String()),
    service_tier: optional(Type.String()),
  },
  { title: "ResponsesRequest", ...NEEDS_INPUT },
);

export const ResponsesRequest = named(checked, {
  read: "moderation",
  inner: {
    stream_options: names({ silent: { include_obfuscation: STREAMED } }),
    context_management: names("type compact_threshold"),
  },
  passed: true,
  lost: "personality access_programs image",
  silent: {
    cache_control: CACHED,
    prompt_cache_options: CACHED,
    prompt_cache_retention: CACHED,
    client_metadata: CODEX,
  },
});

/** The validator of requests, as JavaScript. The bundler calls it as a macro and puts its result into the binary. */
export function requestValidatorCode(): string {
  return validatorCode(ResponsesRequest);
}

export const ResponsesCountRequest = open(members, { title: "ResponsesCountRequest", ...NEEDS_INPUT });

export const ResponsesCount = open(
  {
    object: Type.Literal("response.input_tokens"),
    input_tokens: count({ description: "Counted by the provider, or estimated by weir." }),
  },
  { title: "ResponsesCount" },
);

export const ResponsesCompaction = open(
  {
    id: Type.String(),
    object: Type.Literal("response.compaction"),
    created_at: count(),
    output: Type.Array(open({ type: Type.String() }), {
      description: "The user's messages, and an opaque item that stands for the conversation.",
    }),
    usage: open({}),
  },
  { title: "ResponsesCompaction" },
);

const Usage = open({
  input_tokens: count({ description: "Including tokens read from and written to the cache." }),
  input_tokens_details: Type.Optional(nullable(open({ cached_tokens: Type.Optional(count()) }))),
  output_tokens: count({ description: "Including reasoning." }),
  output_tokens_details: Type.Optional(nullable(open({ reasoning_tokens: Type.Optional(count()) }))),
  total_tokens: count(),
});

const OutputItem = open({
  type: Type.String({
    description: "`message`, `reasoning`, `function_call`, `custom_tool_call` and others.",
  }),
  id: Type.Optional(nullable(Type.String())),
  status: Type.Optional(nullable(Type.String())),
});

const answer = {
  id: Type.String(),
  object: Type.Literal("response"),
  created_at: Type.Number({ description: "Seconds since 1970." }),
  status: Type.Optional(
    Type.String({
      description: "`in_progress`, `completed`, `incomplete`, `failed`, `queued` or `cancelled`.",
    }),
  ),
  model: Type.String({ description: "The model as the client named it." }),
  output: Type.Array(OutputItem),
  error: Type.Optional(nullable(open({ code: Type.String(), message: Type.String() }))),
  incomplete_details: Type.Optional(nullable(open({ reason: Type.Optional(Type.String()) }))),
  store: Type.Optional(Type.Boolean({ description: "Whether the answer can be continued by its id." })),
  usage: Type.Optional(nullable(Usage)),
};

export const ResponsesAnswer = open(answer, { title: "ResponsesAnswer" });

const lifecycle = (type: string) =>
  open({ type: Type.Literal(type), sequence_number: count(), response: open(answer) });

const LIFECYCLE = [
  "response.created",
  "response.in_progress",
  "response.completed",
  "response.incomplete",
  "response.failed",
];

export const ResponsesEvent: TSchema = oneOf(
  "type",
  [
    ...LIFECYCLE.map(lifecycle),
    open({
      type: Type.String({
        pattern: `^(?!(${LIFECYCLE.map((type) => type.replace(".", "\\.")).join("|")})$)`,
      }),
      sequence_number: Type.Optional(count()),
    }),
  ],
  {
    title: "ResponsesEvent",
    description: "A stream ends with `response.completed`, `response.incomplete` or `response.failed`.",
  },
);

export const ResponsesError = open(
  {
    error: open({
      message: Type.String(),
      type: Type.Optional(nullable(Type.String())),
      param: Type.Optional(
        nullable(Type.String({ description: "Path of the wrong member (`input[0].content`)." })),
      ),
      code: Type.Optional(nullable(Type.Union([Type.String(), Type.Integer()]))),
    }),
  },
  { title: "ResponsesError" },
);
