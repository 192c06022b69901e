/**
 * The schemas of Ollama's API (https://docs.ollama.com/api). Those of the requests are used for validation, error messages and
 * the OpenAPI document, the others for the document. The requests cover the fields whose shape weir relies on, and have the names
 * of the others.
 */
import { Type } from "@sinclair/typebox";
import { anything, count, open, optional, validatorCode } from "../shared/schema.ts";
import { IN_ANSWER, KIND, MACHINE, MATCHED, STOPPED, STREAMED } from "../shared/silent.ts";
import { named, names, silent } from "../shared/vocabulary.ts";

const LONG = "a provider refuses a prompt that does not fit, where Ollama would cut off its beginning";

const each = (reason: string, all: string) =>
  Object.fromEntries(all.split(" ").map((name) => [name, reason]));

const words = (all: readonly string[]) => Type.Union(all.map((word) => Type.Literal(word)));

const Images = Type.Array(Type.String({ description: "Base64 of an image." }));

/** `arguments` hold words of the client's tools. */
const NamedCall = open({
  name: Type.String({ minLength: 1 }),
  arguments: optional(Type.Union([anything(), Type.String()])),
});

const ToolCall = named(
  open({ id: optional(Type.String()), function: named(NamedCall, { silent: { index: IN_ANSWER } }) }),
  { silent: { type: KIND } },
);

const checkedMessage = open({
  role: words(["system", "user", "assistant", "tool"]),
  content: optional(Type.String()),
  thinking: optional(Type.String()),
  images: optional(Images),
  tool_calls: optional(Type.Array(ToolCall)),
  tool_name: silent(
    MATCHED,
    Type.String({ description: "Of a message `tool`: the function that was called." }),
  ),
  tool_call_id: silent(MATCHED, Type.String()),
});

const Message = named(checkedMessage, { silent: { name: MATCHED } });

const Tool = open({
  type: silent(KIND, Type.String()),
  function: open({
    name: Type.String({ minLength: 1 }),
    description: optional(Type.String()),
    parameters: optional(anything({ description: "JSON schema of the arguments." })),
  }),
});

const checkedOptions = open({
  temperature: optional(Type.Number({ minimum: 0, maximum: 2 })),
  top_p: optional(Type.Number({ minimum: 0, maximum: 1 })),
  top_k: optional(Type.Integer()),
  num_predict: optional(
    Type.Integer({
      description: "Maximum number of tokens to generate, including reasoning; below 1: no limit.",
    }),
  ),
  stop: silent(STOPPED, Type.Union([Type.String(), Type.Array(Type.String())])),
  seed: optional(Type.Integer()),
  presence_penalty: optional(Type.Number({ minimum: -2, maximum: 2 })),
  frequency_penalty: optional(Type.Number({ minimum: -2, maximum: 2 })),
});

const Options = named(checkedOptions, {
  read: `min_p typical_p tfs_z repeat_penalty repeat_last_n mirostat mirostat_tau mirostat_eta penalize_newline`,
  silent: {
    ...each(LONG, "num_ctx num_keep"),
    ...each(
      MACHINE,
      "num_batch num_gpu main_gpu num_thread numa low_vram f16_kv vocab_only use_mmap use_mlock",
    ),
  },
});

/** The members that both requests have. */
const common = {
  model: Type.String({ minLength: 1 }),
  stream: silent(STREAMED, Type.Boolean({ default: true })),
  format: optional(
    Type.Union([Type.String(), anything()], { description: "`json`, or the JSON schema of the answer." }),
  ),
  options: optional(Options),
  think: optional(
    Type.Union([Type.Boolean(), Type.String()], {
      description: "Whether to reason, or how much: `low`, `medium`, `high`, `max`.",
    }),
  ),
  keep_alive: silent(
    MACHINE,
    Type.Union([Type.String(), Type.Number()], {
      description: "Of no effect, but 0 in a request without content is answered with `done_reason: unload`.",
    }),
  ),
  logprobs: optional(Type.Boolean()),
  top_logprobs: optional(Type.Integer({ minimum: 0 })),
};

const UNREAD = { silent: each(LONG, "truncate shift") };

const chat = open(
  {
    ...common,
    messages: optional(
      Type.Array(Message, { description: "Absent or empty: weir answers at once that the model is loaded." }),
    ),
    tools: optional(Type.Array(Tool)),
  },
  { title: "OllamaRequest" },
);

export const OllamaRequest = named(chat, UNREAD);

const generate = open(
  {
    ...common,
    prompt: optional(
      Type.String({ description: "Absent or empty: weir answers at once that the model is loaded." }),
    ),
    system: optional(Type.String()),
    images: optional(Images),
    suffix: optional(Type.String()),
    template: optional(Type.String()),
    context: optional(Type.Array(Type.Number())),
    raw: optional(Type.Boolean()),
  },
  { title: "OllamaGenerateRequest" },
);

export const OllamaGenerateRequest = named(generate, { read: "width height steps", ...UNREAD });

/** The validator of requests, as JavaScript. The bundler calls it as a macro and puts its result into the binary. */
export function requestValidatorCode(): string {
  return validatorCode(OllamaRequest);
}

/** The same for requests with one prompt. */
export function generateValidatorCode(): string {
  return validatorCode(OllamaGenerateRequest);
}

/** Requests that want an answer of a model. */
export const WithMessages = open({ messages: Type.Array(anything(), { minItems: 1 }) });
export const WithPrompt = open({ prompt: Type.String({ minLength: 1 }) });

/** Nanoseconds. */
const duration = (description: string) =>
  Type.Optional(count({ description: `Nanoseconds: ${description}` }));

/** The members of every record; those of the last one are optional. */
const record = {
  model: Type.String(),
  created_at: Type.String({ format: "date-time" }),
  done: Type.Boolean({ description: "`true` in the last record, and in no other." }),
  done_reason: Type.Optional(
    Type.String({ description: "`stop`, `length`, `content_filter`, `load` or `unload`." }),
  ),
  total_duration: duration("from the arrival of the request to the end of the answer."),
  load_duration: duration("0, because weir loads no models."),
  prompt_eval_duration: duration("up to the first text of a stream; absent in an answer that is no stream."),
  eval_duration: duration("from there to the end; of an answer that is no stream, all of it."),
  prompt_eval_count: Type.Optional(count({ description: "Input tokens, with those read from a cache." })),
  eval_count: Type.Optional(count({ description: "Output tokens, including reasoning." })),
};

const AnswerMessage = open({
  role: Type.Literal("assistant"),
  content: Type.String(),
  thinking: Type.Optional(Type.String()),
  images: Type.Optional(Images),
  tool_calls: Type.Optional(
    Type.Array(
      open({
        id: Type.String(),
        function: open({ index: count(), name: Type.String(), arguments: anything() }),
      }),
    ),
  ),
});

export const OllamaAnswer = open({ ...record, message: AnswerMessage }, { title: "OllamaAnswer" });

export const OllamaGenerateAnswer = open(
  {
    ...record,
    response: Type.String(),
    thinking: Type.Optional(Type.String()),
    image: Type.Optional(Type.String({ description: "Base64 of an image." })),
  },
  { title: "OllamaGenerateAnswer" },
);

export const OllamaError = open({ error: Type.String() }, { title: "OllamaError" });
