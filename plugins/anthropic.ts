import { definePlugin, messages } from "weir";

export default definePlugin({
  name: "anthropic",
  providers: [
    messages({
      name: "anthropic",
      models: ["anthropic/*", "claude-*"],
      baseUrl: "https://api.anthropic.com",
      apiKey: "ANTHROPIC_API_KEY",
      // A default: a version that the client sends overrides it.
      headers: { "anthropic-version": "2023-06-01" },
      traits: {
        countTokens: true,
        files: true,
        imageInToolMessage: true,
        topK: true,
        topLevelCacheControl: true,
      },
      catalog: [
        "claude-opus-5-5",
        "claude-sonnet-5-5",
        "claude-haiku-5-5",
        "claude-fable-5-2",
        "claude-opus-5",
        "claude-sonnet-5",
        "claude-fable-5",
        "claude-opus-4-8",
        "claude-opus-4-7",
        "claude-opus-4-6",
        "claude-sonnet-4-6",
        "claude-opus-4-5",
        "claude-sonnet-4-5",
        "claude-haiku-4-5",
      ],
    }),
  ],
});
