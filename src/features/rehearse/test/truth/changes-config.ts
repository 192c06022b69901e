/** Changes of keys of the config. */
import { type SetupChange, editKey, setting } from "./change.ts";

type Entry = readonly [way: string, value: unknown];

const set = (entries: readonly Entry[]) =>
  entries.map(([way, value]) => setting("config", way.split(" "), value));

/** A provider at another path of the fake. */
const moved = (provider: string, path: string): SetupChange => ({
  kind: "config",
  name: `providers.${provider}.baseUrl: ${path}`,
  apply({ config }, url) {
    (config["providers"] as Record<string, Record<string, unknown>>)[provider]!["baseUrl"] = `${url}${path}`;
  },
});

const ADDRESSES: readonly SetupChange[] = [
  moved("openai", "/openai-eu/v1"),
  moved("anthropic", "/anthropic-eu"),
  moved("gemini", "/gemini-eu"),
  moved("bedrock", "/bedrock-eu"),
  moved("mistral", "/mistral/v2"),
  moved("acme", "/acme-next/v1"),
  moved("cohere", "/cohere-eu"),
  moved("azure", "/azure-eu/openai/v1"),
];

const PROVIDERS = set([
  ["providers openai headers", { "openai-organization": "org-truth" }],
  ["providers anthropic headers", { "anthropic-beta": "context-1m-2025-08-07" }],
  ["providers gemini headers", { "x-goog-user-project": "truth" }],
  ["providers groq headers", { "x-team": "search" }],
  ["providers acme headers", { "x-team": "ops" }],
  ["providers acme headers", undefined],
  ["providers mistral headers", { "X-Affinity": "a, b", "x-empty": "1" }],
  ["providers openai apiKey", "sk-truth-other-0000000000"],
  ["providers anthropic apiKey", "sk-truth-other-0000000001"],
  ["providers gemini apiKey", "sk-truth-other-0000000002"],
  ["providers mistral enabled", false],
  ["providers groq enabled", false],
  ["providers split enabled", false],
  ["providers voyage enabled", false],
  ["providers acme models", ["acme/large"]],
  ["providers acme speaks", "messages"],
  ["providers acme speaks", "responses"],
  ["providers acme speaks", { "chat-completions": "/chat/completions?version=2" }],
  [
    "providers acme speaks",
    { "chat-completions": { json: "/chat/completions", stream: "/stream/chat/completions" } },
  ],
  ["providers vllm speaks", ["messages", "chat-completions"]],
  ["providers openai prefer", "responses"],
  ["providers openrouter prefer", "messages"],
  ["providers fireworks prefer", "messages"],
  ["providers openai maxTokensField", "max_completion_tokens"],
  ["providers acme maxTokensField", "max_completion_tokens"],
  ["providers groq maxTokensField", "max_tokens"],
  ["providers bedrock variables", { region: "us-east-1", betas: "context-1m-2025-08-07" }],
  ["providers acme embeds", { embeddings: { path: "/embeddings", maxInputs: 1 } }],
  ["providers acme embeds", { embeddings: { path: "/embeddings", base64: true } }],
  ["providers split deployments 0 weight", 1],
]);

const acme = (traits: Record<string, unknown>) => setting("config", ["providers", "acme", "traits"], traits);

const TRAITS: readonly SetupChange[] = [
  acme({}),
  acme({ strictTools: false, streaming: false }),
  acme({ strictTools: false, streamOptions: false }),
  acme({ strictTools: false, jsonUsage: false }),
  acme({ strictTools: false, outputLimit: false }),
  acme({ strictTools: false, tools: false }),
  acme({ strictTools: false, forcedToolChoice: false }),
  acme({ strictTools: false, namedToolChoice: false }),
  acme({ strictTools: false, parallelToolCalls: false }),
  acme({ strictTools: false, toolIds: "mistral" }),
  acme({ strictTools: false, imageInToolMessage: true }),
  acme({ strictTools: false, jsonSchema: "json-object" }),
  acme({ strictTools: false, jsonSchema: "prompt" }),
  acme({ strictTools: false, jsonMode: false }),
  acme({ strictTools: false, images: false }),
  acme({ strictTools: false, files: true }),
  acme({ strictTools: false, documentUrl: "document_url" }),
  acme({ strictTools: false, systemPlacement: "first-only" }),
  acme({ strictTools: false, developerRole: false }),
  acme({ strictTools: false, reasoningEffort: false }),
  acme({ strictTools: false, reasoningReplay: "required" }),
  acme({ strictTools: false, maxStop: 0 }),
  acme({ strictTools: false, n: false, logprobs: false }),
  acme({ strictTools: false, topK: true, promptCacheKey: true }),
  acme({ strictTools: false, userField: "safety_identifier" }),
  ...set([
    ["providers gemini traits", { callIds: "echo" }],
    ["providers gemini traits", { safety: "off" }],
    ["providers gemini traits", { textBesideMedia: true }],
    ["providers openai traits", { storesAnswers: false, customTools: false }],
    ["providers groq modelTraits", [{ models: ["llama-*"], traits: { tools: false } }]],
    ["providers anthropic traits", { topLevelCacheControl: true }],
  ]),
];

const NAMES = set([
  ["aliases fast", "cerebras/gpt-oss-120b"],
  ["aliases fast", undefined],
  ["aliases careful", "claude-opus-4-7"],
  ["aliases no-such-model", "acme/small"],
  ["aliases gpt-4*", "azure/gpt-4.1"],
  ["aliases claude-haiku-*", "acme/small"],
  ["routes smart", ["anthropic/claude-sonnet-4-5"]],
  ["routes smart", ["anthropic/claude-sonnet-4-5", { model: "openai/gpt-5.2", priority: 1 }]],
  ["routes tiered", ["acme/large", { model: "mistral/mistral-large-latest", priority: 1 }]],
  ["routes tiered", undefined],
  ["routes spread", ["split/balanced", { model: "acme/small", weight: 3 }]],
  ["routes no-such-model", ["groq/llama-3.3-70b-versatile"]],
  ["routing smart", "cost"],
  ["fallbacks smart", ["acme/large"]],
  ["fallbacks gpt-*", [{ model: "acme/large", when: "too-long" }]],
]);

const SETTINGS = set([
  ["models gpt-4*", { set: { temperature: 0.3 } }],
  ["models gpt-4*", { force: { temperature: 0.3 } }],
  ["models acme/large", { set: { topP: 0.5 } }],
  ["models acme/large", { force: { maxTokens: 100 } }],
  ["models acme/large", { body: { user_tier: "gold" } }],
  ["models acme/thinker", { set: { reasoningEffort: "high" }, body: { thinking_budget: 1000 } }],
  ["models acme/thinker", { set: { reasoningEffort: "low" }, body: { thinking_budget: 2000 } }],
  ["models acme/thinker", undefined],
  ["models claude-haiku-*", { set: { maxTokens: 4096 } }],
  ["models claude-sonnet-*", { force: { reasoningEffort: "low" } }],
  ["models anthropic/*", { force: { temperature: 0 } }],
  ["models gemini-*", { set: { reasoningEffort: "minimal" } }],
  ["models gemini-2.5-*", { force: { topP: 0.9, maxTokens: 512 } }],
  ["models bedrock/*", { set: { maxTokens: 333 } }],
  ["models deepseek/*", { body: { safe_mode: true } }],
  ["models smart", { set: { temperature: 1 } }],
  ["models fast", { force: { maxTokens: 64 } }],
  ["models gpt-5*", { force: { reasoningEffort: "high" } }],
]);

const CALLERS: readonly SetupChange[] = [
  editKey("search", { models: ["gpt-*", "openai/*", "claude-*"] }),
  editKey("search", { providers: ["openai", "anthropic"] }),
  editKey("search", { serverTools: false }),
  editKey("short", { maxTokens: 500 }),
  editKey("short", { maxCost: 0.05 }),
  editKey("short", { expires: "2026-01-01" }),
  editKey("chat", { endpoints: ["chat"] }),
  editKey("all", { models: ["*"] }),
  editKey("all", { tags: ["team:new"] }),
  {
    kind: "config",
    name: "key short is removed",
    apply({ config }) {
      config["keys"] = (config["keys"] as { name: string }[]).filter(({ name }) => name !== "short");
    },
  },
];

const REQUESTS = set([
  ["limits bodyBytes", 16_000],
  ["limits depth", 8],
  ["messages systemTurns", "reject"],
  ["responses store", "off"],
  ["guards numbers", { find: ["card", "email"], do: "block", models: ["deepseek/deepseek-chat"] }],
  ["guards numbers", { find: ["card"], do: "mask", models: ["acme/large"] }],
  ["guards numbers", { find: ["card"], do: { route: "acme/small" }, models: ["acme/large"] }],
  ["guards size", { limits: { characters: 2_000 }, do: "block" }],
  ["guards size", { limits: { tools: 3 }, do: "block" }],
  ["guards marks", { fence: true, models: ["acme/*"] }],
  ["guards uninspected", "block"],
]);

/** They alter nothing that a provider gets. */
const SILENT = set([
  ["log format", "json"],
  ["timeouts connectMs", 5_000],
  ["retries attempts", 1],
  ["circuitBreaker failures", 9],
  ["metrics keys", true],
  ["ledger callDays", 30],
  ["cors origins", ["https://app.example.com"]],
  ["providers openai concurrency", 500],
]);

export const CONFIG_CHANGES: readonly SetupChange[] = [
  ...ADDRESSES,
  ...PROVIDERS,
  ...TRAITS,
  ...NAMES,
  ...SETTINGS,
  ...CALLERS,
  ...REQUESTS,
  ...SILENT,
];
