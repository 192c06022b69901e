import type { CallView, JsonObject } from "weir";
import { chatCompletions, definePlugin } from "weir";
import { effortPath, modelOf } from "./shared/quirks.ts";

/**
 * Models that do not reason refuse `reasoning_effort` with 400. Qwen accepts only `none` and `default`, and GPT-OSS accepts
 * all values but those (https://console.groq.com/docs/reasoning).
 */
function fitEffort(body: JsonObject, call: CallView): void {
  if (body.reasoning_effort === undefined) return;
  const model = modelOf(call);
  if (model.startsWith("gpt-oss")) {
    if (body.reasoning_effort !== "none" && body.reasoning_effort !== "minimal") return;
    body.reasoning_effort = "low";
    call.reportLoss("clamped", effortPath(call), "GPT-OSS always reasons; its lowest effort is low");
  } else if (model.startsWith("qwen")) {
    body.reasoning_effort = body.reasoning_effort === "none" ? "none" : "default";
  } else {
    delete body.reasoning_effort;
    call.reportLoss("dropped", effortPath(call), `${model} does not support reasoning_effort`);
  }
}

export default definePlugin({
  name: "groq",
  providers: [
    chatCompletions({
      name: "groq",
      models: ["groq/*"],
      baseUrl: "https://api.groq.com/openai/v1",
      apiKey: "GROQ_API_KEY",
      // Qwen and the DeepSeek distills write their reasoning into the text.
      traits: { maxTokensField: "max_completion_tokens", thinkTags: true },
      patch: fitEffort,
      catalog: [
        "openai/gpt-oss-120b",
        "openai/gpt-oss-20b",
        "llama-3.3-70b-versatile",
        "llama-3.1-8b-instant",
      ],
    }),
  ],
});
