/** Which providers have a batch API, and how they are asked. */
import type { ActiveProvider, Deployment } from "../../../core/provider.ts";
import type { Api } from "../section.ts";
import { AnthropicHost } from "./anthropic.ts";
import { GeminiHost } from "./gemini.ts";
import type { BatchHost } from "./host.ts";
import { AZURE, FileHost, MISTRAL, OPENAI } from "./openai.ts";

/** What the config says of a provider. */
export interface HostSetting {
  readonly api: Api | "none";
  /** Share of the ordinary price. */
  readonly price?: number;
}

const CHAT = ["chat-completions", "responses", "embeddings"];

const HOSTS: Readonly<Record<Api, BatchHost>> = {
  openai: new FileHost(OPENAI, CHAT),
  azure: new FileHost(AZURE, CHAT),
  mistral: new FileHost(MISTRAL, CHAT),
  anthropic: new AnthropicHost(),
  gemini: new GeminiHost(),
};

/** Providers of weir by their names; they need no setting at the vendor's own address. */
const KNOWN: Readonly<Record<string, Api>> = {
  ...{ openai: "openai", azure: "azure", "azure-dated": "azure", mistral: "mistral" },
  ...{ anthropic: "anthropic", gemini: "gemini" },
};

export interface FoundHost {
  readonly host: BatchHost;
  /** Share of the ordinary price; absent: that of the price book for batches. */
  readonly factor?: number;
}

/** @returns undefined: the provider has no batch API that weir knows */
export function hostOf(
  { name }: Pick<ActiveProvider, "name">,
  { elsewhere }: Pick<Deployment, "elsewhere">,
  settings: Readonly<Record<string, HostSetting>>,
): FoundHost | undefined {
  const set = settings[name];
  const api = set?.api ?? (elsewhere ? undefined : KNOWN[name]);
  if (api === undefined || api === "none") return undefined;
  return { host: HOSTS[api], ...(set?.price !== undefined && { factor: set.price }) };
}
