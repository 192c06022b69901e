/** How a host deviates from its format, as the config says it: the traits that plugins declare, beside `maxTokensField`. */
import { type Static, type TSchema, Type } from "@sinclair/typebox";
import type { Traits } from "../../core/provider.ts";
import { CLOSED, oneOf } from "./kinds.ts";

/** The output limit has an option of its own, because it counts for all base URLs of a provider. */
type ConfigTraits = Omit<Traits, "maxTokensField">;

const flag = (description: string) => Type.Optional(Type.Boolean({ description }));

const members = {
  streaming: flag(
    "Streams its answers. Default true. False: weir asks for JSON, and writes the stream itself when the answer is there.",
  ),
  streamOptions: flag(
    "Accepts `stream_options.include_usage`. Default true. False: weir asks no stream for token counts, and drops the field.",
  ),
  jsonUsage: flag(
    "Counts the tokens of answers in JSON. Default true. False: weir asks for a stream with token counts, and writes the JSON itself.",
  ),
  outputLimit: flag("Keeps to the output limit of a request. Default true. False: weir drops the limit."),
  tools: flag(
    "Accepts tools. Default true. False: weir drops them, and writes calls and results of the conversation as text.",
  ),
  forcedToolChoice: flag(
    "Accepts `tool_choice: required` and a named tool. Default true. False: weir leaves the choice to the model.",
  ),
  namedToolChoice: flag(
    "Accepts a named tool in `tool_choice`. Default true. False: weir offers that tool alone, and requires a call.",
  ),
  parallelToolCalls: flag("Follows `parallel_tool_calls: false`. Default true. False: weir drops the field."),
  strictTools: flag("Follows `strict` in tools. Default true. False: weir drops it."),
  toolIds: Type.Optional(
    oneOf(["mistral"], {
      description: "Rule for ids of tool calls. `mistral`: exactly nine letters or digits.",
    }),
  ),
  imageInToolMessage: flag("Accepts images inside tool messages. Default false."),
  jsonSchema: Type.Optional(
    oneOf(["native", "openapi", "json-object", "prompt"], {
      description:
        "How the host can be made to follow a JSON schema: by itself (`native`, the default), by JSON mode with the schema in the prompt (`json-object`), or by the prompt alone (`prompt`). `openapi` is for Gemini's format.",
    }),
  ),
  jsonMode: flag(
    "Accepts `response_format: json_object`. Default true. False: weir asks for JSON in the prompt.",
  ),
  images: flag("Accepts images. Default true. False: weir replaces each by a short text."),
  files: flag("Accepts `file` parts (PDF). Default false."),
  documentUrl: Type.Optional(
    oneOf(["document_url", "file_data"], {
      description: "How the host takes the URL of a document. Default: not.",
    }),
  ),
  systemPlacement: Type.Optional(
    oneOf(["anywhere", "first-only"], {
      description:
        "Where system messages may stand. Default `anywhere`. `first-only`: weir turns later ones into user text.",
    }),
  ),
  developerRole: flag(
    "Accepts messages with the role `developer`. Default true. False: weir sends them with the role `system`.",
  ),
  reasoningEffort: flag("Accepts `reasoning_effort`. Default true. False: weir drops it."),
  reasoningReplay: Type.Optional(
    oneOf(["required", "optional", "forbidden"], {
      description:
        "Whether requests must, may or must not contain the reasoning of earlier turns. Default `forbidden`.",
    }),
  ),
  transcripts: Type.Optional(
    Type.Array(Type.String(), {
      minItems: 1,
      description:
        "Formats of transcripts that the host gives: `json`, `text`, `srt`, `vtt`, `verbose_json`, `diarized_json`. weir makes others of them where it can. Default: that of the plugin, or all.",
    }),
  ),
  completionPrompt: Type.Optional(
    Type.String({
      minLength: 1,
      description:
        "A system text with which models for conversations answer `POST /v1/completions`, such as `Continue the text. Write nothing else.` Default: they are not asked for completions. Each thing that is lost is in `x-weir-warnings`.",
    }),
  ),
  thinkTags: flag("Sends reasoning between `<think>` tags at the beginning of the text. Default false."),
  hidesReasoning: flag("The provider charges for reasoning that its answers do not contain. Default false."),
  maxStop: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 1000,
      description:
        "Maximum number of stop sequences. Default 4. At further ones weir ends the answer itself.",
    }),
  ),
  n: flag("Accepts `n` above 1. Default true. False: weir drops it, and the answer has one choice."),
  logprobs: flag("Accepts `logprobs` and `top_logprobs`. Default true. False: weir drops both."),
  topK: flag("Accepts `top_k`. Default false."),
  promptCacheKey: flag("Accepts `prompt_cache_key`. Default false."),
  userField: Type.Optional(
    oneOf(["user", "safety_identifier"], { description: "Member with the end user's id. Default `user`." }),
  ),
  eofIsStop: flag(
    "A stream that ends without a terminator and without a finish reason counts as complete. Default false.",
  ),
  storesAnswers: flag("Stores its answers (responses), so that clients can continue them by id."),
  compacts: flag(
    "Replaces a conversation by an item of its own, and reads such items (responses). Default: true at OpenAI and Azure. False: weir makes the summary.",
  ),
  rotatingIds: flag("Sends another id with each event (responses). Default false."),
  customTools: flag("Accepts tools with free-form input and namespaces of tools (responses). Default true."),
  countTokens: flag("Counts tokens beside its path for answers (messages, gemini). Default false."),
  topLevelCacheControl: flag("Accepts a top-level `cache_control` (messages). Default false."),
  blockBinding: flag("Accepts `thinking.block_binding` (messages). Default false."),
  callIds: Type.Optional(
    oneOf(["always", "echo"], {
      description: "Which ids of calls the host takes back (gemini). Default `always`.",
    }),
  ),
  fileUrls: flag("Fetches media from public URLs and from Cloud Storage (gemini). Default false."),
  textBesideMedia: flag("Refuses a message with images and no text (gemini). Default false."),
  serviceTiers: flag(
    "Accepts `serviceTier` (gemini, default true), or `service_tier` flex and priority (chat-completions, responses; default: models of OpenAI).",
  ),
  safety: Type.Optional(
    oneOf(["default", "off"], {
      description: "`off`: weir asks for no safety filters unless the client sets them (gemini).",
    }),
  ),
} satisfies Record<keyof ConfigTraits, TSchema>;

/** Capabilities of a host. */
export const traitsSchema = Type.Object(members, {
  ...CLOSED,
  description:
    "What the host can and cannot do, for all its models; `weir probe HOST` finds it out. weir works around what is missing, or reports what is lost, also for clients of the host's own format.",
});

/** The same for some models. */
export const modelTraitsSchema = Type.Array(
  Type.Object(
    {
      models: Type.Array(Type.String(), {
        minItems: 1,
        "x-expects": "a list of at least one model",
        description: "Models, or patterns over them, by the provider's names.",
      }),
      traits: traitsSchema,
    },
    CLOSED,
  ),
  { description: "What the host can and cannot do for some models; it precedes `traits`." },
);

/** The members as the config has them. */
export type ConfiguredTraits = Static<typeof traitsSchema>;
