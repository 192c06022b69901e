/**
 * The schemas of answers, events and errors, for the OpenAPI document. They describe what weir writes; those of a provider that
 * speaks this format reach the client as the provider wrote them.
 */
import { Type } from "@sinclair/typebox";
import { anything, count, nullable, oneOf, open } from "../shared/schema.ts";

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
