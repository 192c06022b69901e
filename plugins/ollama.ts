import { chatCompletions, definePlugin } from "weir";

/** A local server: `OLLAMA_HOST`, or `OLLAMA_BASE_URL=http://localhost:11434/v1`, switches it on. */
export default definePlugin({
  name: "ollama",
  providers: [
    chatCompletions({
      name: "ollama",
      models: ["ollama/*"],
      host: { variable: "OLLAMA_HOST", port: 11434, path: "/v1" },
      speaks: { messages: "/messages" },
      liveModels: true,
      // `tool_choice` is read by nobody there; reasoning is read from earlier turns and from `reasoning_effort`.
      traits: { forcedToolChoice: false, reasoningReplay: "optional", imageInToolMessage: true },
    }),
  ],
});
