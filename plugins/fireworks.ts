import { chatCompletions, definePlugin } from "weir";

export default definePlugin({
  name: "fireworks",
  providers: [
    chatCompletions({
      name: "fireworks",
      models: ["fireworks/*"],
      baseUrl: "https://api.fireworks.ai/inference/v1",
      apiKey: "FIREWORKS_API_KEY",
      speaks: { messages: "/messages" },
      embeds: { embeddings: "/embeddings" },
      does: { completion: { completions: "/completions" }, rerank: { "jina-rerank": "/rerank" } },
      traits: { topK: true, thinkTags: true },
      catalog: ["accounts/fireworks/models/kimi-k2p5", "accounts/fireworks/models/gpt-oss-120b"],
    }),
  ],
});
