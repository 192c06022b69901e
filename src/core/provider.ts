/** A provider: a host or program that speaks formats. It is data; a plugin file exports it. */
import type { CallView } from "./call-view.ts";
import type { ChatRequest } from "./chat.ts";
import type { CredentialSet } from "./credential.ts";
import type { Does, ModelDoes } from "./does.ts";
import type { EmbedAnswer, EmbedEndpoint, EmbedRequest } from "./embed.ts";
import type { SpokenPath, Variable } from "./endpoint.ts";
import type { Refusable } from "./error.ts";
import type { ChatEvent } from "./events.ts";
import type { CircuitBreakerOptions } from "./failure-policy.ts";
import type { Framing } from "./frame.ts";
import type { JsonObject } from "./json.ts";
import type { Authorizer, OutgoingRequest, Place } from "./place.ts";
import type { MaxTokensField, ModelTraits, Traits } from "./traits.ts";

export type { MaxTokensField, ModelTraits, Traits } from "./traits.ts";

export interface Provider {
  /** Lower-case, `[a-z][a-z0-9-]*`. Clients select it with `name/model`; its environment variables begin with it. */
  name: string;
  /**
   * Patterns over model names. `groq/*` strips the prefix; any other glob (`gpt-*`) matches the whole name. `name/*` matches
   * for every provider and need not be listed.
   */
  models?: readonly string[];
  /**
   * Formats the provider speaks, in order of preference, each with its path relative to `baseUrl`. Absent for providers
   * that only embed, and for programs.
   */
  speaks?: Readonly<Record<string, SpokenPath>>;
  /** Where the provider embeds, by dialect: `{ embeddings: "/embeddings" }`. Absent: not at all. */
  embeds?: Readonly<Record<string, string | EmbedEndpoint>>;
  /**
   * What the provider does besides generating text and embedding it, by kind: a host has the endpoints by dialect
   * (`{ rerank: { "cohere-rerank": "/v2/rerank" } }`), a program a function.
   */
  does?: Does;
  /**
   * What some models do, where it is less than the provider does; the first entry that names a model counts. weir refuses such a
   * model other requests. A model that no entry names may do all that the provider does.
   */
  modelDoes?: readonly ModelDoes[];
  /**
   * Format of translated calls at the vendor's own base URL, if it is not the first of `speaks`. weir falls back to the others
   * if a host lacks its path.
   */
  prefers?: string;
  /** Values that the operator sets, such as a region, by name. */
  variables?: Readonly<Record<string, Variable>>;
  /**
   * Default base URL; `<NAME>_BASE_URL` and the config override it. It may contain variables (`https://{region}.example.com`),
   * or be a function of their values. Absent: the provider is off until one of the others is set.
   */
  baseUrl?: string | ((variables: Readonly<Record<string, string>>) => string);
  /**
   * An environment variable of the vendor's own tools with the provider's address (`OLLAMA_HOST`): a URL or `host[:port]`.
   * `port` and `path` are the defaults those tools add. `<NAME>_BASE_URL` overrides it.
   */
  host?: Readonly<{ variable: string; port: number; path: string }>;
  /** Each customer of the vendor has an address of their own, so that every address counts as the vendor's. Default false. */
  hostPerCustomer?: boolean;
  /**
   * Recognizes an address that operators paste by mistake, before weir uses it.
   * @param url as the operator wrote it, with its query
   * @param isHost it is the value of `host.variable`, to which weir adds `host.path`
   * @returns what is wrong and what to write instead, as the end of the sentence "the address of NAME …"; undefined if it is fine.
   * It must not repeat the query, which may contain a credential.
   */
  addressFault?(url: URL, isHost: boolean): string | undefined;
  /** Environment variable of the credential. Absent: no credential is required (local servers), `<NAME>_API_KEY` is optional. */
  apiKey?: string;
  /**
   * Alternative sets of credentials, each a list of environment variables or a source such as a file; the first complete set is
   * used. `secrets` of the provider in the config overrides the variables. Absent: `apiKey` alone. Without `authorize` a set has
   * one name, whose value is sent as the API key.
   */
  credentials?: readonly CredentialSet[];
  /** How the credential is sent. Default `bearer`; Anthropic uses `x-api-key`; a function returns the headers for a key. */
  auth?: "bearer" | "x-api-key" | ((apiKey: string) => Record<string, string>);
  /**
   * Returns the headers that authorize a request, such as a signature or a token. Called for every attempt with the final
   * request; the headers are set last. It replaces `auth`.
   */
  authorize?(
    request: OutgoingRequest,
    place: Place,
  ): Readonly<Record<string, string>> | Promise<Readonly<Record<string, string>>>;
  /** How streamed answers are cut into frames, by format id. Default: server-sent events. */
  framing?: Readonly<Record<string, Framing>>;
  /** Sentences that weir adds to errors of the host that its own words do not explain. The first that matches counts. */
  hints?: readonly ErrorHint[];
  /** Default headers of every request; a forwarded client header of the same name overrides them. */
  headers?: Readonly<Record<string, string>>;
  /** Deviations of its dialect, which upstream codecs read. */
  traits?: Traits;
  /** Deviations for some models; they precede `traits`. */
  modelTraits?: readonly ModelTraits[];
  /** How the host counts tokens, by format id, for clients of that format. Default: `traits.countTokens`. */
  counting?: Readonly<Record<string, TokenCounting>>;
  /** Lower-case name of the header with the host's id of a request. Default: `x-request-id`, then `request-id`. */
  requestIdHeader?: string;
  /**
   * Why a deployment cannot serve a model, as the end of the sentence "The model … ": `belongs to another region`; undefined if
   * it can. weir refuses such a model in the config at the start.
   */
  modelFault?(model: string, variables: Readonly<Record<string, string>>): string | undefined;
  /** Members to add to or remove from every body of a format, by format id. Applied before `patch`. */
  envelope?: Readonly<Record<string, Envelope>>;
  /**
   * Edits the body for the provider in place, for deviations of this host only. It runs after encoding. In the native lane it
   * edits the client's own body; weir rewrites only the top-level members that it changes. It must report what it removes
   * with `call.reportLoss`.
   */
  patch?(body: JsonObject, call: CallView): void;
  /** A program that generates the answer itself, without a host. `call.signal` aborts when the client disconnects. */
  generate?(request: ChatRequest, call: CallView): AsyncIterable<ChatEvent>;
  /** A program that embeds by itself, beside `generate` or without it: one vector for each of `request.inputs`, in order. */
  embed?(request: EmbedRequest, call: CallView): EmbedAnswer | Promise<EmbedAnswer>;
  /**
   * Whether weir asks the provider's hosts for their models (`GET …/models` relative to `baseUrl`). weir lists these models
   * and serves them by bare name; every pattern takes precedence over them. Default false.
   */
  liveModels?: boolean;
  /** Model names for `GET /v1/models`, without the provider's prefix. */
  catalog?: readonly string[];
}

/** The meaning of a host's error that its own words do not state. */
export interface ErrorHint {
  /** Matches the text of the error's body. */
  when: RegExp;
  /** A sentence: what the reader of the error can do. weir appends it to the message; errors in the client's own format pass unchanged. */
  say: string;
  /**
   * Only the operator of weir can correct it, such as a wrong address: the client gets a 502 with this sentence alone, and the
   * log has the host's own.
   */
  forOperator?: boolean;
}

/** Top-level members of a body that depend on the host, not on the request. */
export interface Envelope {
  /** Members to remove. weir reports those that a client of the same format sent, except `model` and `stream`. */
  without?: readonly string[];
  /** Members to add unless the body has them. */
  defaults?(call: CallView): Readonly<JsonObject>;
  /** Members to add or replace. @param stream whether the client requested a stream */
  with?(call: CallView, stream: boolean): Readonly<JsonObject>;
  /** Lower-case names of headers of the format that weir does not forward to the host. */
  withoutHeaders?: readonly string[];
  /**
   * Parts that `with` and `patch` leave out when `call.refused` contains it. If the host refuses it, weir makes the request anew and
   * sends it once more.
   */
  leavesOut?: readonly Refusable[];
}

/** How a host counts the tokens of a request, if not as the format does. */
export interface TokenCounting {
  /** Path behind `baseUrl`; it may contain `{model}` and variables. */
  path: string;
  /** The name of the model for the path. Default: the provider's name. */
  modelFor?(model: string): string;
  /** The request for the host. @param body the body that a request for an answer would have at this host */
  request(body: JsonObject, model: string): JsonObject;
  /** The number of tokens in the host's answer. */
  read(answer: JsonObject): number | undefined;
}

/** The provider, deployment and format that a model name resolved to. */
export interface Target {
  provider: ActiveProvider;
  /** The deployment that is called. */
  deployment: Deployment;
  /** The provider's name of the model. */
  model: string;
  /** The name that the call asks for, by which budgets and key scopes may name the model too. */
  asked?: string;
  /** `native`: client and provider speak the same format; `translated`: different formats; `generated`: a program answers. */
  lane: "native" | "translated" | "generated";
  /** Id of the format, or of the dialect of embeddings or a kind, that the provider gets; empty in the generated lane. */
  format: string;
  /** Absolute URL of the provider's endpoint; empty in the generated lane. */
  url: string;
  /** The provider's deviations, if some hold for this model only. */
  traits?: Traits;
  /**
   * The config says what the host can and cannot do with the model: weir also fits the requests of clients of the host's own
   * format to that. A plugin's traits alone do not change such requests.
   */
  fitsNative?: true;
  /** Members that the config adds to the body for the provider, unless the request has them. */
  body?: Readonly<JsonObject>;
  /** Timeouts of the model; they precede those of the deployment. */
  timeouts?: Readonly<UpstreamTimeouts>;
  /** When weir skips a deployment of the model; precedes the options of the deployment. */
  circuitBreaker?: Readonly<CircuitBreakerOptions>;
  /** The URL for streams, if the host has a path of its own for them. */
  streamUrl?: string;
  /** The pattern that matched and why, for `weir models` and `weir explain`. */
  reason: string;
  /** The embedded mock answers because no provider is configured. */
  substitute?: boolean;
}

/** A provider that is on: its base URL is known. */
export interface ActiveProvider extends Provider {
  /** At least one. */
  deployments: readonly Deployment[];
  /** `built-in`, or the path of the plugin file. */
  source: string;
  patterns: readonly string[];
  /** Globs over the models for which the config says what the host can and cannot do; absent: for none. */
  fitted?: readonly string[];
  /** Settings of the host in the config, for all its models. */
  toldTraits?: Traits;
}

/** One base URL and credential of a provider. */
export interface Deployment {
  /** The provider's name, or `provider/name` if the config lists several deployments. */
  name: string;
  /** Absolute http(s) URL without a trailing slash; empty for providers that `generate`. */
  baseUrl: string;
  /** Values of the provider's variables. */
  variables?: Readonly<Record<string, string>>;
  /** Headers with the credential. They are sent only to the origin of `baseUrl`. Empty if there is an `authorizer`. */
  credentials: Readonly<Record<string, string>>;
  /** Names of the environment variables of the credentials in use. */
  secretNames?: readonly string[];
  /** The environment variable from which the first of them is. */
  keyVariable?: string | undefined;
  /** Where credentials outside the environment were found, for people. */
  credentialSource?: string;
  /** Globs over the provider's names of the models that it serves. Absent: all. */
  models?: readonly string[];
  /** Present if the provider has `authorize`, unless the config sets the header with the credential. */
  authorizer?: Authorizer;
  /** Share of the calls among deployments of the same priority. */
  weight: number;
  /** Deployments with a lower number are used first, those with a higher number after they failed. */
  priority: number;
  /** Maximum number of calls in flight per process; absent means no limit. */
  concurrency?: number;
  /** Timeouts that override the gateway's. */
  timeouts?: Readonly<UpstreamTimeouts>;
  /** When weir skips the deployment; absent: the defaults. */
  circuitBreaker?: Readonly<CircuitBreakerOptions>;
  /** The base URL is not the vendor's own, so facts about the vendor's API may not apply. */
  elsewhere?: boolean;
  /** Format of translated calls, if it is not the first that the provider speaks. */
  prefers?: string;
  /** Name of the output limit, if the config sets it. */
  maxTokensField?: MaxTokensField;
  /** Certificates for its TLS connections. */
  tls?: TlsSettings;
}

/** PEM texts for TLS connections to an upstream. */
export interface TlsSettings {
  /** Certificate authorities that are trusted instead of the runtime's own list. */
  readonly ca?: string;
  /** Client certificate with its chain. */
  readonly cert?: string;
  /** Private key of `cert`. */
  readonly key?: string;
}

/** Timeouts towards a provider. Milliseconds. */
export interface UpstreamTimeouts {
  /** To connect, including the TLS handshake. */
  connectMs: number;
  /** From the start of an attempt to the first event of the answer. */
  firstByteMs: number;
  /** The same for streams; absent: `firstByteMs`. */
  streamFirstByteMs?: number;
  /** Between two chunks of an answer. */
  gapMs: number;
  /** The whole call with all attempts. */
  totalMs: number;
}
