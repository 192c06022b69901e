import { chatCompletions, definePlugin } from "weir";

/** A local server; `SGLANG_BASE_URL=http://localhost:30000/v1` activates it. */
export default definePlugin({
  name: "sglang",
  providers: [
    chatCompletions({
      name: "sglang",
      models: ["sglang/*"],
      speaks: { messages: "/messages" },
      liveModels: true,
      embeds: { embeddings: "/embeddings" },
      does: { completion: { completions: "/completions" }, rerank: { "jina-rerank": "/rerank" } },
      // Chat templates refuse a system message after the first message; without a reasoning parser the tags are in the text.
      traits: { systemPlacement: "first-only", reasoningReplay: "optional", topK: true, thinkTags: true },
    }),
  ],
});
