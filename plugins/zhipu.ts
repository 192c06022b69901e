import type { CallView, JsonObject } from "weir";
import { chatCompletions, definePlugin } from "weir";
import { dropFields, effortPath, modelOf } from "./shared/quirks.ts";
import { regions } from "./shared/regions.ts";

/** Models with degrees of reasoning; those from GLM-5.3 on always reason (https://docs.z.ai/guides/capabilities/thinking-mode). */
const HAS_EFFORT = /^glm-(5\.[2-9]|[6-9])/;
const ALWAYS_REASONS = /^glm-(5\.[3-9]|[6-9])/;
const EFFORTS: Readonly<Record<string, string>> = { minimal: "low", medium: "high", xhigh: "max" };

function fitFields(body: JsonObject, call: CallView): void {
  dropFields(body, ["presence_penalty", "frequency_penalty"], call, "Zhipu does not know the field");
  const { reasoning_effort: effort } = body;
  if (typeof effort !== "string") return;
  const model = modelOf(call);
  const isOff = effort === "none" && !ALWAYS_REASONS.test(model);
  if (HAS_EFFORT.test(model) && !isOff) {
    body.reasoning_effort = effort === "none" ? "low" : (EFFORTS[effort] ?? effort);
    if (body.reasoning_effort !== effort)
      call.reportLoss("clamped", effortPath(call), "the nearest effort that the model supports");
    return;
  }
  delete body.reasoning_effort;
  body.thinking ??= { type: isOff ? "disabled" : "enabled" };
  call.reportLoss("converted", effortPath(call), "sent as thinking, which has no degrees");
}

/** Z.ai, and with `ZHIPU_REGION=cn` the platform in mainland China, whose keys are others. */
export default definePlugin({
  name: "zhipu",
  providers: [
    chatCompletions({
      name: "zhipu",
      models: ["zhipu/*", "zai/*", "glm-*"],
      ...regions(
        { intl: "https://api.z.ai/api/paas/v4", cn: "https://open.bigmodel.cn/api/paas/v4" },
        "ZHIPU_REGION",
      ),
      // The last two are the variables of the vendor's SDKs.
      credentials: [["ZHIPU_API_KEY"], ["ZAI_API_KEY"], ["ZHIPUAI_API_KEY"]],
      // Every stream ends with the token counts.
      traits: {
        forcedToolChoice: false,
        jsonSchema: "json-object",
        maxStop: 1,
        streamOptions: false,
        strictTools: false,
        reasoningReplay: "optional",
      },
      patch: fitFields,
      catalog: ["glm-5.3", "glm-5.1", "glm-4.7", "glm-4.6v"],
    }),
  ],
});
