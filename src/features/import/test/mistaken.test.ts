/** Configs whose parts weir does not send as the source does: they work, or the report says so. */
import { describe, expect, test } from "bun:test";
import { describePlan } from "../../../gateway/routing/plan.ts";
import { gatewayOf } from "../check.ts";
import { fillIn, verify } from "../verify.ts";
import { importText, load, verified } from "./imported.ts";

/** Imports a config, and shows what weir sends for some names: `deployment model url`. */
async function sent(source: string, config: object, names: readonly string[]) {
  const imported = await verified(importText(source, JSON.stringify(config)));
  const { registry } = await load(imported);
  const asked = names.map((name) => {
    try {
      const plan = describePlan(registry.plan(name, "chat-completions"));
      return plan.map(({ deployment, model, url }) => `${deployment} ${model} ${url}`);
    } catch {
      return "404";
    }
  });
  const fates = Object.fromEntries(imported.outcomes.map(({ path, fate }) => [path, fate]));
  return { ...imported, asked, fates };
}

describe("claude-code-router", () => {
  const plans = {
    Providers: [
      ["deepseek", "https://api.deepseek.com/anthropic/v1/messages", "deepseek-chat"],
      ["kimi", "https://api.moonshot.cn/anthropic/v1/messages", "kimi-k2"],
      ["zai", "https://api.z.ai/api/anthropic/v1/messages", "glm-4.6"],
    ].map(([name, api_base_url, model]) => ({
      ...{ name, api_base_url, api_key: `$${name!.toUpperCase()}_KEY`, models: [model] },
      transformer: { use: ["Anthropic"] },
    })),
    Router: { default: "zai,glm-4.6" },
  };

  test("addresses of Anthropic's format at other vendors stay as they are", async () => {
    const { registry } = await load(importText("ccr", JSON.stringify(plans)));
    const urls = ["deepseek,deepseek-chat", "kimi,kimi-k2", "zai,glm-4.6"].map(
      (name) => describePlan(registry.plan(name, "messages"))[0]!.url,
    );
    expect(urls).toEqual(plans.Providers.map(({ api_base_url }) => String(api_base_url)));
  });

  test("a name of it leads to the named model, and never to the default", async () => {
    const names = [
      "zai,glm-4.6",
      "kimi,kimi-k2",
      "kimi/kimi-k2",
      "zai,unknown",
      "nobody,gpt-5",
      "claude-opus-5-5",
    ];
    const { asked } = await sent("ccr", plans, names);
    expect(asked).toEqual([
      ["zai glm-4.6 https://api.z.ai/api/anthropic/v1/messages"],
      ["kimi kimi-k2 https://api.moonshot.cn/anthropic/v1/messages"],
      ["kimi kimi-k2 https://api.moonshot.cn/anthropic/v1/messages"],
      "404",
      "404",
      ["zai glm-4.6 https://api.z.ai/api/anthropic/v1/messages"],
    ]);
  });

  test("two platforms of one vendor with two keys share no calls", async () => {
    const provider = (name: string, host: string) => ({
      ...{ name, api_base_url: `https://${host}/api/paas/v4/chat/completions`, api_key: `$${name}_KEY` },
      models: ["glm-4.6"],
    });
    const Providers = [provider("GLM", "open.bigmodel.cn"), provider("ZAI", "api.z.ai")];
    const { asked } = await sent("ccr", { Providers }, [
      "GLM,glm-4.6",
      "ZAI,glm-4.6",
      "GLM/glm-5",
      "ZAI/glm-5",
    ]);
    expect(asked.map((plan) => [plan.length, plan[0]!.split(" ").at(-1)])).toEqual([
      [1, "https://open.bigmodel.cn/api/paas/v4/chat/completions"],
      [1, "https://api.z.ai/api/paas/v4/chat/completions"],
      [1, "https://open.bigmodel.cn/api/paas/v4/chat/completions"],
      [1, "https://api.z.ai/api/paas/v4/chat/completions"],
    ]);
  });
});

describe("Bifrost", () => {
  const custom = (base_url: string) => ({
    providers: {
      nvidia: {
        keys: ["A", "B"].map((name) => ({ name, value: `env.NV_${name}`, models: ["*"], weight: 1 })),
        network_config: { base_url },
        custom_provider_config: { base_provider_type: "openai" },
      },
    },
  });

  test("a custom provider at the address of a vendor is that vendor, with all its keys", async () => {
    const { asked, fates } = await sent("bifrost", custom("https://integrate.api.nvidia.com"), ["nvidia/x"]);
    const url = "https://integrate.api.nvidia.com/v1/chat/completions";
    expect(asked).toEqual([[`nvidia/a x ${url}`, `nvidia/b x ${url}`]]);
    expect(fates["providers.nvidia.network_config.base_url"]).toBe("taken");
  });

  test("a custom provider with the name of a vendor at another address keeps its address, name and keys", async () => {
    const { asked, fates } = await sent("bifrost", custom("https://nim.example"), ["nvidia/x"]);
    const url = "https://nim.example/v1/chat/completions";
    expect(asked).toEqual([[`nvidia-2/a x ${url}`, `nvidia-2/b x ${url}`]]);
    expect(fates["providers.nvidia.network_config.base_url"]).toBe("taken");
  });
});

describe("Portkey", () => {
  const targets = [
    { provider: "openai", api_key: "sk-a" },
    { provider: "anthropic", api_key: "sk-b" },
  ];

  test.each(["fallback", "loadbalance"])(
    "a target that gets no calls is not taken over: %s",
    async (mode) => {
      const { fates } = await sent("portkey", { strategy: { mode }, targets }, []);
      expect([
        fates["targets[0].provider"],
        fates["targets[1].provider"],
        fates["targets[1].api_key"],
      ]).toEqual(["taken", "none", "none"]);
    },
  );

  test("OpenAI and Azure share the models that weir knows by their names", async () => {
    const azure = {
      ...{ provider: "azure-openai", api_key: "az-key", azure_resource_name: "acme" },
      azure_api_version: "2024-10-21",
    };
    const config = { strategy: { mode: "fallback" }, targets: [targets[0], azure] };
    const { asked, fates } = await sent("portkey", config, ["gpt-4o", "unknown-1"]);
    const { registry } = await load(importText("portkey", JSON.stringify(config)));
    expect(registry.plan("gpt-4o", "chat-completions").choices.map(({ priority }) => priority[0])).toEqual([
      0, 1,
    ]);
    expect(asked).toEqual([
      [
        "openai gpt-4o https://api.openai.com/v1/chat/completions",
        "azure-dated gpt-4o https://acme.openai.azure.com/openai/deployments/gpt-4o/chat/completions?api-version=2024-10-21",
      ],
      ["openai unknown-1 https://api.openai.com/v1/chat/completions"],
    ]);
    expect([fates["targets[0].provider"], fates["targets[1].provider"]]).toEqual(["taken", "changed"]);
  });

  test("a fallback with a model of its own is one for every name", async () => {
    const second = { ...targets[1], override_params: { model: "claude-opus-5-5" } };
    const config = { strategy: { mode: "fallback" }, targets: [targets[0], second] };
    const { asked, fates } = await sent("portkey", config, ["gpt-5"]);
    expect(asked).toEqual([
      [
        "openai gpt-5 https://api.openai.com/v1/chat/completions",
        "anthropic claude-opus-5-5 https://api.anthropic.com/v1/messages",
      ],
    ]);
    expect(fates["targets[1].override_params.model"]).toBe("taken");
  });

  test("a config of settings alone is taken over, and a setting that Portkey does not have is told", async () => {
    const { yaml, fates } = await sent("portkey", { retry: { attempts: 3 } }, []);
    expect(yaml).toContain("attempts: 4");
    expect(fates).toEqual({ "retry.attempts": "changed" });
    const other = await sent("portkey", { retry: { count: 5 } }, []);
    expect([other.yaml.includes("attempts:"), other.fates]).toEqual([false, { "retry.count": "none" }]);
  });
});

describe("LiteLLM", () => {
  const list = (models: Record<string, object>) => ({
    model_list: Object.entries(models).map(([model_name, { ...litellm_params }]) => ({
      model_name,
      litellm_params,
    })),
  });

  test("models that rank and moderate are served where weir knows how, and told where it does not", async () => {
    const models = [
      { model_name: "ranker", litellm_params: { model: "cohere/rerank-v3.5", api_key: "os.environ/K" } },
      {
        model_name: "judge",
        litellm_params: { model: "openai/omni-moderation-latest", api_key: "os.environ/K" },
      },
      {
        ...{ model_name: "mine", model_info: { mode: "rerank" } },
        litellm_params: { model: "openai/bge", api_base: "http://gpu:8880/v1" },
      },
    ];
    const { yaml, fates } = await sent("litellm", { model_list: models }, []);
    expect(yaml).toContain("cohere/rerank-v3.5");
    expect(yaml).toContain("openai/omni-moderation-latest");
    expect(fates).toMatchObject({
      ...{ "model_list[0].litellm_params.model": "taken", "model_list[1].litellm_params.model": "taken" },
      "model_list[2].litellm_params.model": "none",
    });
  });

  test("models that speak and transcribe are served where weir knows how, and told where it does not", async () => {
    const own = ["whisper-1", "tts-1", "gpt-4o-transcribe"].map((model) => ({
      model_name: `my-${model}`,
      litellm_params: { model, api_key: "os.environ/K" },
    }));
    const groq = {
      ...{ model_name: "ears", model_info: { mode: "audio_transcription" } },
      litellm_params: { model: "groq/whisper-large-v3", api_key: "os.environ/G" },
    };
    const kokoro = {
      ...{ model_name: "kokoro", model_info: { mode: "audio_speech" } },
      litellm_params: { model: "openai/kokoro", api_base: "http://gpu:8880/v1" },
    };
    const imported = await sent("litellm", { model_list: [...own, groq, kokoro] }, []);
    const fate = (at: number) => imported.fates[`model_list[${at}].litellm_params.model`];
    expect([0, 1, 2, 3, 4].map(fate)).toEqual(["taken", "taken", "taken", "taken", "none"]);
    const { registry } = await load(imported);
    const url = (name: string, kind: string) => describePlan(registry.plan(name, "", kind))[0]!.url;
    expect([
      url("my-whisper-1", "transcription"),
      url("my-tts-1", "speech"),
      url("ears", "transcription"),
    ]).toEqual([
      "https://api.openai.com/v1/audio/transcriptions",
      "https://api.openai.com/v1/audio/speech",
      "https://api.groq.com/openai/v1/audio/transcriptions",
    ]);
  });

  test("models that make no text are left out", async () => {
    const models = ["gpt-image-1", "dall-e-3", "sora-2"];
    const config = list(
      Object.fromEntries(models.map((model) => [model, { model, api_key: "os.environ/K" }])),
    );
    const { yaml, fates } = await sent("litellm", config, []);
    expect(new Set(Object.values(fates))).toEqual(new Set(["none"]));
    expect(yaml).not.toMatch(/^(providers|aliases):/m);
  });

  test("Ollama without an address is the one of this machine, or of OLLAMA_API_BASE", async () => {
    const imported = importText("litellm", JSON.stringify(list({ q: { model: "ollama_chat/qwen3" } })));
    const urlWith = async (env: Record<string, string>) =>
      describePlan((await load(imported, env)).registry.plan("q", "chat-completions"))[0]!.url;
    expect(await urlWith({})).toBe("http://localhost:11434/v1/chat/completions");
    expect(await urlWith({ OLLAMA_API_BASE: "http://gpu:1" })).toBe("http://gpu:1/v1/chat/completions");
  });

  test("Claude on Bedrock is asked with InvokeModel, and the report says so", async () => {
    const keys = { aws_access_key_id: "os.environ/A", aws_secret_access_key: "os.environ/B" };
    const at = { aws_region_name: "us-east-1", ...keys };
    const { fates } = await sent(
      "litellm",
      list({
        claude: { model: "bedrock/us.anthropic.claude-sonnet-4-6", ...at },
        invoked: { model: "bedrock/invoke/us.anthropic.claude-sonnet-4-6", ...at },
        nova: { model: "bedrock/us.amazon.nova-pro-v1:0", ...at },
      }),
      [],
    );
    const model = (index: number) => fates[`model_list[${index}].litellm_params.model`];
    expect([model(0), model(1), model(2)]).toEqual(["changed", "taken", "taken"]);
  });

  test("a model of Azure AI with a key is on", async () => {
    const params = { api_base: "https://acme.services.ai.azure.com", api_key: "os.environ/K" };
    const { asked, remarks } = await sent(
      "litellm",
      list({ r1: { model: "azure_ai/deepseek-r1", ...params } }),
      ["r1"],
    );
    expect(asked[0]![0]).toStartWith(
      "foundry-models deepseek-r1 https://acme.services.ai.azure.com/models/chat/",
    );
    expect(remarks).toEqual([]);
  });

  test("a key that weir does not send is not taken over", async () => {
    const config = list({
      a: { model: "openai/gpt-5", api_key: "os.environ/K", api_base: "https://host.example/v1" },
    });
    const imported = importText("litellm", JSON.stringify(config));
    const { registry } = await load(imported);
    const { off, sending } = gatewayOf(registry);
    const unsigned = (...asked: Parameters<typeof sending>) =>
      sending(...asked).map((sent) => ({ ...sent, headers: {} }));
    const fate = (gateway: Parameters<typeof verify>[1]) =>
      verify(imported, gateway, (text) => fillIn(text, { K: "stand-in-for-K" })).outcomes.find(({ path }) =>
        path.endsWith(".model"),
      )?.fate;
    expect([fate({ off, sending }), fate({ off, sending: unsigned })]).toEqual(["taken", "changed"]);
  });

  test("a name that is left out and that an entry for all names answers is told", async () => {
    const config = list({
      titan: { model: "sagemaker/titan" },
      "*": { model: "openai/*", api_key: "os.environ/K" },
    });
    const { remarks } = await sent("litellm", config, []);
    expect(remarks).toContain("titan is left out, and the entry * answers for the name: remove one of them");
  });

  test("every variable that a provider needs is in the list", () => {
    const models = [
      "gemini/gemini-2.5-pro",
      "openai/gpt-5",
      "cohere/command-a",
      "zai/glm-4.6",
      "deepinfra/x",
    ];
    const config = list(Object.fromEntries(models.map((model) => [model, { model }])));
    const names = importText("litellm", JSON.stringify(config)).variables.map(({ name }) => name);
    expect(names.sort()).toEqual([
      "COHERE_API_KEY",
      "DEEPINFRA_API_KEY",
      "GEMINI_API_KEY",
      "OPENAI_API_KEY",
      "ZAI_API_KEY",
    ]);
  });
});
