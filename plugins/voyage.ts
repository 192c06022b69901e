import { definePlugin } from "weir";

export default definePlugin({
  name: "voyage",
  providers: [
    {
      name: "voyage",
      models: ["voyage/*", "voyage-*"],
      baseUrl: "https://api.voyageai.com/v1",
      apiKey: "VOYAGE_API_KEY",
      embeds: {
        embeddings: {
          path: "/embeddings",
          maxInputs: 1000,
          tokenIds: false,
          base64: "only",
          members: { dimensions: "output_dimension", user: false },
          inputTypes: { query: "query", document: "document" },
        },
      },
      does: { rerank: { "voyage-rerank": "/rerank" } },
      modelDoes: [
        { models: ["rerank-*"], does: ["rerank"] },
        { models: ["voyage-*"], does: ["embedding"] },
      ],
      catalog: ["voyage-4", "voyage-3.5", "voyage-3.5-lite", "rerank-2.5"],
    },
  ],
});
