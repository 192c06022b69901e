/** Each company's quirk: the body as the codec wrote it, and as the company takes it. */
import { describe, expect, test } from "bun:test";
import { builtIn } from "../../plugins/index.ts";
import { Attempt, Call } from "../../src/core/call.ts";
import type { JsonObject } from "../../src/core/json.ts";
import type { ActiveProvider } from "../../src/core/provider.ts";
import { variablesOf } from "../../src/gateway/routing/endpoint.ts";
import { viewOf } from "../../src/gateway/plugins/call-view.ts";
import { makeRequest } from "../formats/messages/make.ts";
import { withPaths } from "../helpers/client-paths.ts";

interface Quirk {
  what: string;
  provider: string;
  model: string;
  /** Default chat-completions. */
  format?: string;
  /** Default messages: a client whose request was translated. */
  client?: string;
  /** Of the client. */
  headers?: Record<string, string>;
  body: JsonObject;
  patched: JsonObject;
  losses?: string[];
}

const named = { type: "function", function: { name: "b" } };
const tools = ["a", "b"].map((name) => ({ type: "function", function: { name } }));

const QUIRKS: Quirk[] = [
  {
    what: "groq: an effort GPT-OSS knows stays",
    provider: "groq",
    model: "openai/gpt-oss-120b",
    body: { reasoning_effort: "high" },
    patched: { reasoning_effort: "high" },
  },
  {
    what: "groq: GPT-OSS cannot stop reasoning",
    provider: "groq",
    model: "openai/gpt-oss-20b",
    body: { reasoning_effort: "none" },
    patched: { reasoning_effort: "low" },
    losses: ["clamped:output_config.effort"],
  },
  {
    what: "groq: Qwen only knows on and off",
    provider: "groq",
    model: "qwen/qwen3-32b",
    body: { reasoning_effort: "high" },
    patched: { reasoning_effort: "default" },
  },
  {
    what: "groq: off is off for Qwen",
    provider: "groq",
    model: "qwen/qwen3-32b",
    body: { reasoning_effort: "none" },
    patched: { reasoning_effort: "none" },
  },
  {
    what: "groq: Llama takes no effort at all",
    provider: "groq",
    model: "llama-3.3-70b-versatile",
    client: "chat-completions",
    body: { reasoning_effort: "medium", max_completion_tokens: 5 },
    patched: { max_completion_tokens: 5 },
    losses: ["dropped:reasoning_effort"],
  },
  {
    what: "groq: without an effort there is nothing to do",
    provider: "groq",
    model: "llama-3.3-70b-versatile",
    body: { temperature: 0 },
    patched: { temperature: 0 },
  },
  {
    what: "deepseek: a forced tool switches thinking off",
    provider: "deepseek",
    model: "deepseek-v4-pro",
    body: { tool_choice: "required", tools },
    patched: { tool_choice: "required", tools, thinking: { type: "disabled" } },
  },
  {
    what: "deepseek: an effort beside a forced tool is lost",
    provider: "deepseek",
    model: "deepseek-v4-pro",
    body: { tool_choice: named, tools, reasoning_effort: "high" },
    patched: { tool_choice: named, tools, thinking: { type: "disabled" } },
    losses: ["dropped:output_config.effort"],
  },
  {
    what: "deepseek: a thinking that was asked for by name stays",
    provider: "deepseek",
    model: "deepseek-v4-pro",
    body: { tool_choice: "required", tools, thinking: { type: "enabled" } },
    patched: { tool_choice: "required", tools, thinking: { type: "enabled" } },
  },
  {
    what: "deepseek: a free choice leaves thinking alone",
    provider: "deepseek",
    model: "deepseek-v4-pro",
    body: { tool_choice: "auto", tools, reasoning_effort: "high" },
    patched: { tool_choice: "auto", tools, reasoning_effort: "high" },
  },
  {
    what: "deepseek: its messages endpoint takes forced tools",
    provider: "deepseek",
    model: "deepseek-v4-pro",
    format: "messages",
    body: { tool_choice: { type: "any" } },
    patched: { tool_choice: { type: "any" } },
  },
  {
    what: "mistral: unknown fields are refused, seed has another name",
    provider: "mistral",
    model: "mistral-large-latest",
    body: { user: "u", seed: 7, max_tokens: 5 },
    patched: { random_seed: 7, max_tokens: 5 },
    losses: ["dropped:metadata.user_id"],
  },
  {
    what: "mistral: high and none are the only efforts",
    provider: "mistral",
    model: "mistral-small-latest",
    body: { reasoning_effort: "low" },
    patched: { reasoning_effort: "high" },
    losses: ["clamped:output_config.effort"],
  },
  {
    what: "mistral: off is off",
    provider: "mistral",
    model: "mistral-medium-latest",
    body: { reasoning_effort: "none" },
    patched: { reasoning_effort: "none" },
  },
  {
    what: "mistral: Magistral takes no effort",
    provider: "mistral",
    model: "magistral-medium-latest",
    body: { reasoning_effort: "high" },
    patched: {},
    losses: ["dropped:output_config.effort"],
  },
  {
    what: "xai: Grok 4 takes no effort",
    provider: "xai",
    model: "grok-4-0709",
    body: { reasoning_effort: "high", temperature: 1 },
    patched: { temperature: 1 },
    losses: ["dropped:output_config.effort"],
  },
  {
    what: "xai: Grok 4.3 takes an effort",
    provider: "xai",
    model: "grok-4.3",
    body: { reasoning_effort: "high" },
    patched: { reasoning_effort: "high" },
  },
  {
    what: "xai: Grok 3 mini takes an effort",
    provider: "xai",
    model: "grok-3-mini",
    body: { reasoning_effort: "low" },
    patched: { reasoning_effort: "low" },
  },
  {
    what: "xai: its larger sister does not",
    provider: "xai",
    model: "grok-3",
    client: "chat-completions",
    body: { reasoning_effort: "low" },
    patched: {},
    losses: ["dropped:reasoning_effort"],
  },
  {
    what: "lmstudio: a named tool is forced by offering only it",
    provider: "lmstudio",
    model: "zai-org/glm-4.7-flash",
    body: { tool_choice: named, tools },
    patched: { tool_choice: "required", tools: [tools[1]!] },
  },
  {
    what: "lmstudio: plain JSON is a schema of any object",
    provider: "lmstudio",
    model: "zai-org/glm-4.7-flash",
    body: { response_format: { type: "json_object" } },
    patched: {
      response_format: { type: "json_schema", json_schema: { name: "object", schema: { type: "object" } } },
    },
  },
  {
    what: "perplexity: a model that does not reason takes no effort",
    provider: "perplexity",
    model: "sonar-pro",
    body: { reasoning_effort: "high" },
    patched: {},
    losses: ["dropped:output_config.effort"],
  },
  ...["sonar-deep-research", "sonar-reasoning-pro"].map((model) => ({
    what: `perplexity: ${model} does`,
    provider: "perplexity",
    model,
    body: { reasoning_effort: "high" },
    patched: { reasoning_effort: "high" },
  })),
  {
    what: "nvidia: a name without its maker is one of NVIDIA's own",
    provider: "nvidia",
    model: "nemotron-3",
    body: { model: "nemotron-3" },
    patched: { model: "nvidia/nemotron-3" },
  },
  {
    what: "nvidia: a name with its maker stays",
    provider: "nvidia",
    model: "meta/llama-3.3-70b-instruct",
    body: { model: "meta/llama-3.3-70b-instruct" },
    patched: { model: "meta/llama-3.3-70b-instruct" },
  },
  {
    what: "moonshot: models with fixed sampling refuse other values",
    provider: "moonshot",
    model: "kimi-k2.6",
    body: { temperature: 0, top_p: 0.5, presence_penalty: null },
    patched: { presence_penalty: null },
    losses: ["dropped:temperature", "dropped:top_p"],
  },
  {
    what: "moonshot: older models take a temperature up to 1",
    provider: "moonshot",
    model: "moonshot-v1-128k",
    client: "chat-completions",
    body: { temperature: 1.5 },
    patched: { temperature: 1 },
    losses: ["clamped:temperature"],
  },
  {
    what: "moonshot: off is off",
    provider: "moonshot",
    model: "kimi-k2.5",
    body: { reasoning_effort: "none" },
    patched: { thinking: { type: "disabled" } },
    losses: ["converted:output_config.effort"],
  },
  {
    what: "moonshot: reasoning has no degrees",
    provider: "moonshot",
    model: "kimi-k2.5",
    body: { reasoning_effort: "low" },
    patched: { thinking: { type: "enabled" } },
    losses: ["converted:output_config.effort"],
  },
  {
    what: "moonshot: older models have no switch",
    provider: "moonshot",
    model: "kimi-k2-thinking",
    body: { reasoning_effort: "high" },
    patched: {},
    losses: ["dropped:output_config.effort"],
  },
  {
    what: "qwen: an effort is a budget",
    provider: "qwen",
    model: "qwen-plus",
    body: { reasoning_effort: "low" },
    patched: { enable_thinking: true, thinking_budget: 4096 },
    losses: ["converted:output_config.effort"],
  },
  {
    what: "qwen: the highest efforts have no budget",
    provider: "qwen",
    model: "qwen-plus",
    body: { reasoning_effort: "xhigh" },
    patched: { enable_thinking: true },
    losses: ["converted:output_config.effort"],
  },
  {
    what: "qwen: off is off",
    provider: "qwen",
    model: "qwen-plus",
    body: { reasoning_effort: "none" },
    patched: { enable_thinking: false },
    losses: ["converted:output_config.effort"],
  },
  {
    what: "qwen: open models cannot reason outside a stream",
    provider: "qwen",
    model: "qwen3-235b-a22b",
    body: { reasoning_effort: "high" },
    patched: { enable_thinking: false },
    losses: ["converted:output_config.effort", "dropped:output_config.effort"],
  },
  {
    what: "qwen: open models must be told not to reason outside a stream",
    provider: "qwen",
    model: "qwen3-32b",
    body: {},
    patched: { enable_thinking: false },
  },
  {
    what: "qwen: in a stream they reason",
    provider: "qwen",
    model: "qwen3-32b",
    body: { stream: true, reasoning_effort: "medium" },
    patched: { stream: true, enable_thinking: true, thinking_budget: 10_000 },
    losses: ["converted:output_config.effort"],
  },
  {
    what: "zhipu: older models can only switch",
    provider: "zhipu",
    model: "glm-4.7",
    body: { reasoning_effort: "low" },
    patched: { thinking: { type: "enabled" } },
    losses: ["converted:output_config.effort"],
  },
  {
    what: "zhipu: off is off",
    provider: "zhipu",
    model: "glm-4.7",
    body: { reasoning_effort: "none" },
    patched: { thinking: { type: "disabled" } },
    losses: ["converted:output_config.effort"],
  },
  {
    what: "zhipu: newer models have three efforts",
    provider: "zhipu",
    model: "glm-5.3",
    body: { reasoning_effort: "xhigh" },
    patched: { reasoning_effort: "max" },
    losses: ["clamped:output_config.effort"],
  },
  {
    what: "zhipu: and cannot stop reasoning",
    provider: "zhipu",
    model: "glm-5.3",
    body: { reasoning_effort: "none" },
    patched: { reasoning_effort: "low" },
    losses: ["clamped:output_config.effort"],
  },
  {
    what: "zhipu: penalties are unknown",
    provider: "zhipu",
    model: "glm-5.3",
    client: "chat-completions",
    body: { presence_penalty: 1, frequency_penalty: null },
    patched: { frequency_penalty: null },
    losses: ["dropped:presence_penalty"],
  },
  {
    what: "minimax: what it ignores is reported, and its lowest temperature is above zero",
    provider: "minimax",
    model: "MiniMax-M3",
    format: "messages",
    client: "chat-completions",
    body: { temperature: 0, stop_sequences: ["END"], top_k: 5 },
    patched: { temperature: 0.01 },
    losses: ["dropped:top_k", "dropped:stop", "clamped:temperature"],
  },
  {
    what: "minimax: another temperature stays",
    provider: "minimax",
    model: "MiniMax-M3",
    format: "messages",
    body: { temperature: 0.5 },
    patched: { temperature: 0.5 },
  },
  {
    what: "cohere: high is the only effort besides none",
    provider: "cohere",
    model: "command-a-reasoning-08-2025",
    body: { reasoning_effort: "low" },
    patched: { reasoning_effort: "high" },
    losses: ["clamped:output_config.effort"],
  },
  {
    what: "cohere: none stays",
    provider: "cohere",
    model: "command-a-reasoning-08-2025",
    body: { reasoning_effort: "none" },
    patched: { reasoning_effort: "none" },
  },
  {
    what: "tgi: a schema is a grammar",
    provider: "tgi",
    model: "tgi",
    body: {
      response_format: { type: "json_schema", json_schema: { name: "n", schema: { type: "object" } } },
    },
    patched: { response_format: { type: "json", value: { type: "object" } } },
  },
  {
    what: "tgi: any JSON is a grammar of any object",
    provider: "tgi",
    model: "tgi",
    body: { response_format: { type: "json_object" } },
    patched: { response_format: { type: "json", value: { type: "object" } } },
  },
  {
    what: "tgi: its own grammars stay",
    provider: "tgi",
    model: "tgi",
    body: { response_format: { type: "regex", value: "a+" } },
    patched: { response_format: { type: "regex", value: "a+" } },
  },
  {
    what: "lmstudio: what it understands stays",
    provider: "lmstudio",
    model: "zai-org/glm-4.7-flash",
    body: { tool_choice: "required", tools, response_format: { type: "text" } },
    patched: { tool_choice: "required", tools, response_format: { type: "text" } },
  },
  {
    what: "bedrock: beta features move into the body, and what a dropped one allows is removed",
    provider: "bedrock",
    model: "us.anthropic.claude-sonnet-4-6",
    format: "messages",
    headers: {
      "anthropic-beta":
        "context-1m-2025-08-07, prompt-caching-scope-2026-01-05,fine-grained-tool-streaming-2025-05-14",
    },
    body: {
      anthropic_beta: ["effort-2025-11-24"],
      context_management: { edits: [] },
      system: [{ type: "text", text: "s", cache_control: { type: "ephemeral", scope: "global" } }],
      tools: [{ name: "a", eager_input_streaming: true, defer_loading: true }],
    },
    patched: {
      anthropic_beta: ["effort-2025-11-24", "context-1m-2025-08-07"],
      context_management: { edits: [] },
      system: [{ type: "text", text: "s", cache_control: { type: "ephemeral" } }],
      tools: [{ name: "a", defer_loading: true }],
    },
    losses: [
      "dropped:anthropic-beta",
      "dropped:tools[0].eager_input_streaming",
      "dropped:system[0].cache_control.scope",
    ],
  },
  {
    what: "vertex: scopes of cache marks are removed if the client uses their beta",
    provider: "vertex",
    model: "claude-opus-4-8",
    format: "messages",
    headers: { "anthropic-beta": "effort-2025-11-24,prompt-caching-scope-2026-01-05" },
    body: { tools: [{ name: "a", cache_control: { type: "ephemeral", scope: "global" } }] },
    patched: { tools: [{ name: "a", cache_control: { type: "ephemeral" } }] },
    losses: ["dropped:tools[0].cache_control.scope"],
  },
  ...["vertex", "bedrock", "bedrock-mantle"].map((provider) => ({
    what: `${provider}: labels for Anthropic's bills are removed`,
    provider,
    model: provider === "vertex" ? "claude-opus-4-8" : "us.anthropic.claude-sonnet-4-6",
    format: "messages",
    body: { tags: { team: "a" }, max_tokens: 5 },
    patched: { max_tokens: 5 },
    losses: ["dropped:tags"],
  })),
  {
    what: "bedrock: what no dropped beta allows stays, and there is no empty list of betas",
    provider: "bedrock",
    model: "us.anthropic.claude-sonnet-4-6",
    format: "messages",
    body: { tools: [{ name: "a", eager_input_streaming: true }] },
    patched: { tools: [{ name: "a", eager_input_streaming: true }] },
  },
  {
    what: "bedrock: a beta means nothing in the header of another client",
    provider: "bedrock",
    model: "us.anthropic.claude-sonnet-4-6",
    format: "messages",
    client: "chat-completions",
    headers: { "anthropic-beta": "context-1m-2025-08-07" },
    body: {},
    patched: {},
  },
];

function attemptFor({
  provider,
  model,
  format = "chat-completions",
  client = "messages",
  headers,
}: Quirk): Attempt {
  const plugin = builtIn.find((one) => one.name === provider)!;
  const baseUrl = "https://upstream.example";
  const variables = variablesOf({ provider: plugin.providers![0]!, settings: {}, deployment: {} });
  const deployment = { name: provider, baseUrl, variables, credentials: {}, weight: 1, priority: 0 };
  const active: ActiveProvider = {
    ...plugin.providers![0]!,
    deployments: [deployment],
    source: "built-in",
    patterns: [],
  };
  const call = new Call("req_test", client, new Headers(headers));
  const target = { provider: active, deployment, model, lane: "translated" as const, format };
  const attempt = new Attempt(call, { ...target, url: "", reason: "" });
  attempt.request = withPaths(makeRequest(), client);
  return attempt;
}

describe("a patch fits the body to its host", () => {
  for (const quirk of QUIRKS)
    test(quirk.what, () => {
      const attempt = attemptFor(quirk);
      const body = structuredClone(quirk.body);
      attempt.target.provider.patch!(body, viewOf(attempt));
      expect(body).toEqual(quirk.patched);
      expect(attempt.losses.map((loss) => `${loss.code}:${loss.path}`)).toEqual(quirk.losses ?? []);
    });

  test("a budget that is lost is named as the client wrote it", () => {
    const attempt = attemptFor({ ...QUIRKS[0]!, provider: "xai", model: "grok-4" });
    attempt.request!.reasoning = { mode: "budget", budget: 2000 };
    attempt.target.provider.patch!({ reasoning_effort: "low" }, viewOf(attempt));
    expect(attempt.losses).toMatchObject([{ code: "dropped", path: "thinking" }]);
  });

  test("every patch has one here", () => {
    const patching = builtIn.filter((plugin) => plugin.providers?.some((provider) => provider.patch));
    expect(patching.map((plugin) => plugin.name).sort()).toEqual(
      [...new Set(QUIRKS.map((quirk) => quirk.provider))].sort(),
    );
  });
});
