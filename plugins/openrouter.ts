import { chatCompletions, definePlugin } from "weir";
import { HIDDEN_RESOLD } from "./shared/hidden-reasoning.ts";

export default definePlugin({
  name: "openrouter",
  providers: [
    chatCompletions({
      name: "openrouter",
      models: ["openrouter/*"],
      baseUrl: "https://openrouter.ai/api/v1",
      apiKey: "OPENROUTER_API_KEY",
      speaks: { messages: "/messages", responses: "/responses" },
      embeds: { embeddings: "/embeddings" },
      does: { completion: { completions: "/completions" } },
      traits: {
        reasoningReplay: "optional",
        files: true,
        documentUrl: "file_data",
        topK: true,
        topLevelCacheControl: true,
      },
      modelTraits: HIDDEN_RESOLD,
      catalog: [
        "anthropic/claude-sonnet-4.6",
        "anthropic/claude-haiku-4.5",
        "openai/gpt-5.2",
        "openai/gpt-5-mini",
        "google/gemini-2.5-flash",
        "deepseek/deepseek-r1-0528",
        "z-ai/glm-4.6",
      ],
    }),
  ],
});
