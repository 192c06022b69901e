import type { Call, JsonObject } from "weir";
import { chatCompletions, definePlugin } from "weir";
import { modelOf, pathOf } from "./quirks.ts";

/** Models that answer `reasoning_effort` with 400; those that are not listed take it (https://docs.x.ai/docs/guides/reasoning). */
const NO_EFFORT =
  /^grok-(2|beta|vision|code-fast|3(?!-mini)|4(-0709|-latest)?$|4-fast|4-1-fast|4\.20(?!-multi-agent))/;

/** Models that do not reason: the only ones that take stop sequences. */
const PLAIN = /^grok-(2|beta|vision|3(?!-mini))|-non-reasoning/;

function fitModel(body: JsonObject, call: Call): void {
  const model = modelOf(call);
  if (body.reasoning_effort !== undefined && NO_EFFORT.test(model)) {
    delete body.reasoning_effort;
    call.lose("dropped", pathOf("effort", call), `${model} takes no reasoning_effort`);
  }
  if (body.stop !== undefined && !PLAIN.test(model)) {
    delete body.stop;
    call.lose("dropped", pathOf("stop", call), `${model} reasons and takes no stop sequences`);
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
      traits: { maxTokensField: "max_completion_tokens" },
      patch: fitModel,
      catalog: ["grok-4.5", "grok-4.3", "grok-4", "grok-3-mini"],
    }),
  ],
});
