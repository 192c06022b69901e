import { describe, expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { builtIn } from "../../plugins/index.ts";
import type { Provider } from "../../src/core/provider.ts";
import { builtInFormats } from "../../src/run/formats.ts";
import { kinds } from "../../src/kinds/index.ts";
import { dialects } from "../../src/embeddings/index.ts";
import { loadConfig } from "../../src/config/load.ts";
import { isUnset, providerSettings } from "../../src/config/providers.ts";
import { variableName } from "../../src/core/settings.ts";
import { activate, checkProvider } from "../../src/gateway/routing/activate.ts";
import { describeProvider } from "../helpers/describe-provider.ts";
import { compilePattern } from "../../src/gateway/routing/pattern.ts";

const folder = `${import.meta.dir}/../../plugins`;
/** Files that are no plugin of their own, and the plugin that the config turns on. */
const PARTS = new Set(["index.ts", "README.md", "shared", "response-cache"]);
const files = readdirSync(folder, { withFileTypes: true })
  .filter((entry) => !PARTS.has(entry.name))
  .map((entry) => entry.name.replace(/\.ts$/, ""))
  .sort();

const LOCAL = ["ollama", "vllm", "llamacpp", "lmstudio", "sglang", "tgi", "litellm", "weir"];
/** Plugins whose addresses depend on an account or a region, or whose keys have several names; `test/wire` has tests of their own. */
const CLOUDS = ["azure", "foundry", "vertex", "gemini-openai", "gemini-tuned", "bedrock", "bedrock-mantle"];
const declarative = builtIn.filter((plugin) => ![...CLOUDS, "mock"].includes(plugin.name));

function providerOf(name: string): Provider {
  return builtIn.find((plugin) => plugin.name === name)!.providers![0]!;
}

/** The address with the defaults of its variables. */
function addressOf({ baseUrl, variables = {} }: Provider): string | undefined {
  if (typeof baseUrl !== "function") return baseUrl;
  return baseUrl(
    Object.fromEntries(Object.entries(variables).map(([name, one]) => [name, one.default ?? ""])),
  );
}

test("the list names every file in the folder, once", () => {
  expect(builtIn.map((plugin) => plugin.name).sort()).toEqual(files);
});

describe("every declarative plugin", () => {
  for (const plugin of declarative) {
    const { name } = plugin;
    const provider = providerOf(name);

    test(`${name} brings one provider of its own name`, () => {
      expect(plugin.providers).toHaveLength(1);
      expect(provider.name).toBe(name);
      expect(provider.models).toContain(`${name}/*`);
    });

    test(`${name} has an address that is safe, or none`, () => {
      if (LOCAL.includes(name)) {
        expect(provider.baseUrl).toBeUndefined();
        expect(provider.apiKey).toBeUndefined();
        return;
      }
      expect(addressOf(provider)).toStartWith("https://");
      expect(addressOf(provider)).not.toEndWith("/");
      // The first set is the one that `apiKey` of the config sets.
      const [first = [provider.apiKey]] = provider.credentials ?? [];
      expect(first).toEqual([`${name.toUpperCase()}_API_KEY`]);
    });
  }
});

for (const { providers = [] } of builtIn) for (const provider of providers) describeProvider(provider);

test("every built-in provider passes the check that plugin files have to pass at the start", () => {
  const formats = new Map(builtInFormats({ systemTurns: "accept" }).map((format) => [format.id, format]));
  const known = new Map(dialects.map((dialect) => [dialect.id, dialect]));
  const knownKinds = new Map(kinds.map((kind) => [kind.id, kind]));
  for (const provider of builtIn.flatMap((plugin) => plugin.providers ?? []))
    checkProvider(provider.name, provider, "built-in", formats, { dialects: known, kinds: knownKinds });
});

test("a built-in provider of which nothing is set is off for the reason that its settings give", () => {
  const { config } = loadConfig({ flags: {}, env: {}, cwd: import.meta.dir });
  for (const provider of builtIn.flatMap((plugin) => plugin.providers ?? []).filter(({ speaks }) => speaks)) {
    const activated = activate(provider, "built-in", providerSettings(config, {}, provider, {}));
    const isOff = isUnset(config, {}, provider);
    if (isOff)
      expect([provider.name, Object.keys(activated)]).toEqual([
        provider.name,
        expect.arrayContaining(["reason"]),
      ]);
    const key = variableName(provider.name, "API_KEY");
    expect([provider.name, isUnset(config, { [provider.apiKey ?? key]: "k" }, provider)]).toEqual([
      provider.name,
      false,
    ]);
  }
});

describe("endpoints", () => {
  const endpoints: [string, string, string][] = [
    ["openai", "chat-completions", "https://api.openai.com/v1/chat/completions"],
    ["openai", "responses", "https://api.openai.com/v1/responses"],
    ["anthropic", "messages", "https://api.anthropic.com/v1/messages"],
    ["gemini", "gemini", "https://generativelanguage.googleapis.com/v1beta/models/{model}:generateContent"],
    ["gemini", "interactions", "https://generativelanguage.googleapis.com/v1beta/interactions"],
    ["groq", "chat-completions", "https://api.groq.com/openai/v1/chat/completions"],
    ["deepseek", "chat-completions", "https://api.deepseek.com/chat/completions"],
    ["deepseek", "messages", "https://api.deepseek.com/anthropic/v1/messages"],
    ["mistral", "chat-completions", "https://api.mistral.ai/v1/chat/completions"],
    ["openrouter", "chat-completions", "https://openrouter.ai/api/v1/chat/completions"],
    ["openrouter", "messages", "https://openrouter.ai/api/v1/messages"],
    ["openrouter", "responses", "https://openrouter.ai/api/v1/responses"],
    ["together", "chat-completions", "https://api.together.xyz/v1/chat/completions"],
    ["fireworks", "chat-completions", "https://api.fireworks.ai/inference/v1/chat/completions"],
    ["fireworks", "messages", "https://api.fireworks.ai/inference/v1/messages"],
    ["xai", "chat-completions", "https://api.x.ai/v1/chat/completions"],
    ["xai", "responses", "https://api.x.ai/v1/responses"],
    ["cerebras", "chat-completions", "https://api.cerebras.ai/v1/chat/completions"],
    ["perplexity", "chat-completions", "https://api.perplexity.ai/chat/completions"],
    ["nvidia", "chat-completions", "https://integrate.api.nvidia.com/v1/chat/completions"],
    ["sambanova", "chat-completions", "https://api.sambanova.ai/v1/chat/completions"],
    ["huggingface", "chat-completions", "https://router.huggingface.co/v1/chat/completions"],
    ["github", "chat-completions", "https://models.github.ai/inference/chat/completions"],
    ["moonshot", "chat-completions", "https://api.moonshot.ai/v1/chat/completions"],
    ["qwen", "chat-completions", "https://dashscope-intl.aliyuncs.com/compatible-mode/v1/chat/completions"],
    ["zhipu", "chat-completions", "https://api.z.ai/api/paas/v4/chat/completions"],
    ["minimax", "messages", "https://api.minimax.io/anthropic/v1/messages"],
    ["cohere", "chat-completions", "https://api.cohere.ai/compatibility/v1/chat/completions"],
    ["baseten", "chat-completions", "https://inference.baseten.co/v1/chat/completions"],
    ["deepinfra", "chat-completions", "https://api.deepinfra.com/v1/openai/chat/completions"],
    ["novita", "chat-completions", "https://api.novita.ai/openai/v1/chat/completions"],
  ];
  for (const [name, format, url] of endpoints)
    test(`${name} answers ${format} at ${url}`, () => {
      const provider = providerOf(name);
      const path = provider.speaks![format]!;
      expect(`${addressOf(provider)}${typeof path === "string" ? path : path.json}`).toBe(url);
    });

  const regional: [string, string, string][] = [
    ["moonshot", "cn", "https://api.moonshot.cn/v1"],
    ["qwen", "cn", "https://dashscope.aliyuncs.com/compatible-mode/v1"],
    ["qwen", "us", "https://dashscope-us.aliyuncs.com/compatible-mode/v1"],
    ["zhipu", "cn", "https://open.bigmodel.cn/api/paas/v4"],
    ["minimax", "cn", "https://api.minimaxi.com/anthropic"],
  ];
  for (const [name, region, url] of regional)
    test(`${name} in the region ${region} is at ${url}`, () => {
      const baseUrl = providerOf(name).baseUrl as (variables: Record<string, string>) => string;
      expect(baseUrl({ region })).toBe(url);
      expect(() => baseUrl({ region: "moon" })).toThrow('There is no region "moon"');
    });

  test("are listed here for every host that has an address", () => {
    const listed = endpoints.map(([name, format]) => `${name} ${format}`).sort();
    const known = declarative
      .flatMap((plugin) => plugin.providers!)
      .filter((provider) => provider.baseUrl !== undefined)
      .flatMap((provider) =>
        Object.keys(provider.speaks ?? {}).map((format) => `${provider.name} ${format}`),
      );
    expect(listed).toEqual(known.sort());
  });
});

describe("embeddings", () => {
  const endpoints: [string, string, string][] = [
    ["openai", "embeddings", "https://api.openai.com/v1/embeddings"],
    [
      "gemini",
      "gemini-embed",
      "https://generativelanguage.googleapis.com/v1beta/models/{model}:batchEmbedContents",
    ],
    ["mistral", "embeddings", "https://api.mistral.ai/v1/embeddings"],
    ["fireworks", "embeddings", "https://api.fireworks.ai/inference/v1/embeddings"],
    ["openrouter", "embeddings", "https://openrouter.ai/api/v1/embeddings"],
    ["together", "embeddings", "https://api.together.xyz/v1/embeddings"],
    ["cohere", "cohere-embed", "https://api.cohere.ai/v2/embed"],
    ["voyage", "embeddings", "https://api.voyageai.com/v1/embeddings"],
  ];
  for (const [name, dialect, url] of endpoints)
    test(`${name} embeds in the dialect ${dialect} at ${url}`, () => {
      const { baseUrl, embeds } = providerOf(name);
      const endpoint = embeds![dialect]!;
      expect(`${baseUrl}${typeof endpoint === "string" ? endpoint : endpoint.path}`).toBe(url);
    });
});

describe("bare model names", () => {
  const owners: [string, string | undefined][] = [
    ["gpt-4o-mini", "openai"],
    ["gpt-5.6", "openai"],
    ["chatgpt-4o-latest", "openai"],
    ["codex-mini-latest", "openai"],
    ["o3-mini", "openai"],
    ["o1", "openai"],
    ["o4-mini-2025-04-16", "openai"],
    ["ft:gpt-4o-mini:acme::abc", "openai"],
    ["claude-sonnet-4-6", "anthropic"],
    ["claude-haiku-4-5-20251001", "anthropic"],
    ["deepseek-v4-pro", "deepseek"],
    ["mistral-large-latest", "mistral"],
    ["codestral-latest", "mistral"],
    ["magistral-medium-latest", "mistral"],
    ["open-mixtral-8x22b", "mistral"],
    ["gemini-3.5-flash", "gemini"],
    ["gemma-3-27b-it", "gemini"],
    ["grok-4", "xai"],
    ["sonar-pro", "perplexity"],
    ["kimi-k2.6", "moonshot"],
    ["qwen-plus", "qwen"],
    ["qwen3-max", "qwen"],
    ["glm-5.3", "zhipu"],
    ["MiniMax-M3", "minimax"],
    ["command-a-03-2025", "cohere"],
    ["qwen3-32b", undefined],
    ["qwen2.5-coder:7b", undefined],
    ["text-embedding-3-small", "openai"],
    ["text-embedding-ada-002", "openai"],
    ["mistral-embed", "mistral"],
    ["gemini-embedding-001", "gemini"],
    ["voyage-3.5", "voyage"],
    ["pplx-embed-v1-0.6b", "perplexity"],
    ["embed-v4.0", "cohere"],
    ["embed-multilingual-v3.0", "cohere"],
    ["llama-3.3-70b-versatile", undefined],
    ["qwen3", undefined],
    ["openai", undefined],
  ];
  for (const [model, owner] of owners)
    test(`${model} ${owner ? `belongs to ${owner}` : "belongs to nobody"}`, () => {
      const found = declarative
        .flatMap((plugin) => plugin.providers!)
        .filter((provider) => provider.models!.some((pattern) => compilePattern(pattern).test(model)));
      expect(found.map((provider) => provider.name)).toEqual(owner ? [owner] : []);
    });

  test("no two hosts claim the same name without its prefix", () => {
    const patterns = declarative.flatMap((plugin) => plugin.providers!.flatMap((one) => one.models!));
    expect(new Set(patterns).size).toBe(patterns.length);
  });
});

test("only Anthropic is sent a version, and only as a default", () => {
  expect(providerOf("anthropic").headers).toEqual({ "anthropic-version": "2023-06-01" });
  for (const plugin of declarative.filter((one) => one.name !== "anthropic"))
    expect(plugin.providers![0]!.headers).toBeUndefined();
});

test("Hosts of Anthropic's dialect and Google get the credential in headers of their own, all others as a bearer token", () => {
  const own = ["anthropic", "gemini", "minimax"];
  expect(providerOf("anthropic").auth).toBe("x-api-key");
  const { auth } = providerOf("gemini");
  expect(typeof auth === "function" && auth("k")).toEqual({ "x-goog-api-key": "k" });
  for (const plugin of declarative.filter(({ name }) => !own.includes(name)))
    expect(plugin.providers![0]!.auth).toBeUndefined();
});
