import type { CallView, JsonObject } from "weir";
import { chatCompletions, definePlugin } from "weir";
import { dropFields, effortPath, modelOf } from "./shared/quirks.ts";
import { regions } from "./shared/regions.ts";

/** Models with fixed sampling, whose reasoning can be switched (https://platform.kimi.ai/docs/api/models-overview). */
const SWITCHABLE = /^kimi-(k2\.[5-9]|k[3-9])/;
const FIXED = ["temperature", "top_p", "presence_penalty", "frequency_penalty"];

function fitFields(body: JsonObject, call: CallView): void {
  const model = modelOf(call);
  if (SWITCHABLE.test(model)) dropFields(body, FIXED, call, `${model} has a fixed value`);
  else if (typeof body.temperature === "number" && body.temperature > 1) {
    body.temperature = 1;
    call.reportLoss("clamped", call.request?.paths?.temperature ?? "temperature", "the highest value is 1");
  }
  fitEffort(body, model, call);
}

/** Reasoning has a switch and no degrees; older models have neither. */
function fitEffort(body: JsonObject, model: string, call: CallView): void {
  const { reasoning_effort: effort } = body;
  if (effort === undefined) return;
  delete body.reasoning_effort;
  const isSwitch = SWITCHABLE.test(model);
  if (isSwitch) body.thinking ??= { type: effort === "none" ? "disabled" : "enabled" };
  const reason = isSwitch
    ? "sent as thinking, which has no degrees"
    : `${model} does not support reasoning_effort`;
  call.reportLoss(isSwitch ? "converted" : "dropped", effortPath(call), reason);
}

export default definePlugin({
  name: "moonshot",
  providers: [
    chatCompletions({
      name: "moonshot",
      models: ["moonshot/*", "kimi-*", "moonshot-v1-*"],
      ...regions({ intl: "https://api.moonshot.ai/v1", cn: "https://api.moonshot.cn/v1" }, "MOONSHOT_REGION"),
      apiKey: "MOONSHOT_API_KEY",
      traits: {
        maxTokensField: "max_completion_tokens",
        forcedToolChoice: false,
        jsonSchema: "json-object",
        // Models that reason refuse a tool call in the history without its reasoning.
        reasoningReplay: "required",
        maxStop: 5,
        promptCacheKey: true,
        userField: "safety_identifier",
      },
      patch: fitFields,
      catalog: ["kimi-k2.6", "kimi-k2.5", "kimi-k2-thinking", "moonshot-v1-128k"],
    }),
  ],
});
