import { chatCompletions, definePlugin } from "weir";

export default definePlugin({
  name: "sambanova",
  providers: [
    chatCompletions({
      name: "sambanova",
      models: ["sambanova/*"],
      baseUrl: "https://api.sambanova.ai/v1",
      apiKey: "SAMBANOVA_API_KEY",
      // DeepSeek R1 and Qwen write their reasoning into the text.
      traits: { topK: true, thinkTags: true },
      catalog: ["Meta-Llama-3.3-70B-Instruct", "DeepSeek-V3.1", "gpt-oss-120b"],
    }),
  ],
});
