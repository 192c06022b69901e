import { chatCompletions, definePlugin } from "weir";

/** A local server: `VLLM_BASE_URL=http://localhost:8000/v1` switches it on. */
export default definePlugin({
  name: "vllm",
  providers: [
    chatCompletions({
      name: "vllm",
      models: ["vllm/*"],
      speaks: { messages: "/messages" },
      liveModels: true,
      // Chat templates refuse a later system message: https://github.com/vllm-project/vllm/issues/41114
      traits: {
        systemPlacement: "first-only",
        reasoningReplay: "optional",
        topK: true,
        thinkTags: true,
        countTokens: true,
      },
    }),
  ],
});
