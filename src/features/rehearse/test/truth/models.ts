/** The models of the corpus, by which its calls reach all formats of providers. */

/** Names of providers whose recordings have another one, or one that weir does not ship. */
export const OWN: Readonly<Record<string, string>> = {
  zai: "zhipu",
  alibaba: "qwen",
  vertex: "vertex-express",
  chatgpt: "openai",
  bedrock: "bedrock",
  copilot: "acme",
  gpustack: "acme",
  doubleword: "acme",
  venice: "acme",
  crusoe: "acme",
  databricks: "acme",
  mistralrs: "acme",
  other: "acme",
  writer: "acme",
};

/** Models to which requests go besides their own one, and names of the config. */
export const MODELS: readonly string[] = [
  ...["openai/gpt-4.1", "openai/gpt-5.2", "gpt-5.4-nano", "gpt-4o-mini", "o4-mini"],
  ...["anthropic/claude-sonnet-4-5", "claude-opus-4-6", "claude-haiku-4-5", "claude-sonnet-5"],
  ...[
    "gemini/gemini-2.5-flash",
    "gemini-3-flash-preview",
    "gemini-2.5-pro",
    "vertex-express/gemini-2.5-flash",
  ],
  ...["bedrock/us.anthropic.claude-sonnet-4-5-20250929-v1:0", "bedrock/us.amazon.nova-lite-v1:0"],
  ...["mistral-large-latest", "deepseek/deepseek-chat", "groq/llama-3.3-70b-versatile", "xai/grok-4"],
  ...["openrouter/anthropic/claude-haiku-4.5", "cohere/command-a-03-2025", "ollama/qwen3", "vllm/qwen3-32b"],
  ...["azure/gpt-4.1", "moonshot/kimi-k2", "qwen/qwen3-max", "zhipu/glm-4.6", "perplexity/sonar"],
  ...["cerebras/gpt-oss-120b", "fireworks/kimi-k2", "together/llama-4", "minimax/MiniMax-M2"],
  ...["acme/large", "acme/small", "acme/thinker"],
  ...["fast", "careful", "smart", "tiered", "spread", "guarded", "no-such-model"],
];

export const EMBEDDERS: readonly string[] = [
  ...["openai/text-embedding-3-small", "gemini/gemini-embedding-001", "mistral/mistral-embed"],
  ...["cohere/embed-v4.0", "voyage/voyage-4", "bedrock/amazon.titan-embed-text-v2:0", "acme/embedder"],
];
