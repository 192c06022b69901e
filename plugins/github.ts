import { chatCompletions, definePlugin } from "weir";
import { HIDDEN_RESOLD } from "./shared/hidden-reasoning.ts";

/**
 * GitHub Models: the token needs the permission `models: read`. `GITHUB_TOKEN` does not switch the provider on, because GitHub's
 * runners set it for every job.
 */
export default definePlugin({
  name: "github",
  providers: [
    chatCompletions({
      name: "github",
      models: ["github/*"],
      baseUrl: "https://models.github.ai/inference",
      apiKey: "GITHUB_API_KEY",
      embeds: { embeddings: "/embeddings" },
      // DeepSeek R1 and Phi write their reasoning into the text.
      traits: { thinkTags: true },
      modelTraits: HIDDEN_RESOLD,
      catalog: ["openai/gpt-4.1", "openai/gpt-5-mini", "meta/Llama-3.3-70B-Instruct"],
    }),
  ],
});
