/** Which providers of LiteLLM's price map are providers of weir, and how their models are named here. */

export interface Source {
  /** Names of the provider in the price map: its `litellm_provider`, or the beginning of it before a dash. */
  from: readonly string[];
  /** Prefix of the map before the provider's own name of the model. */
  prefix: string;
  /** Names with a slash are those of regions and image sizes, not of models. */
  noSlash?: boolean;
}

/** By provider of weir. Providers that are missing report their own costs (OpenRouter) or are not in the map. */
export const SOURCES: Readonly<Record<string, Source>> = {
  anthropic: { from: ["anthropic"], prefix: "anthropic/" },
  azure: { from: ["azure"], prefix: "azure/", noSlash: true },
  baseten: { from: ["baseten"], prefix: "baseten/" },
  bedrock: { from: ["bedrock", "bedrock_converse"], prefix: "bedrock/", noSlash: true },
  "bedrock-mantle": { from: ["bedrock_mantle"], prefix: "bedrock_mantle/", noSlash: true },
  cerebras: { from: ["cerebras"], prefix: "cerebras/" },
  cohere: { from: ["cohere", "cohere_chat"], prefix: "cohere/" },
  deepinfra: { from: ["deepinfra"], prefix: "deepinfra/" },
  deepseek: { from: ["deepseek"], prefix: "deepseek/" },
  fireworks: { from: ["fireworks_ai"], prefix: "fireworks_ai/" },
  foundry: { from: ["azure_ai"], prefix: "azure_ai/", noSlash: true },
  gemini: { from: ["gemini"], prefix: "gemini/" },
  groq: { from: ["groq"], prefix: "groq/" },
  minimax: { from: ["minimax"], prefix: "minimax/" },
  mistral: { from: ["mistral"], prefix: "mistral/" },
  moonshot: { from: ["moonshot"], prefix: "moonshot/" },
  novita: { from: ["novita"], prefix: "novita/" },
  openai: { from: ["openai"], prefix: "openai/", noSlash: true },
  perplexity: { from: ["perplexity"], prefix: "perplexity/" },
  qwen: { from: ["dashscope"], prefix: "dashscope/" },
  sambanova: { from: ["sambanova"], prefix: "sambanova/" },
  together: { from: ["together_ai"], prefix: "together_ai/" },
  vertex: { from: ["vertex_ai"], prefix: "vertex_ai/" },
  voyage: { from: ["voyage"], prefix: "voyage/" },
  xai: { from: ["xai"], prefix: "xai/", noSlash: true },
  zhipu: { from: ["zai"], prefix: "zai/" },
};

/** Providers of weir that reach the same models at the same prices by another door. */
export const SAME_AS: Readonly<Record<string, string>> = {
  "azure-dated": "azure",
  "foundry-models": "foundry",
  "gemini-openai": "gemini",
  "vertex-express": "vertex",
  "vertex-openai": "vertex",
};
