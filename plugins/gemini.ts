import { definePlugin, gemini } from "weir";
import { HIDDEN } from "./shared/hidden-reasoning.ts";

export default definePlugin({
  name: "gemini",
  providers: [
    gemini({
      name: "gemini",
      models: ["gemini/*", "gemini-*", "gemma-*", "imagen-*"],
      baseUrl: "https://generativelanguage.googleapis.com",
      credentials: [["GEMINI_API_KEY"], ["GOOGLE_API_KEY"]],
      embeds: { "gemini-embed": "/v1beta/models/{model}:batchEmbedContents" },
      speaks: { interactions: { json: "/v1beta/interactions", ownClientsOnly: true } },
      does: {
        cache: { "gemini-caches": { path: "/v1beta/cachedContents", models: ["gemini-*"] } },
        image: {
          "gemini-images": { path: "/v1beta/models/{model}:generateContent", models: ["gemini-*-image*"] },
          imagen: { path: "/v1beta/models/{model}:predict", models: ["imagen-*"] },
        },
      },
      traits: { files: true, topK: true, countTokens: true, storesAnswers: true },
      // Thoughts are summaries at most, and only where the request wants them.
      modelTraits: HIDDEN.google,
      // The facts name only what else they give: the format carries it beside text.
      modelDoes: [
        { models: ["gemini-embedding-*"], does: ["embedding"] },
        { models: ["gemini-*-image*"], does: ["chat", "image"] },
        { models: ["gemini-*-tts*"], does: ["chat"] },
        { models: ["imagen-*"], does: ["image"] },
      ],
      catalog: [
        "gemini-3.6-flash",
        "gemini-3.5-flash",
        "gemini-3.5-flash-lite",
        "gemini-3.1-pro-preview",
        "gemini-3-pro-preview",
        "gemini-3-flash-preview",
        "gemini-2.5-pro",
        "gemini-2.5-flash",
        "gemini-2.5-flash-lite",
        "gemma-3-27b-it",
        "gemini-embedding-001",
      ],
    }),
  ],
});
