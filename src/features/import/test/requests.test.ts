/**
 * What weir asks for `model` and `api_base` of LiteLLM, as the documentation of vendors has them, beside what LiteLLM asks: a
 * leaf is taken over only if both are the same.
 */
import { describe, expect, test } from "bun:test";
import { describePlan } from "../../../gateway/routing/plan.ts";
import { usualAddress } from "../hosts.ts";
import { importText, load, verified } from "./imported.ts";

type Row = readonly [model: string, base: string | undefined, url: string];

/** One row a line; `-` stands for no `api_base`. */
function rowsOf(text: string): Row[] {
  return text
    .trim()
    .split("\n")
    .map((line) => {
      const [model, base, url] = line.split(" ");
      return [model!, base === "-" ? undefined : base, url!];
    });
}

const SAME = rowsOf(`
openai/gemini-2.5-pro https://generativelanguage.googleapis.com/v1beta/openai/ https://generativelanguage.googleapis.com/v1beta/openai/chat/completions
gemini/gemini-2.5-pro https://generativelanguage.googleapis.com/v1beta https://generativelanguage.googleapis.com/v1beta/models/gemini-2.5-pro:generateContent
gemini/gemini-2.5-pro https://generativelanguage.googleapis.com https://generativelanguage.googleapis.com/models/gemini-2.5-pro:generateContent
gemini/gemini-2.5-pro - https://generativelanguage.googleapis.com/v1beta/models/gemini-2.5-pro:generateContent
gemini/gemini-2.5-pro https://proxy.example/gemini https://proxy.example/gemini/models/gemini-2.5-pro:generateContent
gemini/gemini-2.5-pro https://proxy.example/gemini/v1beta https://proxy.example/gemini/v1beta/models/gemini-2.5-pro:generateContent
anthropic/glm-4.6 https://api.z.ai/api/anthropic https://api.z.ai/api/anthropic/v1/messages
anthropic/kimi-k2 https://api.moonshot.ai/anthropic https://api.moonshot.ai/anthropic/v1/messages
anthropic/MiniMax-M2 https://api.minimax.io/anthropic https://api.minimax.io/anthropic/v1/messages
anthropic/deepseek-chat https://api.deepseek.com/anthropic https://api.deepseek.com/anthropic/v1/messages
anthropic/qwen3-max https://dashscope-intl.aliyuncs.com/apps/anthropic https://dashscope-intl.aliyuncs.com/apps/anthropic/v1/messages
openai/MiniMax-M2 https://api.minimax.io/v1 https://api.minimax.io/v1/chat/completions
openai/command-a-03-2025 https://api.cohere.ai/compatibility/v1 https://api.cohere.ai/compatibility/v1/chat/completions
openai/gpt-4o https://api.openai.com/v1 https://api.openai.com/v1/chat/completions
openai/gpt-4o https://eu.api.openai.com/v1 https://eu.api.openai.com/v1/chat/completions
openai/deepseek-chat https://api.deepseek.com https://api.deepseek.com/chat/completions
openai/deepseek-chat https://api.deepseek.com/beta https://api.deepseek.com/beta/chat/completions
deepseek/deepseek-chat https://api.deepseek.com/beta https://api.deepseek.com/beta/chat/completions
openai/mistral-large-latest https://api.mistral.ai/v1 https://api.mistral.ai/v1/chat/completions
mistral/mistral-large-latest https://api.mistral.ai/v1 https://api.mistral.ai/v1/chat/completions
codestral/codestral-latest - https://codestral.mistral.ai/v1/chat/completions
openai/codestral-latest https://codestral.mistral.ai/v1 https://codestral.mistral.ai/v1/chat/completions
openai/grok-4 https://api.x.ai/v1 https://api.x.ai/v1/chat/completions
openai/llama-3.3-70b-versatile https://api.groq.com/openai/v1 https://api.groq.com/openai/v1/chat/completions
openai/llama3.1-8b https://api.cerebras.ai/v1 https://api.cerebras.ai/v1/chat/completions
openai/accounts/fireworks/models/deepseek-v3 https://api.fireworks.ai/inference/v1 https://api.fireworks.ai/inference/v1/chat/completions
openai/meta-llama/Llama-3.3-70B https://api.together.xyz/v1 https://api.together.xyz/v1/chat/completions
openai/anthropic/claude-sonnet-4 https://openrouter.ai/api/v1 https://openrouter.ai/api/v1/chat/completions
openrouter/anthropic/claude-sonnet-4 https://openrouter.ai/api/v1 https://openrouter.ai/api/v1/chat/completions
openai/sonar-pro https://api.perplexity.ai https://api.perplexity.ai/chat/completions
openai/meta/llama-3.3-70b-instruct https://integrate.api.nvidia.com/v1 https://integrate.api.nvidia.com/v1/chat/completions
nvidia_nim/meta/llama-3.3-70b-instruct https://integrate.api.nvidia.com/v1/ https://integrate.api.nvidia.com/v1/chat/completions
openai/Meta-Llama-3.3-70B https://api.sambanova.ai/v1 https://api.sambanova.ai/v1/chat/completions
openai/meta-llama/Llama-3.3-70B https://router.huggingface.co/v1 https://router.huggingface.co/v1/chat/completions
openai/openai/gpt-4o https://models.github.ai/inference https://models.github.ai/inference/chat/completions
openai/gpt-4o https://models.inference.ai.azure.com https://models.inference.ai.azure.com/chat/completions
openai/kimi-k2-0905-preview https://api.moonshot.ai/v1 https://api.moonshot.ai/v1/chat/completions
openai/kimi-k2-0905-preview https://api.moonshot.cn/v1 https://api.moonshot.cn/v1/chat/completions
openai/qwen-plus https://dashscope.aliyuncs.com/compatible-mode/v1 https://dashscope.aliyuncs.com/compatible-mode/v1/chat/completions
openai/qwen-plus https://dashscope-intl.aliyuncs.com/compatible-mode/v1 https://dashscope-intl.aliyuncs.com/compatible-mode/v1/chat/completions
openai/qwen-plus https://dashscope-us.aliyuncs.com/compatible-mode/v1 https://dashscope-us.aliyuncs.com/compatible-mode/v1/chat/completions
openai/glm-4.6 https://api.z.ai/api/paas/v4 https://api.z.ai/api/paas/v4/chat/completions
openai/glm-4.6 https://api.z.ai/api/coding/paas/v4 https://api.z.ai/api/coding/paas/v4/chat/completions
openai/glm-4.6 https://open.bigmodel.cn/api/paas/v4/ https://open.bigmodel.cn/api/paas/v4/chat/completions
zai/glm-4.6 https://api.z.ai/api/coding/paas/v4 https://api.z.ai/api/coding/paas/v4/chat/completions
zai/glm-4.6 - https://api.z.ai/api/paas/v4/chat/completions
openai/deepseek-ai/DeepSeek-V3 https://inference.baseten.co/v1 https://inference.baseten.co/v1/chat/completions
openai/meta-llama/Llama-3.3-70B https://api.deepinfra.com/v1/openai https://api.deepinfra.com/v1/openai/chat/completions
openai/deepseek/deepseek-v3 https://api.novita.ai/openai/v1 https://api.novita.ai/openai/v1/chat/completions
openai/deepseek/deepseek-v3 https://api.novita.ai/v3/openai https://api.novita.ai/v3/openai/chat/completions
openai/doubao-seed https://ark.cn-beijing.volces.com/api/v3 https://ark.cn-beijing.volces.com/api/v3/chat/completions
openai/qwen3 https://api.siliconflow.cn/v1 https://api.siliconflow.cn/v1/chat/completions
openai/qwen3 http://localhost:11434/v1 http://localhost:11434/v1/chat/completions
openai/qwen3 http://localhost:1234/v1 http://localhost:1234/v1/chat/completions
lm_studio/qwen3 http://localhost:1234/v1 http://localhost:1234/v1/chat/completions
hosted_vllm/qwen3 http://gpu:8000/v1 http://gpu:8000/v1/chat/completions
hosted_vllm/qwen3 http://gpu:8000 http://gpu:8000/chat/completions
openai/qwen3 http://gpu:8000 http://gpu:8000/chat/completions
azure/my-4o https://acme.openai.azure.com/ https://acme.openai.azure.com/openai/deployments/my-4o/chat/completions?api-version=2024-10-21
azure/my-4o https://acme.services.ai.azure.com https://acme.services.ai.azure.com/openai/deployments/my-4o/chat/completions?api-version=2024-10-21
openai/my-4o https://acme.openai.azure.com/openai/v1/ https://acme.openai.azure.com/openai/v1/chat/completions
azure_ai/mistral-large https://mistral-large.eastus2.models.ai.azure.com https://mistral-large.eastus2.models.ai.azure.com/chat/completions
azure_ai/mistral-large https://mistral-large.eastus2.models.ai.azure.com/v1 https://mistral-large.eastus2.models.ai.azure.com/v1/chat/completions
azure_ai/claude-sonnet-4-5 https://acme.services.ai.azure.com/anthropic https://acme.services.ai.azure.com/anthropic/v1/messages
anthropic/claude-sonnet-4-5 https://api.anthropic.com https://api.anthropic.com/v1/messages
anthropic/claude-sonnet-4-5 https://proxy.example/anthropic https://proxy.example/anthropic/v1/messages
anthropic/claude-sonnet-4-5 https://api.anthropic.com/v1/messages https://api.anthropic.com/v1/messages
openai/claude-sonnet-4-5 https://api.anthropic.com/v1 https://api.anthropic.com/v1/chat/completions
openai/claude-sonnet-4-5 https://api.anthropic.com/v1/ https://api.anthropic.com/v1/chat/completions
minimax/MiniMax-M2 https://api.minimax.io/v1 https://api.minimax.io/v1/chat/completions
dashscope/qwen-plus - https://dashscope.aliyuncs.com/compatible-mode/v1/chat/completions
moonshot/kimi-k2 https://api.moonshot.cn/v1 https://api.moonshot.cn/v1/chat/completions
fireworks_ai/deepseek-v3 - https://api.fireworks.ai/inference/v1/chat/completions
perplexity/sonar - https://api.perplexity.ai/chat/completions
sambanova/x - https://api.sambanova.ai/v1/chat/completions
cerebras/llama3.1-8b - https://api.cerebras.ai/v1/chat/completions
deepinfra/meta-llama/Llama - https://api.deepinfra.com/v1/openai/chat/completions
baseten/deepseek-ai/DeepSeek-V3 - https://inference.baseten.co/v1/chat/completions
xai/grok-4 - https://api.x.ai/v1/chat/completions
groq/llama - https://api.groq.com/openai/v1/chat/completions
litellm_proxy/gpt-4o http://other:4000 http://other:4000/chat/completions
litellm_proxy/gpt-4o http://other:4000/v1 http://other:4000/v1/chat/completions
openai/responses/gpt-5 - https://api.openai.com/v1/responses
custom_openai/foo https://api.example.com/v1 https://api.example.com/v1/chat/completions
llamafile/foo http://localhost:8080/v1 http://localhost:8080/v1/chat/completions
openai/google/gemini-2.5-pro https://us-central1-aiplatform.googleapis.com/v1/projects/p/locations/us-central1/endpoints/openapi https://us-central1-aiplatform.googleapis.com/v1/projects/p/locations/us-central1/endpoints/openapi/chat/completions
openai/gpt-4o https://gateway.ai.cloudflare.com/v1/abc/gw/openai https://gateway.ai.cloudflare.com/v1/abc/gw/openai/chat/completions
openai/gpt-4o https://ai-gateway.vercel.sh/v1 https://ai-gateway.vercel.sh/v1/chat/completions
openai/gpt-4o https://api.portkey.ai/v1 https://api.portkey.ai/v1/chat/completions
openai/llama https://api.studio.nebius.com/v1/ https://api.studio.nebius.com/v1/chat/completions
openai/llama https://api.hyperbolic.xyz/v1 https://api.hyperbolic.xyz/v1/chat/completions
openai/llama https://api.scaleway.ai/v1 https://api.scaleway.ai/v1/chat/completions
openai/llama https://api.lambda.ai/v1 https://api.lambda.ai/v1/chat/completions
openai/meta-llama https://oai.endpoints.kepler.ai.cloud.ovh.net/v1 https://oai.endpoints.kepler.ai.cloud.ovh.net/v1/chat/completions
openai/Llama-4 https://api.llama.com/compat/v1/ https://api.llama.com/compat/v1/chat/completions
openai/MiniMax-M2 https://api.minimaxi.com/v1 https://api.minimaxi.com/v1/chat/completions
anthropic/MiniMax-M2 https://api.minimaxi.com/anthropic https://api.minimaxi.com/anthropic/v1/messages
anthropic/kimi-k2 https://api.moonshot.cn/anthropic https://api.moonshot.cn/anthropic/v1/messages
anthropic/glm-4.6 https://open.bigmodel.cn/api/anthropic https://open.bigmodel.cn/api/anthropic/v1/messages
anthropic/kimi-for-coding https://api.kimi.com/coding/ https://api.kimi.com/coding/v1/messages
openai/kimi-for-coding https://api.kimi.com/coding/v1 https://api.kimi.com/coding/v1/chat/completions
anthropic/claude-sonnet-4-5 https://openrouter.ai/api https://openrouter.ai/api/v1/messages
perplexity/sonar https://api.perplexity.ai https://api.perplexity.ai/chat/completions
groq/llama https://api.groq.com/openai/v1 https://api.groq.com/openai/v1/chat/completions
xai/grok-4 https://us-east-1.api.x.ai/v1 https://us-east-1.api.x.ai/v1/chat/completions
openai/grok-4 https://eu-west-1.api.x.ai/v1 https://eu-west-1.api.x.ai/v1/chat/completions
`);

const DOCUMENTED = rowsOf(`
openai/command-a-03-2025 https://api.cohere.com/compatibility/v1 https://api.cohere.com/compatibility/v1/chat/completions
openai/deepseek-chat https://api.deepseek.com/v1 https://api.deepseek.com/v1/chat/completions
deepseek/deepseek-chat https://api.deepseek.com/v1 https://api.deepseek.com/v1/chat/completions
openai/meta-llama/Llama-3.3-70B https://api.together.ai/v1 https://api.together.ai/v1/chat/completions
together_ai/meta-llama/Llama-3.3-70B - https://api.together.ai/v1/chat/completions
`);

const OTHER = rowsOf(`
cohere_chat/command-a-03-2025 https://api.cohere.ai/v1/chat https://api.cohere.ai/v1/chat
cohere_chat/command-a-03-2025 https://api.cohere.com/v2/chat https://api.cohere.com/v2/chat
cohere/command-a-03-2025 - https://api.cohere.com/v2/chat
openai/gpt-4o https://api.openai.com https://api.openai.com/chat/completions
deepseek/deepseek-chat - https://api.deepseek.com/beta/chat/completions
github/gpt-4o - https://models.inference.ai.azure.com/chat/completions
novita/deepseek/deepseek-v3 - https://api.novita.ai/v3/openai/chat/completions
ollama/qwen3 http://localhost:11434 http://localhost:11434/api/generate
ollama_chat/qwen3 http://ollama:11434 http://ollama:11434/api/chat
ollama_chat/qwen3 - http://localhost:11434/api/chat
ollama/qwen3 - http://localhost:11434/api/generate
openai/gpt-oss https://gw.example/openai/deployments/x/chat/completions https://gw.example/openai/deployments/x/chat/completions/chat/completions
azure_ai/deepseek-r1 https://acme.services.ai.azure.com/models https://acme.services.ai.azure.com/models/chat/completions
azure_ai/deepseek-r1 https://acme.services.ai.azure.com https://acme.services.ai.azure.com/models/chat/completions
anthropic/claude-sonnet-4-5 https://api.anthropic.com/v1 https://api.anthropic.com/v1/v1/messages
minimax/MiniMax-M2 - https://api.minimax.io/v1/chat/completions
`);

const FORMATS = ["chat-completions", "messages", "responses", "gemini"];

/** The URLs that weir asks for a name in all formats of clients, and what the report says about `model` and `api_base`. */
async function importedAs(model: string, base: string | undefined) {
  const litellm_params = {
    ...{ model, api_key: "os.environ/SOME_KEY" },
    ...(base !== undefined && { api_base: base }),
    ...(model.startsWith("azure/") && { api_version: "2024-10-21" }),
  };
  const imported = importText(
    "litellm",
    JSON.stringify({ model_list: [{ model_name: "wanted", litellm_params }] }),
  );
  const { registry } = await load(imported);
  const urls = FORMATS.flatMap((format) =>
    describePlan(registry.plan("wanted", format)).map(({ url }) => url),
  );
  const { outcomes } = await verified(imported);
  const fates = outcomes
    .filter(({ path }) => /\.(model|api_base)$/.test(path))
    .map(({ path, fate }) => `${path.split(".").at(-1)} ${fate}`);
  return { urls, fates };
}

const wantedFates = (base: string | undefined, fate: string) =>
  base === undefined ? [`model ${fate}`] : [`model ${fate}`, `api_base ${fate}`];

describe("weir asks what LiteLLM asks", () => {
  test.each(SAME)("%s at %s", async (model, base, url) => {
    const { urls, fates } = await importedAs(model, base);
    expect(urls).toContain(url);
    const fate = model.includes("/responses/") ? "changed" : "taken";
    expect(fates).toEqual(wantedFates(base, fate));
  });
});

describe("weir asks the same API at another address of the vendor", () => {
  test.each(DOCUMENTED)("%s at %s", async (model, base, url) => {
    const { urls, fates } = await importedAs(model, base);
    expect(urls).toContain(usualAddress(url));
    expect(fates).toEqual(wantedFates(base, "taken"));
  });
});

describe("weir asks another API of the host, and the report says so", () => {
  test.each(OTHER)("%s at %s", async (model, base, url) => {
    const { urls, fates } = await importedAs(model, base);
    expect(urls).not.toContain(url);
    expect(fates).toEqual(wantedFates(base, "changed"));
  });
});
