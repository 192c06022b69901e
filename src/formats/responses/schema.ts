/**
 * The schemas of the Responses format. That of the request is used for validation, error messages and the OpenAPI document,
 * the others for the document. The request covers the fields whose shape weir relies on: items and tools of unknown types
 * pass. Answers and events describe what weir writes; those of a provider that speaks this format reach the client as the
 * provider wrote them.
 */
import type { TSchema } from "@sinclair/typebox";
import { Type } from "@sinclair/typebox";
import { anything, count, nullable, oneOf, open, optional } from "../shared/schema.ts";

const Parts = Type.Array(anything());
const Content = Type.Union([Type.String(), Parts], { description: "Text, or a list of content parts." });

/** Clients omit `type` of messages, and write `null` for members that they do not use. */
const Message = open({
  type: optional(Type.Literal("message")),
  role: optional(Type.String()),
  content: optional(Content),
  id: optional(Type.String()),
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

const Item = oneOf("type", [
  Message,
  call("function_call"),
  call("custom_tool_call"),
  output("function_call_output"),
  output("custom_tool_call_output"),
  open({ type: Type.String({ pattern: `^(?!(${KNOWN_ITEMS.join("|")})$)` }) }),
]);

const Format = open({ type: Type.String() });

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
  tools: optional(Type.Array(anything())),
  tool_choice: optional(Type.Union([Type.String(), anything()])),
  parallel_tool_calls: optional(Type.Boolean()),
  reasoning: optional(open({ effort: optional(Type.String()), summary: optional(Type.String()) })),
  text: optional(open({ format: optional(Format), verbosity: optional(Type.String()) })),
  truncation: optional(Type.String()),
  conversation: optional(Type.Union([Type.String(), anything()])),
  prompt: optional(anything()),
};

export const ResponsesRequest = open(
  {
    ...members,
    stream: optional(Type.Boolean({ description: "`true` streams the answer as server-sent events." })),
    store: optional(Type.Boolean({ description: "`false`: the answer cannot be continued by its id." })),
    max_output_tokens: optional(
      Type.Integer({ minimum: 1, description: "Maximum number of tokens to generate, including reasoning." }),
    ),
    max_tool_calls: optional(Type.Integer()),
    temperature: optional(Type.Number({ minimum: 0, maximum: 2, description: "Sampling temperature." })),
    top_p: optional(Type.Number({ minimum: 0, maximum: 1, description: "Nucleus sampling." })),
    top_logprobs: optional(Type.Integer({ minimum: 0, maximum: 20 })),
    include: optional(Type.Array(Type.String())),
    background: optional(Type.Boolean()),
    metadata: optional(anything()),
    user: optional(Type.String()),
    safety_identifier: optional(Type.String()),
    prompt_cache_key: optional(Type.String()),
    service_tier: optional(Type.String()),
  },
  { title: "ResponsesRequest", ...NEEDS_INPUT },
);

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
