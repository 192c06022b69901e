import { chatCompletions, definePlugin } from "weir";

export default definePlugin({
  name: "deepinfra",
  providers: [
    chatCompletions({
      name: "deepinfra",
      models: ["deepinfra/*"],
      baseUrl: "https://api.deepinfra.com/v1/openai",
      // The second one is the variable of DeepInfra's own tools.
      credentials: [["DEEPINFRA_API_KEY"], ["DEEPINFRA_TOKEN"]],
      embeds: { embeddings: { path: "/embeddings", tokenIds: false } },
      does: { completion: { completions: "/completions" } },
      // `tool_choice` is auto or none: https://deepinfra.com/docs/advanced/function_calling
      traits: { forcedToolChoice: false, topK: true, thinkTags: true },
      catalog: [
        "deepseek-ai/DeepSeek-V3.1",
        "meta-llama/Llama-3.3-70B-Instruct-Turbo",
        "openai/gpt-oss-120b",
      ],
    }),
  ],
});
