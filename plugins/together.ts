import { chatCompletions, definePlugin } from "weir";

export default definePlugin({
  name: "together",
  providers: [
    chatCompletions({
      name: "together",
      models: ["together/*"],
      baseUrl: "https://api.together.xyz/v1",
      apiKey: "TOGETHER_API_KEY",
      embeds: { embeddings: { path: "/embeddings", tokenIds: false } },
      does: {
        completion: { completions: "/completions" },
        rerank: { "jina-rerank": "/rerank" },
        image: { "together-images": "/images/generations" },
      },
      traits: { topK: true, thinkTags: true },
      catalog: ["meta-llama/Llama-3.3-70B-Instruct-Turbo"],
    }),
  ],
});
