/** A provider: a place that speaks formats. It is data; what a plugin file brings. */
import type { Call } from "./call.ts";
import type { ChatRequest } from "./chat.ts";
import type { ChatEvent } from "./events.ts";
import type { JsonObject } from "./json.ts";

export interface Provider {
  /** Lower-case, `[a-z][a-z0-9-]*`. Forces the provider in `name/model`; its environment variables start with it. */
  name: string;
  /**
   * Patterns over the model name. `groq/*` strips its prefix; any other glob (`gpt-*`) matches the whole name.
   * `name/*` holds for every provider without being listed.
   */
  models?: readonly string[];
  /**
   * Formats it speaks, in order of preference, each with the path behind `baseUrl`. Absent for providers that
   * `generate`.
   */
  speaks?: Readonly<Record<string, string>>;
  /** Where it is, when neither `<NAME>_BASE_URL` nor the config says. Absent: it is on only when one of them says. */
  baseUrl?: string;
  /**
   * A variable of the vendor's own tools that says where it is (`OLLAMA_HOST`): a URL or `host[:port]`. `port` and `path`
   * are what such a tool adds. `<NAME>_BASE_URL` wins over it.
   */
  host?: Readonly<{ variable: string; port: number; path: string }>;
  /** The environment variable of its credential. Absent: none is needed (local servers), `<NAME>_API_KEY` is optional. */
  apiKey?: string;
  /** How the credential is sent. Default `bearer`; `x-api-key` is Anthropic's; or a function of the key. */
  auth?: "bearer" | "x-api-key" | ((apiKey: string) => Record<string, string>);
  /** Headers every request to it carries; defaults, which a forwarded header of the client overrides. */
  headers?: Readonly<Record<string, string>>;
  /** What its dialect can and cannot do; read by upstream codecs. */
  traits?: Traits;
  /** Members that every body of a format is sent with or without, by format id. Applied before `patch`. */
  envelope?: Readonly<Record<string, Envelope>>;
  /**
   * Edits the upstream body in place for what only this host does differently. It runs after encoding; in the native
   * lane it edits the client's own body, of which only the top-level members it changes are written again. What it
   * removes it reports with `call.lose`.
   */
  patch?(body: JsonObject, call: Call): void;
  /** The third size of plugin: a program that answers by itself. Aborts with `call.signal`. */
  generate?(request: ChatRequest, call: Call): AsyncIterable<ChatEvent>;
  /**
   * Its hosts are asked for their models (`GET …/models` behind `baseUrl`), which are then listed and served under their
   * bare names, behind every pattern. Default false.
   */
  liveModels?: boolean;
  /** Model names to list at `GET /v1/models`, as a client would write them without the provider's prefix. */
  catalog?: readonly string[];
}

/** Top-level members of a body that depend on the host and not on the request. */
export interface Envelope {
  /** Members that are removed. */
  without?: readonly string[];
  /** Members that are added or replaced. @param stream whether the client asked for a stream */
  with?(call: Call, stream: boolean): Readonly<JsonObject>;
}

/**
 * How one host deviates from the format it claims to speak. Absent members mean the default.
 */
export interface Traits {
  /**
   * Name of the output limit at the vendor's own address. Default `max_completion_tokens` for the models of OpenAI's that
   * refuse `max_tokens`, and `max_tokens` for all others; which also holds wherever the address is another's.
   */
  maxTokensField?: MaxTokensField;
  /** `first-only`: system messages after the first position become user text. Default `anywhere`. */
  systemPlacement?: "anywhere" | "first-only";
  /** Takes `tool_choice: "required"` and named tools. Default true. */
  forcedToolChoice?: boolean;
  /** How answers can be bound to a JSON schema. Default `native`. */
  jsonSchema?: "native" | "json-object" | "prompt";
  /** Whether reasoning of earlier turns must, may or must not be sent back. Default `forbidden`. */
  reasoningReplay?: "required" | "optional" | "forbidden";
  /** Takes `reasoning_effort`. Default true. */
  reasoningEffort?: boolean;
  /**
   * Takes `stream_options.include_usage`. Default true: weir asks every stream for its token counts, in the native lane
   * also for a client that did not ask. False: weir never sends the member on its own.
   */
  streamOptions?: boolean;
  /** Takes `parallel_tool_calls`. Default true. */
  parallelToolCalls?: boolean;
  /** Takes image parts inside tool messages. Default false. */
  imageInToolMessage?: boolean;
  /** Writes its reasoning between `<think>` tags at the head of the text. Default false. */
  thinkTags?: boolean;
  /** Takes images at all. Default true. */
  images?: boolean;
  /** Takes `file` parts (PDF). Default false; true for OpenAI. */
  files?: boolean;
  /**
   * How it takes a document by its address: as a `document_url` part (Mistral), or as a `file` part whose `file_data` is the
   * address (OpenRouter). Default: not at all.
   */
  documentUrl?: "document_url" | "file_data";
  /** Most stop sequences it takes. Default 4. */
  maxStop?: number;
  /** Tool call ids: `mistral` means exactly nine letters or digits. */
  toolIds?: "mistral";
  /** Takes `top_k`. Default false. */
  topK?: boolean;
  /** A stream that ends without a terminator and without a finish reason is complete. Default false. */
  eofIsStop?: boolean;
  /** Member that carries the end user's id. Default `user`. */
  userField?: "user" | "safety_identifier";
  /** Takes `prompt_cache_key`. Default false. */
  promptCacheKey?: boolean;
  /** Takes `strict` in tool declarations. Default true. */
  strictTools?: boolean;
  /** Takes a top-level `cache_control` (messages), which caches as much as it can. Default false: blocks are marked. */
  topLevelCacheControl?: boolean;
  /**
   * Takes `thinking.block_binding` (messages); the provider's headers must name its beta. Default false. With it, reasoning
   * that was made in front of another transcript is dropped by the model's host instead of refused.
   */
  blockBinding?: boolean;
  /** Has `/v1/messages/count_tokens` beside its messages path. Default false. */
  countTokens?: boolean;
}

/** The two names of the output limit in chat-completions. */
export type MaxTokensField = "max_tokens" | "max_completion_tokens";

/** Where a call goes: what a model name resolved to. */
export interface Target {
  provider: ActiveProvider;
  /** The place of the provider that is called. */
  deployment: Deployment;
  /** The model name the upstream knows. */
  model: string;
  /** `native`: client and upstream speak the same format; `translated`: not; `generated`: a program answers. */
  lane: "native" | "translated" | "generated";
  /** Id of the format spoken to the upstream; empty in the generated lane. */
  format: string;
  /** Absolute URL of the upstream endpoint; empty in the generated lane. */
  url: string;
  /** The pattern that won, and why, for `weir models` and `weir explain`. */
  reason: string;
  /** The embedded mock stands in for a provider that is not configured. */
  substitute?: boolean;
}

/** A provider that is switched on: where it can be called is known. */
export interface ActiveProvider extends Provider {
  /** At least one. */
  deployments: readonly Deployment[];
  /** Where it came from: `built-in`, or the path of a dropped file. */
  source: string;
  patterns: readonly string[];
}

/** One place a provider can be called at: an address with a credential. */
export interface Deployment {
  /** The provider's name, or `provider/name` where the config lists several. */
  name: string;
  /** Absolute http(s) URL without a trailing slash; empty for providers that `generate`. */
  baseUrl: string;
  /** Headers that carry the credential, bound to the origin of `baseUrl`. */
  credentials: Readonly<Record<string, string>>;
  /** Its share of the calls among deployments of the same priority. */
  weight: number;
  /** Lower ones are used first; the others when those have failed. */
  priority: number;
  /** Most calls in flight there at once, in one process; any number without it. */
  concurrency?: number;
  /** Where they differ from the gateway's. */
  timeouts?: Readonly<UpstreamTimeouts>;
  /** Another host stands in the place of the vendor's own, so that what holds for the vendor may not hold here. */
  elsewhere?: boolean;
  /** Name of the output limit, where the config says it. */
  maxTokensField?: MaxTokensField;
  /** Certificates for its TLS connections. */
  tls?: TlsSettings;
}

/** PEM texts for TLS connections to an upstream. */
export interface TlsSettings {
  /** Authorities that may vouch for the upstream's certificate, instead of the runtime's own list. */
  readonly ca?: string;
  /** Client certificate, the chain included. */
  readonly cert?: string;
  /** Private key of `cert`. */
  readonly key?: string;
}

/** How long an upstream is waited for. Milliseconds. */
export interface UpstreamTimeouts {
  /** To connect, the TLS handshake included. */
  connectMs: number;
  /** From sending to the first event of the answer. */
  firstByteMs: number;
  /** Silence between two pieces of an answer. */
  gapMs: number;
  /** The whole call. */
  totalMs: number;
}
