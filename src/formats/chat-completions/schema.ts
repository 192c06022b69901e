/**
 * The schemas of the chat-completions format. That of the request is used for validation, error messages and the OpenAPI
 * document, the others for the document. The request covers the fields whose shape weir relies on. Answers and events
 * describe what weir writes; those of a provider that speaks this format reach the client as the provider wrote them.
 */
import type { TSchema } from "@sinclair/typebox";
import { Type } from "@sinclair/typebox";
import { anything, count, nullable, oneOf, open, optional, otherThan } from "../shared/schema.ts";

const TextPart = open({ type: Type.Literal("text"), text: Type.String() });
const OtherPart = open({ type: otherThan("text") });

const Content = Type.Union([Type.String(), Type.Array(oneOf("type", [TextPart, OtherPart]))], {
  description: "Text, or a list of content parts.",
});

const ToolCall = open({
  id: optional(Type.String()),
  type: optional(Type.String()),
  function: optional(open({ name: Type.String() })),
  custom: optional(open({ name: Type.String() })),
});

const instruction = (role: string) =>
  open({ role: Type.Literal(role), content: Content, name: optional(Type.String()) });

/** An assistant message with one of these members needs no content. */
export const INSTEAD_OF_CONTENT = ["tool_calls", "function_call", "refusal", "audio", "images"];

const Message = oneOf("role", [
  instruction("developer"),
  instruction("system"),
  instruction("user"),
  open(
    {
      role: Type.Literal("assistant"),
      content: optional(Content),
      name: optional(Type.String()),
      refusal: optional(Type.String()),
      tool_calls: optional(Type.Array(ToolCall)),
      function_call: optional(open({ name: Type.String() })),
      images: optional(Type.Array(anything(), { description: "Images of an earlier answer." })),
    },
    {
      description:
        "Needs `content` unless it has `tool_calls`, `function_call`, `refusal`, `audio` or `images`.",
      anyOf: ["content", ...INSTEAD_OF_CONTENT].map((name) => ({
        required: [name],
        properties: { [name]: { not: { type: "null" } } },
      })),
    },
  ),
  open({ role: Type.Literal("tool"), content: Content, tool_call_id: optional(Type.String()) }),
  open({ role: Type.Literal("function"), content: optional(Content), name: Type.String() }),
]);

/** Clients of Mistral omit `type`. */
const FunctionTool = open({
  type: optional(Type.Literal("function")),
  function: open({
    name: Type.String({ minLength: 1 }),
    description: optional(Type.String()),
    parameters: optional(anything({ description: "JSON schema of the arguments." })),
    strict: optional(Type.Boolean()),
  }),
});
const OtherTool = open({ type: otherThan("function") });

const texts = Type.Array(Type.String());
const tokens = Type.Integer({
  minimum: 1,
  description: "Maximum number of tokens to generate; the limit depends on the model.",
});
const penalty = Type.Number({ minimum: -2, maximum: 2 });

export const ChatCompletionsRequest = open(
  {
    model: Type.String({ minLength: 1, description: "Model identifier, at most 256 bytes of UTF-8." }),
    messages: Type.Array(Message, { minItems: 1, description: "The conversation in chronological order." }),
    stream: optional(Type.Boolean({ description: "`true` streams the answer as server-sent events." })),
    stream_options: optional(open({ include_usage: optional(Type.Boolean()) })),
    temperature: optional(
      Type.Number({
        minimum: 0,
        maximum: 2,
        description: "Sampling temperature; higher values are more random.",
      }),
    ),
    top_p: optional(Type.Number({ minimum: 0, maximum: 1, description: "Nucleus sampling." })),
    max_tokens: optional(tokens),
    max_completion_tokens: optional(tokens),
    n: optional(Type.Integer({ minimum: 1, maximum: 128, description: "Number of choices." })),
    stop: optional(Type.Union([Type.String(), texts], { description: "Stop sequences." })),
    frequency_penalty: optional(penalty),
    presence_penalty: optional(penalty),
    logit_bias: optional(anything()),
    logprobs: optional(Type.Boolean()),
    top_logprobs: optional(Type.Integer({ minimum: 0, maximum: 20 })),
    seed: optional(Type.Integer()),
    tools: optional(Type.Array(oneOf("type", [FunctionTool, OtherTool]))),
    tool_choice: optional(Type.Union([Type.String(), anything()])),
    parallel_tool_calls: optional(Type.Boolean()),
    functions: optional(Type.Array(open({ name: Type.String({ minLength: 1 }) }))),
    function_call: optional(Type.Union([Type.String(), anything()])),
    response_format: optional(open({ type: Type.String() })),
    reasoning_effort: optional(Type.String()),
    user: optional(Type.String()),
    safety_identifier: optional(Type.String()),
    prompt_cache_key: optional(Type.String()),
    service_tier: optional(Type.String()),
    metadata: optional(anything()),
  },
  { title: "ChatCompletionsRequest" },
);

/** Mistral omits `type`. */
const AnswerCall = oneOf("type", [
  open({
    id: Type.String(),
    type: Type.Optional(Type.Literal("function")),
    function: open({
      name: Type.String(),
      arguments: Type.String({ description: "The arguments as JSON text." }),
    }),
  }),
  open({
    id: Type.String(),
    type: Type.Literal("custom"),
    custom: open({ name: Type.String(), input: Type.String() }),
  }),
]);

const Annotation = open({
  type: Type.String(),
  url_citation: Type.Optional(
    open({
      start_index: count({ description: "First character of the cited text, in UTF-16 units." }),
      end_index: count(),
      title: Type.String(),
      url: Type.String(),
    }),
  ),
});

const ReasoningDetail = open({
  type: Type.String({ description: "`reasoning.text` or `reasoning.encrypted`." }),
  text: Type.Optional(nullable(Type.String())),
  signature: Type.Optional(nullable(Type.String())),
  data: Type.Optional(nullable(Type.String())),
  format: Type.Optional(nullable(Type.String({ description: "The vendor that made the entry." }))),
  index: Type.Optional(nullable(count({ description: "The reasoning block that the entry belongs to." }))),
});

const Image = open({ image_url: open({ url: Type.String({ description: "A data URI." }) }) });

/** The members of a message and of a delta that have the same shape in both. */
const said = {
  content: Type.Optional(
    nullable(Type.Union([Type.String(), Type.Array(anything())]), {
      description: "weir writes text or null; Mistral answers with a list of parts when it reasons.",
    }),
  ),
  refusal: Type.Optional(nullable(Type.String())),
  reasoning_content: Type.Optional(nullable(Type.String({ description: "Reasoning as plain text." }))),
  reasoning_details: Type.Optional(
    nullable(Type.Array(ReasoningDetail, { description: "Signed and encrypted reasoning." })),
  ),
  annotations: Type.Optional(nullable(Type.Array(Annotation))),
  images: Type.Optional(
    nullable(
      Type.Array(Image, { description: "Images that the model generated, as OpenRouter writes them." }),
    ),
  ),
};

const Usage = open({
  prompt_tokens: count(),
  completion_tokens: count({ description: "Including reasoning." }),
  total_tokens: count(),
  prompt_tokens_details: Type.Optional(
    nullable(
      open({
        cached_tokens: Type.Optional(nullable(count())),
        cache_write_tokens: Type.Optional(nullable(count())),
        audio_tokens: Type.Optional(nullable(count())),
      }),
    ),
  ),
  completion_tokens_details: Type.Optional(
    nullable(
      open({
        reasoning_tokens: Type.Optional(nullable(count())),
        audio_tokens: Type.Optional(nullable(count())),
      }),
    ),
  ),
});

const finishReason = Type.String({
  description:
    "`stop`, `length`, `tool_calls`, `content_filter` or, after legacy `functions`, `function_call`.",
});

/** The members at the head of an answer and of each chunk. Copilot omits `object` and `created`, Azure leaves `object` empty. */
const head = (object: string) => ({
  id: Type.String(),
  object: Type.Optional(Type.String({ description: `weir writes \`${object}\`.` })),
  created: Type.Optional(Type.Integer({ description: "Seconds since 1970." })),
  model: Type.String({ description: "The model as the client named it." }),
});

export const ChatCompletionsAnswer = open(
  {
    ...head("chat.completion"),
    choices: Type.Array(
      open({
        index: count(),
        message: open({
          role: Type.Literal("assistant"),
          ...said,
          tool_calls: Type.Optional(nullable(Type.Array(AnswerCall))),
          function_call: Type.Optional(nullable(open({ name: Type.String(), arguments: Type.String() }))),
        }),
        logprobs: Type.Optional(nullable(anything())),
        finish_reason: finishReason,
        stop_reason: Type.Optional(
          nullable(Type.Union([Type.String(), Type.Integer()]), {
            description: "The stop sequence that matched.",
          }),
        ),
      }),
    ),
    usage: Type.Optional(nullable(Usage)),
  },
  { title: "ChatCompletionsAnswer" },
);

const CallFragment = open({
  index: Type.Optional(count({ description: "The call that the fragment belongs to." })),
  id: Type.Optional(nullable(Type.String())),
  type: Type.Optional(nullable(Type.String())),
  function: Type.Optional(
    open({
      name: Type.Optional(nullable(Type.String())),
      arguments: Type.Optional(nullable(Type.String())),
    }),
  ),
  custom: Type.Optional(
    open({
      name: Type.Optional(nullable(Type.String())),
      input: Type.Optional(nullable(Type.String())),
    }),
  ),
});

export const ChatCompletionsEvent = open(
  {
    ...head("chat.completion.chunk"),
    choices: Type.Array(
      open({
        index: count(),
        delta: open({
          role: Type.Optional(nullable(Type.String())),
          ...said,
          tool_calls: Type.Optional(nullable(Type.Array(CallFragment))),
          function_call: Type.Optional(
            nullable(open({ name: Type.Optional(Type.String()), arguments: Type.Optional(Type.String()) })),
          ),
        }),
        finish_reason: Type.Optional(nullable(finishReason)),
      }),
      { description: "Empty in the chunk with the usage." },
    ),
    usage: Type.Optional(
      nullable(Usage, { description: "Only with `stream_options.include_usage`, in the last chunk." }),
    ),
  },
  { title: "ChatCompletionsEvent", description: "One chunk. A complete stream ends with `data: [DONE]`." },
);

export const ChatCompletionsError = open(
  {
    error: open({
      message: Type.String(),
      type: Type.Optional(nullable(Type.String())),
      param: Type.Optional(
        nullable(Type.String({ description: "Path of the wrong member (`messages[0].content`)." })),
      ),
      code: Type.Optional(
        nullable(Type.Union([Type.String(), Type.Integer()]), {
          description: "See the responses; a provider may have codes of its own, also numbers.",
        }),
      ),
    }),
  },
  { title: "ChatCompletionsError" },
);
