/** Gemini in the words of OpenAI. The provider `gemini` loses less; this one is for requests that must reach Google unchanged. */
import { chatCompletions, definePlugin } from "weir";
import { HIDDEN } from "./shared/hidden-reasoning.ts";

export default definePlugin({
  name: "gemini-openai",
  providers: [
    chatCompletions({
      name: "gemini-openai",
      models: ["gemini-openai/*"],
      baseUrl: "https://generativelanguage.googleapis.com/v1beta/openai",
      credentials: [["GEMINI_API_KEY"], ["GOOGLE_API_KEY"]],
      embeds: {
        embeddings: {
          path: "/embeddings",
          maxInputs: 100,
          tokenIds: false,
          members: { inputType: false, user: false },
        },
      },
      // Google refuses fields that it does not know.
      traits: { strictTools: false, parallelToolCalls: false },
      modelTraits: HIDDEN.google,
      catalog: ["gemini-3.5-flash", "gemini-3.1-pro-preview", "gemini-2.5-pro", "gemini-2.5-flash"],
    }),
  ],
});
