/**
 * The schema of a chat-completions request, used for validation, error messages and the OpenAPI document. It covers the
 * fields whose shape weir relies on and allows unknown members at every level, because new vendor fields, content parts
 * and tool types must pass.
 */
import type { TProperties, TSchema } from "@sinclair/typebox";
import { Type } from "@sinclair/typebox";

const OPEN = { additionalProperties: true };

/** An optional field. `null` counts as absent, because users of the SDK send it. */
function optional(schema: TSchema) {
  return Type.Optional(Type.Union([schema, Type.Null()]));
}

function open(properties: TProperties, options: object = {}) {
  return Type.Object(properties, { ...OPEN, ...options });
}

/** Alternatives, distinguished by a string member; an alternative whose member is a pattern takes all other values. */
function oneOf(propertyName: string, variants: TSchema[], options: object = {}) {
  return Type.Union(variants, { discriminator: { propertyName }, ...options });
}

const anything = (options: object = {}) => open({}, options);

const TextPart = open({ type: Type.Literal("text"), text: Type.String() });
const OtherPart = open({ type: Type.String({ pattern: "^(?!text$)" }) });

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
    },
    { description: "Needs `content` unless it has `tool_calls`, `function_call`, `refusal` or `audio`." },
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
const OtherTool = open({ type: Type.String({ pattern: "^(?!function$)" }) });

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
