import { chatCompletions, definePlugin } from "weir";
import { openaiAudio } from "./shared/audio.ts";

/**
 * Another weir; `WEIR_BASE_URL=http://localhost:9347/v1` activates it, `WEIR_API_KEY` is its gateway key. Its model names
 * follow its own name: `weir/openai/gpt-5.4`. What it could not carry, this weir reports to its client too.
 */
export default definePlugin({
  name: "weir",
  providers: [
    chatCompletions({
      name: "weir",
      models: ["weir/*"],
      speaks: {
        messages: "/messages",
        responses: "/responses",
        gemini: {
          json: "/models/{model}:generateContent",
          stream: "/models/{model}:streamGenerateContent?alt=sse",
        },
      },
      liveModels: true,
      embeds: { embeddings: { path: "/embeddings", base64: true } },
      does: {
        completion: { completions: "/completions", fim: "/fim/completions" },
        rerank: {
          "jina-rerank": "/rerank",
          "voyage-rerank": "/rerank",
          "cohere-rerank-v1": "/rerank",
          "tei-rerank": "/rerank",
          score: "/score",
        },
        decision: { decisions: "/decisions" },
        realtime: { "openai-realtime": "/realtime" },
        image: {
          "openai-images": "/images/generations",
          "openai-image-edits": "/images/edits",
          "openai-image-variations": "/images/variations",
        },
        moderation: { moderations: "/moderations", "mistral-chat-moderations": "/chat/moderations" },
        ...openaiAudio(),
      },
      // The other weir knows what its providers accept, and reports what it has to change.
      traits: {
        reasoningReplay: "optional",
        imageInToolMessage: true,
        files: true,
        topK: true,
        promptCacheKey: true,
        countTokens: true,
        maxStop: 64,
      },
    }),
  ],
});
