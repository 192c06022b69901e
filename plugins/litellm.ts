import { chatCompletions, definePlugin } from "weir";
import { openaiAudio } from "./shared/audio.ts";

/** A LiteLLM proxy; `LITELLM_BASE_URL=http://localhost:4000/v1` activates it, `LITELLM_API_KEY` is its virtual key. */
export default definePlugin({
  name: "litellm",
  providers: [
    chatCompletions({
      name: "litellm",
      models: ["litellm/*"],
      host: { variable: "LITELLM_PROXY_API_BASE", port: 4000, path: "/v1" },
      speaks: { messages: "/messages", responses: "/responses" },
      liveModels: true,
      embeds: { embeddings: "/embeddings" },
      does: {
        completion: { completions: "/completions" },
        rerank: { "jina-rerank": "/rerank" },
        moderation: { moderations: "/moderations" },
        image: { "openai-images": "/images/generations", "openai-image-edits": "/images/edits" },
        ...openaiAudio(),
      },
      traits: {
        reasoningReplay: "optional",
        files: true,
        topK: true,
        countTokens: true,
        // The proxy translates for hosts that have no free-form tools.
        customTools: false,
      },
    }),
  ],
});
