import { chatCompletions, definePlugin } from "weir";

/** A local server; `OLLAMA_HOST` or `OLLAMA_BASE_URL=http://localhost:11434/v1` activates it. */
export default definePlugin({
  name: "ollama",
  providers: [
    chatCompletions({
      name: "ollama",
      models: ["ollama/*"],
      host: { variable: "OLLAMA_HOST", port: 11434, path: "/v1" },
      speaks: { messages: "/messages" },
      does: { completion: { completions: "/completions" } },
      embeds: { embeddings: { path: "/embeddings", tokenIds: false } },
      liveModels: true,
      // Ollama ignores `tool_choice`. It reads `reasoning_effort` and the reasoning of earlier turns.
      traits: { forcedToolChoice: false, reasoningReplay: "optional", imageInToolMessage: true },
    }),
  ],
});
