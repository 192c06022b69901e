/** How hosts deviate from their format: what a plugin or the config says of them, and upstream codecs read. */

/** Deviations that hold for some models only. */
export interface ModelTraits {
  /** Globs over the provider's names of the models. */
  models: readonly string[];
  traits: Traits;
}

/** How a host deviates from its format. An absent member means the default. */
export interface Traits {
  /**
   * Name of the output limit at the vendor's own base URL. Default: `max_completion_tokens` for the OpenAI models that refuse
   * `max_tokens`, else `max_tokens`. Other base URLs always use the default.
   */
  maxTokensField?: MaxTokensField;
  /**
   * A system text with which models for conversations continue a text (`POST /v1/completions`). Default: they are not asked for
   * completions. What a completion has besides a prompt is lost, and reported.
   */
  completionPrompt?: string;
  /** Formats of transcripts that the host gives. Default: all. weir makes others of them where it can. */
  transcripts?: readonly string[];
  /** `first-only`: weir turns system messages after the first position into user text. Default `anywhere`. */
  systemPlacement?: "anywhere" | "first-only";
  /** Accepts `tool_choice: "required"` and named tools. Default true. */
  forcedToolChoice?: boolean;
  /**
   * How the host can be made to follow a JSON schema. Default `native`. `openapi` (gemini): it takes schemas of tools and answers
   * only in the older members `parameters` and `responseSchema`.
   */
  jsonSchema?: "native" | "openapi" | "json-object" | "prompt";
  /** Whether requests must, may or must not contain the reasoning of earlier turns. Default `forbidden`. */
  reasoningReplay?: "required" | "optional" | "forbidden";
  /** Accepts `reasoning_effort`. Default true. */
  reasoningEffort?: boolean;
  /**
   * Accepts `stream_options.include_usage`. Default true: weir requests token counts for every stream, also in the native
   * lane for a client that did not. False: weir never adds the member.
   */
  streamOptions?: boolean;
  /** The provider charges for reasoning that its answers do not contain. Default false. */
  hidesReasoning?: boolean;
  /** Accepts `parallel_tool_calls`. Default true. */
  parallelToolCalls?: boolean;
  /** Accepts image parts inside tool messages. Default false. */
  imageInToolMessage?: boolean;
  /** Sends reasoning between `<think>` tags at the beginning of the text. Default false. */
  thinkTags?: boolean;
  /** Accepts images. Default true. */
  images?: boolean;
  /** Accepts `file` parts (PDF). Default false; true for OpenAI. */
  files?: boolean;
  /**
   * How the host accepts a document URL: as a `document_url` part (Mistral), or as a `file` part whose `file_data` is the URL
   * (OpenRouter). Default: not at all.
   */
  documentUrl?: "document_url" | "file_data";
  /** Maximum number of stop sequences. Default 4: weir ends the answer itself at further ones. */
  maxStop?: number;
  /** Accepts tools. Default true. False: weir drops them, and writes calls and results of the conversation as text. */
  tools?: boolean;
  /** Accepts a named tool in `tool_choice`. Default true. False: weir offers that tool alone, and requires a call. */
  namedToolChoice?: boolean;
  /** Accepts `response_format: json_object`. Default true. False: weir asks for JSON in the prompt. */
  jsonMode?: boolean;
  /** Accepts messages with the role `developer`. Default true. False: weir sends them with the role `system`. */
  developerRole?: boolean;
  /** Streams its answers. Default true. False: weir asks for JSON, and writes the stream itself when the answer is there. */
  streaming?: boolean;
  /**
   * Counts the tokens of answers in JSON. Default true. False: weir asks for a stream with token counts, and writes the JSON
   * itself.
   */
  jsonUsage?: boolean;
  /** Keeps to the output limit of a request. Default true. False: weir drops the limit. */
  outputLimit?: boolean;
  /** Accepts `n` above 1. Default true. False: weir drops it, and the answer has one choice. */
  n?: boolean;
  /** Accepts `logprobs` and `top_logprobs`. Default true. False: weir drops both. */
  logprobs?: boolean;
  /** Rule for tool-call ids. `mistral`: exactly nine letters or digits. */
  toolIds?: "mistral";
  /** Accepts `top_k`. Default false. */
  topK?: boolean;
  /** A stream that ends without a terminator and without a finish reason counts as complete. Default false. */
  eofIsStop?: boolean;
  /** Member with the end user's id. Default `user`. */
  userField?: "user" | "safety_identifier";
  /** Accepts `prompt_cache_key`. Default false. */
  promptCacheKey?: boolean;
  /** Accepts `strict` in tool declarations. Default true. */
  strictTools?: boolean;
  /** Accepts a top-level `cache_control` (messages), which caches as much as possible. Default false: weir marks blocks. */
  topLevelCacheControl?: boolean;
  /**
   * Accepts `thinking.block_binding` (messages); the provider's headers must name its beta. Default false. With it, the host
   * drops reasoning that belongs to another transcript instead of refusing the request.
   */
  blockBinding?: boolean;
  /**
   * Stores its answers (responses), so that clients can continue them by id. Default: true at the vendor's own base URL of a
   * provider that says so and where the config says so, otherwise false: then weir stores them.
   */
  storesAnswers?: boolean;
  /**
   * Replaces a conversation by an item of its own, and reads such items (responses). Default: true at the vendor's own base
   * URL of a provider that says so and where the config says so, otherwise false: then weir makes the summary.
   */
  compacts?: boolean;
  /** Sends another id with each event (responses): weir decodes its streams and writes them with stable ids. Default false. */
  rotatingIds?: boolean;
  /**
   * Accepts tools with free-form input and namespaces of tools (responses). Default true. False: weir translates a request
   * with such tools, also for a client of the format.
   */
  customTools?: boolean;
  /** Serves `/v1/messages/count_tokens` beside its messages path. Default false. */
  countTokens?: boolean;
  /** Which ids of calls the host takes back (gemini). Default `always`; `echo`: only those that it gave itself. */
  callIds?: "always" | "echo";
  /** Fetches media from public URLs and from Cloud Storage (gemini). Default false. */
  fileUrls?: boolean;
  /** Refuses a message with images and no text (gemini). Default false: weir adds no text. */
  textBesideMedia?: boolean;
  /**
   * Accepts `serviceTier` (gemini, default true), or `service_tier` flex and priority (chat-completions, responses; default:
   * models of OpenAI).
   */
  serviceTiers?: boolean;
  /** `off`: weir asks for no safety filters unless the client sets them (gemini). Default: the provider's own filters. */
  safety?: "default" | "off";
}

/** The two names of the output limit in chat-completions. */
export type MaxTokensField = "max_tokens" | "max_completion_tokens";
