import { chatCompletions, definePlugin } from "weir";

export default definePlugin({
  name: "cerebras",
  providers: [
    chatCompletions({
      name: "cerebras",
      models: ["cerebras/*"],
      baseUrl: "https://api.cerebras.ai/v1",
      apiKey: "CEREBRAS_API_KEY",
      traits: { maxTokensField: "max_completion_tokens" },
      catalog: ["gpt-oss-120b", "zai-glm-4.7", "llama3.3-70b"],
    }),
  ],
});
