/**
 * The schemas of the Messages format. That of the request is used for validation and the OpenAPI document, the others for
 * the document. The request covers the fields whose shape weir relies on, and has the names of the others. Answers and
 * events describe what weir writes; those of a provider that speaks this format reach the client as the provider wrote them.
 */
import type { TSchema } from "@sinclair/typebox";
import { Type } from "@sinclair/typebox";
import { anything, count, nullable, oneOf, open, optional, validatorCode } from "../shared/schema.ts";
import { CACHED, DISPLAYED, LOADED, MEDIA_TYPE, STOPPED, STREAMED } from "../shared/silent.ts";
import { lost, named, names, silent } from "../shared/vocabulary.ts";

const MARK = { cache_control: CACHED };

/** Any object with a type: blocks and tools are open unions. */
const Typed = open({ type: Type.String() });

const File = { read: "type data url file_id", silent: { media_type: MEDIA_TYPE } };

/** The blocks that a document consists of are texts and images. */
const Source = names({
  ...File,
  inner: {
    content: names({ read: "type text citations", inner: { source: names(File) }, silent: MARK }),
  },
});

/** `input` holds the arguments of a tool, with names of the client. */
const Block = named(Typed, {
  types: "text image document thinking redacted_thinking tool_use tool_result",
  read: `text title context id name input tool_use_id is_error thinking signature data caller toolset_name file_id`,
  inner: { content: "same", source: Source, citations: names("enabled") },
  silent: MARK,
});

const Content = Type.Union([Type.String(), Type.Array(Block)], {
  description: "Text, or a list of content blocks.",
});

const Turn = open({
  role: Type.Union([Type.Literal("user"), Type.Literal("assistant")]),
  content: Content,
});

const SystemTurn = open({ role: Type.Literal("system"), content: optional(Content) });

/** `input_schema` is a JSON schema, `input_examples` are arguments. */
const Tool = names({
  read: "type name description input_schema input_examples strict",
  passed: true,
  lost: `allowed_callers max_uses allowed_domains blocked_domains user_location display_width_px display_height_px
    display_number max_characters`,
  silent: { ...MARK, eager_input_streaming: STREAMED, defer_loading: LOADED },
});

const OutputConfig = names({
  read: "effort",
  inner: { format: names("type schema") },
  passed: true,
  lost: "task_budget",
});

const max_tokens = Type.Integer({
  minimum: 1,
  description: "Maximum number of tokens to generate, including reasoning.",
});

const members = {
  model: Type.String({ minLength: 1, description: "Model identifier, at most 256 bytes of UTF-8." }),
  system: optional(Type.Union([Type.String(), Type.Array(Block)], { description: "System prompt." })),
  stream: silent(STREAMED, Type.Boolean({ description: "`true` streams the answer as server-sent events." })),
  temperature: optional(Type.Number({ minimum: 0, maximum: 2 })),
  top_p: optional(Type.Number({ minimum: 0, maximum: 1 })),
  top_k: optional(Type.Integer({ minimum: 0 })),
  stop_sequences: silent(STOPPED, Type.Array(Type.String())),
  tools: optional(Type.Array(Tool)),
  tool_choice: optional(named(Typed, "name disable_parallel_tool_use")),
  thinking: optional(
    named(Typed, {
      read: "budget_tokens",
      passed: true,
      lost: "block_binding",
      silent: { display: DISPLAYED },
    }),
  ),
  output_config: optional(OutputConfig),
  metadata: optional(names({ read: "user_id", passed: true, free: true })),
  service_tier: optional(Type.String()),
  cache_control: silent(CACHED, Typed),
};

/** @param later any message but the first */
function conversation(later: TSchema) {
  return Type.Array(later, {
    minItems: 1,
    // TypeBox does not check this keyword: the check of the request does.
    prefixItems: [Turn],
    description:
      "The conversation in chronological order. The first message must not have the role `system`.",
  });
}

function request(title: string, messages: TSchema, limit: TSchema) {
  return named(open({ ...members, messages, max_tokens: limit }, { title }), {
    read: `container context_management mcp_servers inference_geo speed compaction fallbacks safeguards thread`,
    inner: { output_format: names("type schema") },
    passed: true,
    lost: "tags",
  });
}

const AnyTurn = named(Type.Union([Turn, SystemTurn]), {
  read: "clear_at",
  inner: { output_config: names("effort") },
  silent: MARK,
});

const withSystemTurns = conversation(AnyTurn);

export const MessagesRequest = request("MessagesRequest", withSystemTurns, max_tokens);

/** The validator of requests, as JavaScript. The bundler calls it as a macro and puts its result into the binary. */
export function requestValidatorCode(): string {
  return validatorCode(MessagesRequest);
}

/**
 * The schemas of the bodies of both routes for the OpenAPI document.
 * @param systemTurns whether messages after the first may have `role: "system"`
 */
export function requestSchemas(systemTurns: boolean): { generate: TSchema; count: TSchema } {
  const messages = systemTurns ? withSystemTurns : conversation(Turn);
  return {
    generate: request("MessagesRequest", messages, max_tokens),
    count: request("MessagesCountRequest", messages, Type.Optional(max_tokens)),
  };
}

export const MessagesCount = open(
  { input_tokens: count({ description: "Counted by the provider, or estimated by weir." }) },
  { title: "MessagesCount" },
);

const AnswerBlock = oneOf("type", [
  open({ type: Type.Literal("text"), text: Type.String() }),
  open({ type: Type.Literal("thinking"), thinking: Type.String(), signature: Type.String() }),
  open({ type: Type.Literal("redacted_thinking"), data: Type.String() }),
  open({ type: Type.Literal("tool_use"), id: Type.String(), name: Type.String(), input: anything() }),
  open({ type: Type.String({ pattern: "^(?!(text|thinking|redacted_thinking|tool_use)$)" }) }),
]);

const totals = {
  input_tokens: Type.Optional(nullable(count({ description: "Neither read from nor written to a cache." }))),
  cache_creation_input_tokens: Type.Optional(nullable(count())),
  cache_read_input_tokens: Type.Optional(nullable(count())),
  output_tokens: count({ description: "Including reasoning." }),
  output_tokens_details: Type.Optional(nullable(open({ thinking_tokens: Type.Optional(count()) }))),
};

const stop = {
  stop_reason: nullable(
    Type.String({
      description:
        "`end_turn`, `max_tokens`, `stop_sequence`, `tool_use`, `pause_turn`, `refusal`, `compaction` or `model_context_window_exceeded`.",
    }),
    { description: "Null in `message_start`." },
  ),
  stop_sequence: Type.Optional(nullable(Type.String({ description: "The stop sequence that matched." }))),
  stop_details: Type.Optional(
    nullable(
      open({
        type: Type.String(),
        category: Type.Optional(nullable(Type.String())),
        explanation: Type.Optional(nullable(Type.String())),
      }),
    ),
  ),
  container: Type.Optional(nullable(anything())),
};

const answer = {
  id: Type.String(),
  type: Type.Literal("message"),
  role: Type.Literal("assistant"),
  model: Type.String({ description: "The model as the client named it." }),
  content: Type.Array(AnswerBlock),
  ...stop,
  usage: open({
    ...totals,
    cache_creation: Type.Optional(
      nullable(open({ ephemeral_5m_input_tokens: count(), ephemeral_1h_input_tokens: count() })),
    ),
    server_tool_use: Type.Optional(nullable(anything())),
    service_tier: Type.Optional(nullable(Type.String())),
  }),
};

export const MessagesAnswer = open(answer, { title: "MessagesAnswer" });

const Delta = oneOf("type", [
  open({ type: Type.Literal("text_delta"), text: Type.String() }),
  open({ type: Type.Literal("thinking_delta"), thinking: Type.String() }),
  open({ type: Type.Literal("signature_delta"), signature: Type.String() }),
  open({ type: Type.Literal("input_json_delta"), partial_json: Type.String() }),
  open({
    type: Type.String({ pattern: "^(?!(text_delta|thinking_delta|signature_delta|input_json_delta)$)" }),
  }),
]);

const index = count({ description: "The content block that the event belongs to." });

export const MessagesEvent = oneOf(
  "type",
  [
    open({ type: Type.Literal("message_start"), message: open(answer) }),
    open({ type: Type.Literal("content_block_start"), index, content_block: AnswerBlock }),
    open({ type: Type.Literal("content_block_delta"), index, delta: Delta }),
    open({ type: Type.Literal("content_block_stop"), index }),
    open({ type: Type.Literal("message_delta"), delta: open(stop), usage: open(totals) }),
    open({ type: Type.Literal("message_stop") }),
    open({ type: Type.Literal("ping") }),
  ],
  {
    title: "MessagesEvent",
    description:
      "One event; its SSE field `event` repeats `type`. A complete stream ends with `message_stop`.",
  },
);

export const MessagesError = open(
  {
    type: Type.Literal("error"),
    error: open({
      type: Type.String(),
      message: Type.String(),
      details: Type.Optional(
        nullable(
          open({
            error_code: Type.Optional(
              Type.String({ description: "See the responses; a provider may have codes of its own." }),
            ),
          }),
        ),
      ),
    }),
    request_id: Type.Optional(nullable(Type.String())),
  },
  { title: "MessagesError" },
);
