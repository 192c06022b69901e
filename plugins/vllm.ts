import { chatCompletions, definePlugin } from "weir";
import { openaiAudio } from "./shared/audio.ts";

/** A local server; `VLLM_BASE_URL=http://localhost:8000/v1` activates it. */
export default definePlugin({
  name: "vllm",
  providers: [
    chatCompletions({
      name: "vllm",
      models: ["vllm/*"],
      speaks: { messages: "/messages" },
      embeds: { embeddings: { path: "/embeddings", base64: true } },
      does: {
        completion: { completions: "/completions" },
        rerank: { "jina-rerank": "/rerank", score: "/score" },
        transcription: openaiAudio().transcription,
      },
      liveModels: true,
      // Chat templates refuse a system message after the first message: https://github.com/vllm-project/vllm/issues/41114
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
