import { chatCompletions, definePlugin } from "weir";

/** A local server; `LLAMACPP_BASE_URL=http://localhost:8080/v1` activates it. */
export default definePlugin({
  name: "llamacpp",
  providers: [
    chatCompletions({
      name: "llamacpp",
      models: ["llamacpp/*"],
      speaks: { messages: "/messages" },
      embeds: { embeddings: { path: "/embeddings", base64: true } },
      does: { completion: { completions: "/completions" }, rerank: { "jina-rerank": "/rerank" } },
      liveModels: true,
      traits: {
        // Chat templates refuse a system message after the first message: https://github.com/ggml-org/llama.cpp/issues/27367
        systemPlacement: "first-only",
        reasoningReplay: "optional",
        imageInToolMessage: true,
        topK: true,
        thinkTags: true,
        countTokens: true,
      },
    }),
  ],
});
