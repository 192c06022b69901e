import type { JsonObject } from "weir";
import { chatCompletions, definePlugin } from "weir";

/** Names begin with the maker of the model, also NVIDIA's own: `nvidia/nemotron-x` is one without its maker here. */
function nameMaker(body: JsonObject): void {
  if (typeof body.model === "string" && !body.model.includes("/")) body.model = `nvidia/${body.model}`;
}

/** The hosted API; `NVIDIA_BASE_URL=http://localhost:8000/v1` is a NIM container of your own. */
export default definePlugin({
  name: "nvidia",
  providers: [
    chatCompletions({
      name: "nvidia",
      models: ["nvidia/*"],
      baseUrl: "https://integrate.api.nvidia.com/v1",
      apiKey: "NVIDIA_API_KEY",
      embeds: {
        embeddings: {
          path: "/embeddings",
          tokenIds: false,
          inputTypes: { query: "query", document: "passage" },
        },
      },
      // Nemotron writes its reasoning into the text.
      traits: { thinkTags: true },
      patch: nameMaker,
      catalog: ["llama-3.3-nemotron-super-49b-v1.5", "meta/llama-3.3-70b-instruct", "openai/gpt-oss-120b"],
    }),
  ],
});
