import { chatCompletions, definePlugin } from "weir";

export default definePlugin({
  name: "novita",
  providers: [
    chatCompletions({
      name: "novita",
      models: ["novita/*"],
      baseUrl: "https://api.novita.ai/openai/v1",
      apiKey: "NOVITA_API_KEY",
      embeds: { embeddings: { path: "/embeddings", tokenIds: false } },
      does: { completion: { completions: "/completions" } },
      // Without its switch `separate_reasoning` some models write their reasoning into the text.
      traits: { topK: true, thinkTags: true },
      catalog: ["deepseek/deepseek-v3.1", "meta-llama/llama-3.3-70b-instruct", "openai/gpt-oss-120b"],
    }),
  ],
});
