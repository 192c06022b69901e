import type { CallView, JsonObject } from "weir";
import { chatCompletions, definePlugin } from "weir";
import { effortPath } from "./shared/quirks.ts";

/** `none` and `high` are the only efforts (https://docs.cohere.com/docs/compatibility-api). */
function fitEffort(body: JsonObject, call: CallView): void {
  const { reasoning_effort: effort } = body;
  if (effort === undefined || effort === "none" || effort === "high") return;
  body.reasoning_effort = "high";
  call.reportLoss("clamped", effortPath(call), "high is the only effort that Cohere knows");
}

export default definePlugin({
  name: "cohere",
  providers: [
    chatCompletions({
      name: "cohere",
      models: ["cohere/*", "command-*", "embed-english-*", "embed-multilingual-*", "embed-v4*", "rerank-v*"],
      baseUrl: "https://api.cohere.ai",
      speaks: { "chat-completions": "/compatibility/v1/chat/completions" },
      // The endpoint in OpenAI's dialect takes no word for what the vectors are for.
      embeds: { "cohere-embed": "/v2/embed" },
      does: { rerank: { "cohere-rerank": "/v2/rerank" } },
      modelDoes: [
        { models: ["rerank-*"], does: ["rerank"] },
        { models: ["embed-*"], does: ["embedding"] },
        { models: ["command-*"], does: ["chat"] },
      ],
      // The second one is the variable of Cohere's own SDK.
      credentials: [["COHERE_API_KEY"], ["CO_API_KEY"]],
      traits: { parallelToolCalls: false, forcedToolChoice: false, maxStop: 5 },
      patch: fitEffort,
      catalog: [
        "command-a-03-2025",
        "command-a-reasoning-08-2025",
        "command-r7b-12-2024",
        "embed-v4.0",
        "rerank-v4.0-pro",
      ],
    }),
  ],
});
