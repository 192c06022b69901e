/**
 * The schema of a request, for validation, error messages and the OpenAPI document. It covers the fields whose shape weir relies
 * on, and has the names of the others.
 */
import { Type } from "@sinclair/typebox";
import { anything, oneOf, open, optional, otherThan, validatorCode } from "../shared/schema.ts";
import {
  CACHED,
  DETAIL,
  DISPLAYED,
  FIGURES,
  IN_ANSWER,
  KIND,
  NAMED,
  STOPPED,
  STORED,
  STREAMED,
  STRICT,
} from "../shared/silent.ts";
import { lost, named, names, silent } from "../shared/vocabulary.ts";

const MARKS = { cache_control: CACHED, prompt_cache_breakpoint: CACHED };

const Url = names("url");
const ImageUrl = names({ read: "url", silent: { detail: DETAIL } });

const TextPart = open({ type: Type.Literal("text"), text: Type.String() });
const OtherPart = open({ type: otherThan("text") });

const Part = named(oneOf("type", [TextPart, OtherPart]), {
  types: "text image_url input_audio file document_url file_url refusal",
  read: "refusal document_name file_name thinking signature",
  inner: {
    image_url: ImageUrl,
    video_url: Url,
    document_url: Url,
    file_url: Url,
    input_audio: names("data format"),
    file: names("file_id filename file_data"),
  },
  silent: { ...MARKS, annotations: IN_ANSWER },
});

const Content = Type.Union([Type.String(), Type.Array(Part)], {
  description: "Text, or a list of content parts.",
});

const NamedCall = named(open({ name: Type.String() }), "arguments");

const ToolCall = named(
  open({
    id: optional(Type.String()),
    type: silent(KIND, Type.String()),
    function: optional(NamedCall),
    custom: optional(named(open({ name: Type.String() }), "input")),
  }),
  {
    inner: { extra_content: names({ inner: { google: names("thought_signature") } }) },
    silent: { ...MARKS, index: IN_ANSWER },
  },
);

const Image = names({ inner: { image_url: ImageUrl }, silent: { type: KIND, index: IN_ANSWER } });

/** An entry of OpenRouter's or LiteLLM's. */
const Reasoning = names({
  read: "type text summary thinking data format signature",
  silent: { id: IN_ANSWER, index: IN_ANSWER },
});

const instruction = (role: string) =>
  open({ role: Type.Literal(role), content: Content, name: optional(Type.String()) });

/** An assistant message with one of these members needs no content. */
export const INSTEAD_OF_CONTENT = ["tool_calls", "function_call", "refusal", "audio", "images"];

const Roles = [
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
      function_call: optional(NamedCall),
      images: optional(Type.Array(Image, { description: "Images of an earlier answer." })),
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
];

const Message = named(oneOf("role", Roles), {
  read: "is_error reasoning reasoning_content",
  inner: { reasoning_details: Reasoning, thinking_blocks: Reasoning, audio: names("id") },
  silent: {
    ...MARKS,
    annotations: IN_ANSWER,
    prefix: "a last message of the assistant is continued or reported with or without it",
  },
});

/** Clients of Mistral omit `type`. */
const FunctionTool = open({
  type: optional(Type.Literal("function")),
  function: named(
    open({
      name: Type.String({ minLength: 1 }),
      description: optional(Type.String()),
      parameters: optional(anything({ description: "JSON schema of the arguments." })),
      strict: optional(Type.Boolean()),
    }),
    { passed: true },
  ),
});
const OtherTool = open({ type: otherThan("function") });

const GRAMMAR = "definition syntax";

const CustomTool = names({
  read: "name description",
  inner: {
    format: names({ read: GRAMMAR, inner: { grammar: names(GRAMMAR) }, silent: { type: KIND } }),
  },
});

const Tool = named(oneOf("type", [FunctionTool, OtherTool]), {
  types: "function custom",
  inner: { custom: CustomTool },
  silent: { ...MARKS, name: "Codex repeats the name of the function beside it" },
});

const Named = names("name");

const Chosen = { read: "name", inner: { function: Named, custom: Named }, silent: { type: KIND } };

const ToolChoice = names({
  ...Chosen,
  inner: { ...Chosen.inner, allowed_tools: names({ read: "mode", inner: { tools: names(Chosen) } }) },
});

const texts = Type.Array(Type.String());
const tokens = Type.Integer({
  minimum: 1,
  description: "Maximum number of tokens to generate; the limit depends on the model.",
});
const penalty = Type.Number({ minimum: -2, maximum: 2 });

const AnswerSchema = names({ read: "description schema", silent: { name: NAMED, strict: STRICT } });

const checked = open(
  {
    model: Type.String({ minLength: 1, description: "Model identifier, at most 256 bytes of UTF-8." }),
    messages: Type.Array(Message, { minItems: 1, description: "The conversation in chronological order." }),
    stream: silent(
      STREAMED,
      Type.Boolean({ description: "`true` streams the answer as server-sent events." }),
    ),
    stream_options: optional(
      named(open({ include_usage: silent(STREAMED, Type.Boolean()) }), {
        silent: { include_obfuscation: STREAMED },
      }),
    ),
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
    stop: silent(STOPPED, Type.Union([Type.String(), texts], { description: "Stop sequences." })),
    frequency_penalty: optional(penalty),
    presence_penalty: optional(penalty),
    logit_bias: optional(anything()),
    logprobs: optional(Type.Boolean()),
    top_logprobs: optional(Type.Integer({ minimum: 0, maximum: 20 })),
    seed: optional(Type.Integer()),
    tools: optional(Type.Array(Tool)),
    tool_choice: optional(Type.Union([Type.String(), ToolChoice])),
    parallel_tool_calls: optional(Type.Boolean()),
    functions: optional(
      Type.Array(
        named(open({ name: Type.String({ minLength: 1 }) }), {
          read: "description parameters strict",
          passed: true,
        }),
      ),
    ),
    function_call: optional(Type.Union([Type.String(), Named])),
    response_format: optional(named(open({ type: Type.String() }), { inner: { json_schema: AnswerSchema } })),
    reasoning_effort: optional(Type.String()),
    user: silent(
      "beside `safety_identifier`, which takes its place; alone, it is carried or reported",
      Type.String(),
    ),
    safety_identifier: optional(Type.String()),
    prompt_cache_key: silent(CACHED, Type.String()),
    service_tier: optional(Type.String()),
    metadata: lost(anything()),
  },
  { title: "ChatCompletionsRequest" },
);

export const ChatCompletionsRequest = named(checked, {
  read: "top_k seed random_seed enable_thinking modalities verbosity moderation",
  inner: {
    audio: names("voice format"),
    reasoning: names({
      read: "effort max_tokens enabled summary",
      passed: true,
      silent: { exclude: DISPLAYED },
    }),
    thinking: names({ read: "type budget_tokens", passed: true, silent: { display: DISPLAYED } }),
    web_search_options: names("search_context_size user_location"),
  },
  passed: true,
  lost: "min_p",
  silent: {
    cache_control: CACHED,
    prompt_cache_options: CACHED,
    prompt_cache_retention: CACHED,
    prediction: "it makes the same answer come sooner",
    store: STORED,
    usage: FIGURES,
  },
});

/** The validator of requests, as JavaScript. The bundler calls it as a macro and puts its result into the binary. */
export function requestValidatorCode(): string {
  return validatorCode(ChatCompletionsRequest);
}
