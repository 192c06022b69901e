import type { CallView, JsonObject } from "weir";
import { chatCompletions, definePlugin } from "weir";
import { HIDDEN } from "./shared/hidden-reasoning.ts";
import { effortPath, modelOf } from "./shared/quirks.ts";

/** Models that refuse `reasoning_effort` with 400; all others accept it (https://docs.x.ai/docs/guides/reasoning). */
const NO_EFFORT =
  /^grok-(2|beta|vision|code-fast|3(?!-mini)|4(-0709|-latest)?$|4-fast|4-1-fast|4\.20(?!-multi-agent))/;

function dropEffort(body: JsonObject, call: CallView): void {
  const model = modelOf(call);
  if (body.reasoning_effort !== undefined && NO_EFFORT.test(model)) {
    delete body.reasoning_effort;
    call.reportLoss("dropped", effortPath(call), `${model} does not support reasoning_effort`);
  }
}

export default definePlugin({
  name: "xai",
  providers: [
    chatCompletions({
      name: "xai",
      models: ["xai/*", "grok-*"],
      baseUrl: "https://api.x.ai/v1",
      apiKey: "XAI_API_KEY",
      speaks: { responses: "/responses" },
      does: { image: { "xai-images": { path: "/images/generations", models: ["*-image*"] } } },
      modelDoes: [{ models: ["*-image*"], does: ["image"] }],
      // Models that reason refuse `stop`: weir watches for the sequences itself.
      traits: {
        maxTokensField: "max_completion_tokens",
        maxStop: 0,
        storesAnswers: true,
        customTools: false,
      },
      modelTraits: HIDDEN.xai,
      patch: dropEffort,
      catalog: ["grok-4.5", "grok-4.3", "grok-4", "grok-3-mini"],
    }),
  ],
});
