/** The schemas of requests and answers of text completions. */
import { Type } from "@sinclair/typebox";
import { anything, count, nullable, open, optional, validatorCode } from "../../formats/shared/schema.ts";
import { named, silent } from "../../formats/shared/vocabulary.ts";

const tokens = Type.Array(Type.Integer({ minimum: 0 }));

const stop = optional(Type.Union([Type.String(), Type.Array(Type.String())]));

const sampling = {
  max_tokens: optional(Type.Integer({ minimum: 0 })),
  temperature: optional(Type.Number()),
  top_p: optional(Type.Number()),
  stop,
  stream: optional(Type.Boolean()),
};

export const CompletionsRequest = named(
  open({
    model: Type.String({ minLength: 1 }),
    prompt: nullable(Type.Union([Type.String(), Type.Array(Type.String()), tokens, Type.Array(tokens)]), {
      description: "A text, token ids, or a list of them. Null: the model begins a text.",
    }),
    suffix: optional(Type.String({ description: "The text behind the completion." })),
    ...sampling,
    stream_options: optional(anything()),
    n: optional(Type.Integer({ minimum: 1 })),
    best_of: optional(Type.Integer({ minimum: 1 })),
    echo: optional(Type.Boolean()),
    logprobs: optional(Type.Union([Type.Integer({ minimum: 0 }), Type.Boolean()])),
    logit_bias: optional(anything()),
    seed: optional(Type.Integer()),
    frequency_penalty: optional(Type.Number()),
    presence_penalty: optional(Type.Number()),
    user: optional(Type.String()),
  }),
  {},
);

export const FimRequest = named(
  open({
    model: Type.String({ minLength: 1 }),
    prompt: Type.String({ description: "The text in front of the completion." }),
    suffix: optional(Type.String({ description: "The text behind the completion." })),
    ...sampling,
    min_tokens: optional(Type.Integer({ minimum: 0 })),
    random_seed: optional(Type.Integer()),
    metadata: silent("it labels the request and cannot change the answer", anything()),
    prompt_cache_key: silent("the answer is the same with and without the cache", Type.String()),
  }),
  {},
);

const usage = open({ prompt_tokens: count(), completion_tokens: count(), total_tokens: count() });
const head = { id: Type.String(), created: Type.Integer(), model: Type.String() };
const finish = nullable(Type.String({ description: "`stop`, `length` or `content_filter`." }));

export const CompletionsAnswer = open({
  ...head,
  object: Type.Literal("text_completion"),
  choices: Type.Array(
    open({
      text: Type.String(),
      index: Type.Integer(),
      logprobs: Type.Optional(nullable(anything())),
      finish_reason: finish,
    }),
  ),
  usage: Type.Optional(nullable(usage)),
});

const said = open({ role: Type.Optional(Type.String()), content: Type.Optional(nullable(Type.String())) });

export const FimAnswer = open({
  ...head,
  object: Type.Literal("chat.completion"),
  choices: Type.Array(open({ index: Type.Integer(), message: said, finish_reason: finish })),
  usage,
});

export const FimEvent = open({
  ...head,
  object: Type.Literal("chat.completion.chunk"),
  choices: Type.Array(open({ index: Type.Integer(), delta: said, finish_reason: finish })),
  usage: Type.Optional(nullable(usage)),
});

export const CompletionsError = open({
  error: open({
    message: Type.String(),
    type: Type.String(),
    param: nullable(Type.String()),
    code: nullable(Type.String()),
  }),
});

/** The validators of requests, as JavaScript. The bundler calls them as macros and puts their results into the binary. */
export function completionsValidatorCode(): string {
  return validatorCode(CompletionsRequest);
}

export function fimValidatorCode(): string {
  return validatorCode(FimRequest);
}
