/** What config and environment say about a provider: read by the one, used by the gateway. */
import type { MaxTokensField, TlsSettings, UpstreamTimeouts } from "./provider.ts";
import type { Secret } from "./secret.ts";

export interface ProviderSettings {
  enabled?: boolean;
  apiKey?: Secret;
  /** Absolute http(s) URL. */
  baseUrl?: string;
  /** Patterns instead of the plugin's own. */
  models?: readonly string[];
  headers?: Readonly<Record<string, string>>;
  /** Formats it speaks and their paths, in the place of what its plugin says. */
  speaks?: Readonly<Record<string, string>>;
  liveModels?: boolean;
  /** Name of the output limit, whatever the model and the host. */
  maxTokensField?: MaxTokensField;
  /** Most calls in flight at each of its places at once. */
  concurrency?: number;
  /** Where they differ from the gateway's. */
  timeouts?: UpstreamTimeouts;
  /** Certificates for the connections to all of its places. */
  tls?: TlsSettings;
  /** The places it is called at, instead of the one above. */
  deployments?: readonly DeploymentSettings[];
}

/** One place a provider is called at; what it does not say is the provider's. */
export interface DeploymentSettings {
  /** Behind the provider's name and a slash, it is what log and headers say. */
  name: string;
  apiKey?: Secret;
  baseUrl?: string;
  weight?: number;
  priority?: number;
  concurrency?: number;
  timeouts?: UpstreamTimeouts;
}

/** The environment variable of one of them: `my-host` → `MY_HOST_BASE_URL`. */
export function variableName(provider: string, suffix: "API_KEY" | "BASE_URL"): string {
  return `${provider.toUpperCase().replaceAll("-", "_")}_${suffix}`;
}
