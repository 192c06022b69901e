import type { CallView, JsonObject } from "weir";
import { chatCompletions, definePlugin } from "weir";
import { effortPath, modelOf } from "./shared/quirks.ts";
import { regions } from "./shared/regions.ts";

/** Open models that refuse to reason outside a stream, and do so by default. */
const STREAMS_TO_THINK = /^qwen3-[\d.]+b(-a[\d.]+b)?$/;

/** Tokens of reasoning for an effort; more than these is the model's own maximum. */
const BUDGETS: Readonly<Record<string, number>> = { minimal: 1024, low: 4096, medium: 10_000, high: 16_000 };

/** Alibaba has a switch and a budget instead of an effort (https://www.alibabacloud.com/help/en/model-studio/deep-thinking). */
function fitThinking(body: JsonObject, call: CallView): void {
  const { reasoning_effort: effort } = body;
  if (typeof effort === "string") {
    delete body.reasoning_effort;
    body.enable_thinking ??= effort !== "none";
    const budget = BUDGETS[effort];
    if (budget !== undefined && body.enable_thinking === true) body.thinking_budget ??= budget;
    call.reportLoss("converted", effortPath(call), "sent as enable_thinking and thinking_budget");
  }
  if (body.stream === true || !STREAMS_TO_THINK.test(modelOf(call))) return;
  const isAsked = body.enable_thinking === true;
  body.enable_thinking = false;
  delete body.thinking_budget;
  if (isAsked) call.reportLoss("dropped", effortPath(call), "the model reasons only in streams");
}

/** Alibaba Cloud Model Studio, under its compatible address. */
export default definePlugin({
  name: "qwen",
  providers: [
    chatCompletions({
      name: "qwen",
      models: ["qwen/*", "qwen-*", "qwen3-max*", "qwq-plus*"],
      ...regions(
        {
          intl: "https://dashscope-intl.aliyuncs.com/compatible-mode/v1",
          cn: "https://dashscope.aliyuncs.com/compatible-mode/v1",
          us: "https://dashscope-us.aliyuncs.com/compatible-mode/v1",
        },
        "DASHSCOPE_REGION",
      ),
      // The second one is the variable of Alibaba's SDK.
      credentials: [["QWEN_API_KEY"], ["DASHSCOPE_API_KEY"]],
      traits: { forcedToolChoice: false, jsonSchema: "json-object", topK: true },
      patch: fitThinking,
      catalog: ["qwen3-max", "qwen-plus", "qwen-flash", "qwen3-32b"],
    }),
  ],
});
