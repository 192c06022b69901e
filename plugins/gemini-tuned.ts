import { definePlugin, gemini } from "weir";

/** Tuned models of the Gemini API, which serves them at paths of their own. */
export default definePlugin({
  name: "gemini-tuned",
  providers: [
    gemini({
      name: "gemini-tuned",
      models: ["tunedModels/*"],
      baseUrl: "https://generativelanguage.googleapis.com",
      credentials: [["GEMINI_API_KEY"], ["GOOGLE_API_KEY"]],
      traits: { files: true, topK: true, countTokens: true },
      speaks: {
        gemini: {
          json: "/v1beta/tunedModels/{model}:generateContent",
          stream: "/v1beta/tunedModels/{model}:streamGenerateContent?alt=sse",
        },
      },
    }),
  ],
});
