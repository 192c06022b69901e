/** The config and the plugins that all changes change. */

/** JSON of `weir.yaml`. */
export type Config = Record<string, unknown>;

/** What a gateway is made of. */
export interface Setup {
  config: Config;
  /** Dropped plugins: file name → text. */
  plugins: Record<string, string>;
}

/** Providers with a base URL below that of the fake, and how it goes on. */
const BASES: Readonly<Record<string, string>> = {
  openai: "/v1",
  anthropic: "",
  gemini: "",
  "vertex-express": "",
  bedrock: "",
  mistral: "/v1",
  deepseek: "",
  groq: "/openai/v1",
  xai: "/v1",
  openrouter: "/api/v1",
  cohere: "",
  voyage: "/v1",
  ollama: "/v1",
  vllm: "/v1",
  llamacpp: "/v1",
  lmstudio: "/v1",
  azure: "/openai/v1",
  moonshot: "/v1",
  qwen: "/compatible-mode/v1",
  zhipu: "/api/paas/v4",
  perplexity: "",
  cerebras: "/v1",
  fireworks: "/inference/v1",
  together: "/v1",
  huggingface: "/v1",
  minimax: "/anthropic",
};

/** Members of single providers. */
const MORE: Readonly<Record<string, Config>> = {
  bedrock: { variables: { region: "us-east-1" } },
};

const key = (name: string) => `sk-truth-${name}-0123456789`;

function providersAt(url: string): Config {
  const shipped = Object.entries(BASES).map(([name, path]): [string, Config] => [
    name,
    { baseUrl: `${url}/${name}${path}`, apiKey: key(name), ...MORE[name] },
  ]);
  return {
    ...Object.fromEntries(shipped),
    acme: {
      baseUrl: `${url}/acme/v1`,
      apiKey: key("acme"),
      speaks: "chat-completions",
      embeds: { embeddings: "/embeddings" },
      models: ["acme/*"],
      headers: { "x-team": "search" },
      traits: { strictTools: false },
    },
    split: {
      speaks: "chat-completions",
      models: ["split/*"],
      apiKey: key("split"),
      deployments: [
        { name: "east", baseUrl: `${url}/split-east/v1`, weight: 3 },
        { name: "west", baseUrl: `${url}/split-west/v1`, weight: 1 },
      ],
    },
  };
}

/** @param url of the fake provider @param state folder of the books */
export function baseSetup(url: string, state: string): Setup {
  return {
    config: {
      state,
      log: { format: "json" },
      host: "127.0.0.1",
      keys: [
        { name: "all", key: "tk-all-0001", path: "/eng" },
        { name: "search", key: "tk-search-0002", path: "/eng/search", tags: ["team:search"] },
        { name: "short", key: "tk-short-0003", path: "/ops" },
        {
          name: "chat",
          key: "tk-chat-0004",
          endpoints: ["chat", "messages", "responses", "gemini", "embeddings"],
        },
      ],
      providers: providersAt(url),
      aliases: { fast: "groq/llama-3.3-70b-versatile", careful: "claude-opus-4-6" },
      routes: {
        smart: ["openai/gpt-5.2", { model: "anthropic/claude-sonnet-4-5", priority: 1 }],
        tiered: [{ model: "acme/large", priority: 1 }, "mistral/mistral-large-latest"],
        spread: ["split/balanced"],
        guarded: ["deepseek/deepseek-chat"],
      },
      models: {
        "acme/thinker": { set: { reasoningEffort: "low" }, body: { thinking_budget: 1000 } },
        "claude-haiku-*": { set: { maxTokens: 2048 } },
      },
      prices: {
        "acme/large": { input: 2, output: 8, cacheRead: 0.5 },
        "acme/small": { input: 0.25, output: 1 },
        "groq/*": { discount: 0.1 },
      },
      guards: { numbers: { find: ["card"], do: "mask", models: ["deepseek/deepseek-chat"] } },
    },
    plugins: {},
  };
}
