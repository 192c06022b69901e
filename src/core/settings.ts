/** A provider's settings from config and environment: `config` reads them, `gateway` uses them. */
import type { CredentialSet } from "./credential.ts";
import type { SpokenPath } from "./endpoint.ts";
import type { CircuitBreakerOptions, Retries } from "./failure-policy.ts";
import type {
  MaxTokensField,
  ModelTraits,
  Provider,
  TlsSettings,
  Traits,
  UpstreamTimeouts,
} from "./provider.ts";
import type { JsonObject } from "./json.ts";
import type { Secret } from "./secret.ts";

export interface ProviderSettings {
  enabled?: boolean;
  apiKey?: Secret;
  /** Absolute http(s) URL. */
  baseUrl?: string;
  /** Patterns over model names that replace the plugin's. */
  models?: readonly string[];
  headers?: Readonly<Record<string, string>>;
  /** Headers whose values may change, by their lower-case names. */
  liveHeaders?: Readonly<Record<string, Secret>>;
  /** Formats the provider speaks, each with its path; replaces the plugin's. */
  speaks?: Readonly<Record<string, SpokenPath>>;
  /** Where the provider embeds, by dialect; replaces the plugin's. */
  embeds?: Provider["embeds"];
  /** Where the provider serves other kinds of models; replaces the plugin's. */
  does?: Provider["does"];
  /** Format of translated calls at all base URLs. */
  prefer?: string;
  /** Values of the provider's variables, without their defaults. */
  variables?: Readonly<Record<string, string>>;
  /** Credentials by the names of their environment variables. */
  secrets?: Readonly<Record<string, Secret>>;
  /** The environment of the process, for values that the plugin finds by itself. */
  env?: Readonly<Record<string, string | undefined>>;
  liveModels?: boolean;
  /** Name of the output limit for all models and hosts of the provider. */
  maxTokensField?: MaxTokensField;
  /** Deviations of the host. They precede the plugin's. */
  traits?: Traits;
  /** Deviations for some models. They precede all others. */
  modelTraits?: readonly ModelTraits[];
  /** Maximum number of calls in flight per deployment. */
  concurrency?: number;
  /** Timeouts that override the gateway's. */
  timeouts?: UpstreamTimeouts;
  /** When weir skips a deployment that fails. */
  circuitBreaker?: CircuitBreakerOptions;
  /** Certificates for the connections to all deployments. */
  tls?: TlsSettings;
  /** Deployments, instead of the single `baseUrl` and `apiKey` above. */
  deployments?: readonly DeploymentSettings[];
}

/** One of the models behind a route. */
export interface RouteTarget {
  model: string;
  weight: number;
  /** Lower numbers are tried first. */
  priority: number;
}

/** Options of a request that the operator can set for a model. */
export interface RequestSettings {
  temperature?: number;
  topP?: number;
  /** Maximum number of generated tokens. */
  maxTokens?: number;
  reasoningEffort?: string;
}

/** The order of targets of one priority. */
export type Strategy = "weight" | "latency" | "usage" | "cost";

/** The operator's settings for the requests of a model. */
export interface ModelSettings {
  /** For requests that do not say otherwise. */
  set?: Readonly<RequestSettings>;
  /** For every request. */
  force?: Readonly<RequestSettings>;
  /** Members that weir adds to the provider's request unless it has them, in the provider's format. */
  body?: Readonly<JsonObject>;
  /** They precede those of the provider. */
  timeouts?: Partial<UpstreamTimeouts>;
  /** They precede those of the gateway. */
  retries?: Partial<Retries>;
  circuitBreaker?: Partial<CircuitBreakerOptions>;
}

/** A fallback model: tried when all targets failed, or when the prompt does not fit into the model. */
export interface Fallback {
  model: string;
  when: "failed" | "too-long";
}

/** Settings of one deployment; missing values default to the provider's. */
export interface DeploymentSettings {
  /** The log and the headers show `provider/name`. */
  name: string;
  apiKey?: Secret;
  baseUrl?: string;
  variables?: Readonly<Record<string, string>>;
  secrets?: Readonly<Record<string, Secret>>;
  /** Globs over the provider's names of the models that it serves. Absent: all. */
  models?: readonly string[];
  weight?: number;
  priority?: number;
  concurrency?: number;
  timeouts?: UpstreamTimeouts;
}

/** The name of a provider's environment variable: `my-host` → `MY_HOST_BASE_URL`. */
export function variableName(provider: string, suffix: "API_KEY" | "BASE_URL"): string {
  return `${provider.toUpperCase().replaceAll("-", "_")}_${suffix}`;
}

/** Whether a set is a list of environment variables. */
export function isVariableList(set: CredentialSet): set is readonly string[] {
  return Array.isArray(set);
}
