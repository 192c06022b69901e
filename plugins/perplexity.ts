import type { CallView, JsonObject } from "weir";
import { chatCompletions, definePlugin } from "weir";
import { effortPath, modelOf } from "./shared/quirks.ts";

const TAKES_EFFORT = /^sonar-(?:deep-research|reasoning)/;

/** Only models that reason take an effort; the documentation names the research model alone. */
function dropEffort(body: JsonObject, call: CallView): void {
  const model = modelOf(call);
  if (body.reasoning_effort === undefined || TAKES_EFFORT.test(model)) return;
  delete body.reasoning_effort;
  call.reportLoss("dropped", effortPath(call), `${model} does not support reasoning_effort`);
}

export default definePlugin({
  name: "perplexity",
  providers: [
    chatCompletions({
      name: "perplexity",
      models: ["perplexity/*", "sonar", "sonar-*", "pplx-embed-*"],
      baseUrl: "https://api.perplexity.ai",
      apiKey: "PERPLEXITY_API_KEY",
      // The vectors are 8-bit integers in every encoding that it offers.
      embeds: {
        embeddings: {
          path: "/v1/embeddings",
          maxInputs: 512,
          tokenIds: false,
          base64: "int8",
          members: { inputType: false, user: false },
        },
      },
      // Every chunk has the counts so far; reasoning models write their reasoning into the text.
      traits: { systemPlacement: "first-only", streamOptions: false, thinkTags: true },
      patch: dropEffort,
      catalog: ["sonar", "sonar-pro", "sonar-reasoning-pro", "sonar-deep-research"],
    }),
  ],
});
