/** Providers of LiteLLM (the part of `litellm_params.model` before the slash) as providers of weir. */

/** https://docs.litellm.ai/docs/providers */
export const PREFIXES: Readonly<Record<string, string>> = {
  openai: "openai",
  "text-completion-openai": "openai",
  anthropic: "anthropic",
  azure: "azure",
  azure_ai: "foundry-models",
  bedrock: "bedrock",
  bedrock_converse: "bedrock",
  vertex_ai: "vertex",
  vertex_ai_beta: "vertex",
  gemini: "gemini",
  openrouter: "openrouter",
  ollama: "ollama",
  ollama_chat: "ollama",
  hosted_vllm: "vllm",
  together_ai: "together",
  fireworks_ai: "fireworks",
  deepseek: "deepseek",
  mistral: "mistral",
  codestral: "mistral",
  xai: "xai",
  groq: "groq",
  cerebras: "cerebras",
  cohere: "cohere",
  cohere_chat: "cohere",
  perplexity: "perplexity",
  nvidia_nim: "nvidia",
  sambanova: "sambanova",
  huggingface: "huggingface",
  github: "github",
  moonshot: "moonshot",
  dashscope: "qwen",
  zai: "zhipu",
  minimax: "minimax",
  baseten: "baseten",
  deepinfra: "deepinfra",
  novita: "novita",
  voyage: "voyage",
  lm_studio: "lmstudio",
  litellm_proxy: "litellm",
};

/**
 * Environment variables from which LiteLLM takes a key that the config does not have. Those that weir takes, too, need no row.
 * https://docs.litellm.ai/docs/providers
 */
export const KEY_VARIABLES: Readonly<Record<string, string>> = {
  azure: "AZURE_API_KEY",
  azure_ai: "AZURE_AI_API_KEY",
  together_ai: "TOGETHERAI_API_KEY",
  fireworks_ai: "FIREWORKS_AI_API_KEY",
  perplexity: "PERPLEXITYAI_API_KEY",
  nvidia_nim: "NVIDIA_NIM_API_KEY",
  dashscope: "DASHSCOPE_API_KEY",
  zai: "ZAI_API_KEY",
  litellm_proxy: "LITELLM_PROXY_API_KEY",
};

/** Prefixes of hosts that speak OpenAI's format at `api_base`. */
export const COMPATIBLE = new Set(["openai", "custom_openai", "openai_like", "llamafile", "custom", "vllm"]);

/** Models that LiteLLM knows without a prefix. */
const BARE: readonly (readonly [pattern: RegExp, prefix: string])[] = [
  [/^(gpt-|chatgpt-|o[134](-|$)|codex-|text-embedding-|whisper-|tts-|ft:gpt-)/, "openai"],
  [/^claude-/, "anthropic"],
  [/^gemini-/, "vertex_ai"],
  [/^command-/, "cohere"],
];

export interface NamedModel {
  prefix: string;
  model: string;
  /** `openai/responses/MODEL`: LiteLLM asks in the format responses. */
  isResponses?: boolean;
}

/** @param given the value of `custom_llm_provider`, which replaces the prefix @returns undefined for an unknown model without a prefix */
export function splitModel(text: string, given?: string): NamedModel | undefined {
  const slash = text.indexOf("/");
  const prefix = text.slice(0, Math.max(0, slash));
  if (given !== undefined) return { prefix: given, model: prefix === given ? text.slice(slash + 1) : text };
  if (PREFIXES[prefix] !== undefined || COMPATIBLE.has(prefix) || UNSERVED.has(prefix)) {
    const model = text.slice(slash + 1);
    const isResponses = /^(openai|azure)$/.test(prefix) && model.startsWith("responses/");
    return isResponses ? { prefix, model: model.slice("responses/".length), isResponses } : { prefix, model };
  }
  const bare = BARE.find(([pattern]) => pattern.test(text));
  return bare && { prefix: bare[1], model: text };
}

/** Prefixes for which weir has no provider and no address. */
const UNSERVED = new Set([
  "replicate",
  "sagemaker",
  "sagemaker_chat",
  "watsonx",
  "predibase",
  "databricks",
  "cloudflare",
  "aleph_alpha",
  "petals",
  "nlp_cloud",
  "ai21",
  "triton",
  "oci",
  "snowflake",
  "assemblyai",
  "deepgram",
  "elevenlabs",
  "stability",
  "jina_ai",
  "infinity",
  "friendliai",
  "github_copilot",
  "vercel_ai_gateway",
]);

/** The name of a model as the provider of weir takes it. */
export function upstreamModel(provider: string, model: string): string {
  if (provider === "bedrock") return bedrockModel(model);
  // https://docs.litellm.ai/docs/providers/fireworks_ai: a short name is one of Fireworks' own models.
  if (provider === "fireworks" && !/[/#]/.test(model)) return `accounts/fireworks/models/${model}`;
  // huggingface/HOST/ORGANIZATION/MODEL
  const routed = provider === "huggingface" ? /^([^/]+)\/([^/]+\/.+)$/.exec(model) : null;
  return routed ? `${routed[2]}:${routed[1]}` : model;
}

const BEDROCK_ROUTE = /^(converse|invoke|converse_like|bedrock|us|eu)\//;
const REGION = /^([a-z]{2}(-[a-z]+)+-\d)\//;

function bedrockModel(model: string): string {
  return model.replace(BEDROCK_ROUTE, "").replace(REGION, "").replace(BEDROCK_ROUTE, "");
}

/** The region in `bedrock/us-east-1/MODEL`. */
export function bedrockRegion(model: string): string | undefined {
  return REGION.exec(model.replace(BEDROCK_ROUTE, ""))?.[1];
}
