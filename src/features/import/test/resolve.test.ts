/** Where the names of imported configs lead: provider, deployment, URL, the provider's name of the model, order and share. */
import { describe, expect, test } from "bun:test";
import { builtIn } from "../../../../plugins/index.ts";
import { NAMES as PORTKEY_NAMES } from "../portkey/targets.ts";
import { KEY_VARIABLES, PREFIXES } from "../litellm/vendors.ts";
import { describePlan } from "../../../gateway/routing/plan.ts";
import { fixtures, importFixture, importText, load } from "./imported.ts";

/** `deployment model url role priority×weight` of each target of a name. */
async function planOf(fixture: string, name: string): Promise<string[]> {
  const found = fixtures.find((one) => one.name === fixture);
  const { registry } = await load(importFixture(found!));
  return describePlan(registry.plan(name, "chat-completions")).map(
    ({ deployment, model, url, role, priority, weight }) =>
      `${role} ${deployment} ${model} ${url} ${priority.replace(/\.0$/, "")}x${weight}`,
  );
}

const AZURE = "openai/deployments";
const VERSION = "chat/completions?api-version=2024-10-21";

const rows: [fixture: string, name: string, plan: string[]][] = [
  [
    "litellm/two-models.yaml",
    "gpt-4o",
    ["target openai gpt-4o https://api.openai.com/v1/chat/completions 0x1"],
  ],
  [
    "litellm/balanced-azure.yaml",
    "gpt-4o",
    [
      `target azure-dated/acme-us gpt-4o-us https://acme-us.openai.azure.com/${AZURE}/gpt-4o-us/${VERSION} 0x3`,
      `target azure-dated/acme-eu gpt-4o-eu https://acme-eu.openai.azure.com/${AZURE}/gpt-4o-eu/${VERSION} 0x1`,
    ],
  ],
  [
    "litellm/same-name-two-regions.yaml",
    "gpt-4o-us",
    [`target azure-dated-acme-us gpt-4o https://acme-us.openai.azure.com/${AZURE}/gpt-4o/${VERSION} 0x1`],
  ],
  [
    "litellm/same-name-two-regions.yaml",
    "gpt-4o",
    [
      `target azure-dated/acme-eu gpt-4o https://acme-eu.openai.azure.com/${AZURE}/gpt-4o/${VERSION} 0x9`,
      `target azure-dated-acme-us gpt-4o https://acme-us.openai.azure.com/${AZURE}/gpt-4o/${VERSION} 0x1`,
    ],
  ],
  [
    "litellm/bedrock-vertex.yaml",
    "nova",
    [
      "target bedrock/us-east-1-2 us.amazon.nova-pro-v1:0 https://bedrock-runtime.us-east-1.amazonaws.com/model/us.amazon.nova-pro-v1%3A0/converse 0x1",
    ],
  ],
  [
    "litellm/fallbacks-and-settings.yaml",
    "gpt-4",
    [
      "target openai gpt-4o https://api.openai.com/v1/chat/completions 0x1",
      "fallback anthropic claude-sonnet-4-5 https://api.anthropic.com/v1/messages 0x1",
      "fallback gemini gemini-2.5-pro https://generativelanguage.googleapis.com/v1beta/models/gemini-2.5-pro:generateContent 0x1",
      "larger gemini gemini-2.5-pro https://generativelanguage.googleapis.com/v1beta/models/gemini-2.5-pro:generateContent 0x1",
    ],
  ],
  [
    "litellm/wildcards.yaml",
    "together_ai/deepseek-ai/DeepSeek-V3",
    ["target together deepseek-ai/DeepSeek-V3 https://api.together.xyz/v1/chat/completions 0x1"],
  ],
  [
    "bifrost/clouds.json",
    "azure/gpt-4o",
    [
      "target azure/azure-us prod-4o https://acme-us.openai.azure.com/openai/v1/chat/completions 0x1",
      "target azure/azure-eu prod-4o https://acme-eu.openai.azure.com/openai/v1/chat/completions 0x1",
    ],
  ],
  [
    "bifrost/keys-with-models.json",
    "openai/gpt-4o",
    [
      "target openai/team-a gpt-4o https://api.openai.com/v1/chat/completions 0x7",
      "target openai/team-b gpt-4o https://api.openai.com/v1/chat/completions 0x3",
    ],
  ],
  [
    "bifrost/keys-with-models.json",
    "openai/gpt-5",
    ["target openai/team-b gpt-5 https://api.openai.com/v1/chat/completions 0x3"],
  ],
  [
    "bifrost/local-and-custom.json",
    "sgl/qwen3",
    ["target sglang qwen3 http://gpu-1:30000/v1/chat/completions 0x1"],
  ],
  [
    "ccr/all-scenarios.json5",
    "claude-opus-5-5",
    [
      "target openrouter anthropic/claude-sonnet-4 https://openrouter.ai/api/v1/chat/completions 0x1",
      "larger openrouter google/gemini-2.5-pro https://openrouter.ai/api/v1/chat/completions 0x1",
    ],
  ],
  [
    "ccr/two-accounts.json",
    "claude-haiku-4-5",
    ["target openrouter-or-home anthropic/claude-sonnet-4 https://openrouter.ai/api/v1/chat/completions 0x1"],
  ],
  [
    "portkey/nested.json",
    "whatever",
    [
      "target openai gpt-4o https://api.openai.com/v1/chat/completions 0x7",
      "target gemini gemini-2.5-pro https://generativelanguage.googleapis.com/v1beta/models/gemini-2.5-pro:generateContent 0x3",
      "target bedrock us.anthropic.claude-sonnet-4-6 https://bedrock-runtime.us-east-1.amazonaws.com/model/us.anthropic.claude-sonnet-4-6/invoke 1x1",
    ],
  ],
  [
    "portkey/conditional.json",
    "best",
    ["target anthropic claude-opus-5-5 https://api.anthropic.com/v1/messages 0x1"],
  ],
  [
    "portkey/loadbalance.json",
    "gpt-5",
    [
      "target openai/target-1 gpt-5 https://api.openai.com/v1/chat/completions 0x3",
      "target openai/target-2 gpt-5 https://api.openai.com/v1/chat/completions 0x1",
    ],
  ],
];

test.each(rows)("%s: %s", async (fixture, name, plan) => {
  expect(await planOf(fixture, name)).toEqual(plan);
});

describe("the tables of names", () => {
  const known = new Set(builtIn.flatMap(({ providers = [] }) => providers.map(({ name }) => name)));

  test("lead to providers that weir has", () => {
    expect(
      [...Object.values(PREFIXES), ...Object.values(PORTKEY_NAMES)].filter((name) => !known.has(name)),
    ).toEqual([]);
    expect(Object.keys(KEY_VARIABLES).filter((prefix) => !PREFIXES[prefix])).toEqual([]);
  });

  test("every provider of LiteLLM in the table gives a config that loads", async () => {
    const model_list = Object.keys(PREFIXES).map((prefix) => ({
      model_name: `from-${prefix}`,
      litellm_params: { model: `${prefix}/some-model`, api_key: "literal-key-0123", api_base: undefined },
    }));
    const imported = importText("litellm", JSON.stringify({ model_list }));
    const { config } = await load(imported);
    expect(Object.keys(config.aliases).length).toBe(model_list.length);
  });
});
