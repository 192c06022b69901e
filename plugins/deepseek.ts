import type { CallView, JsonObject } from "weir";
import { chatCompletions, definePlugin, isObject } from "weir";
import { effortPath, isChatBody } from "./shared/quirks.ts";

/**
 * DeepSeek reasons by default and then refuses a forced tool choice with 400 "Thinking mode does not support this
 * tool_choice". Unless the client asked for thinking explicitly, weir keeps the forced call and switches thinking off.
 */
function stopThinkingForForcedTool(body: JsonObject, call: CallView): void {
  if (!isChatBody(call)) return;
  const { tool_choice: choice } = body;
  if (choice === undefined || choice === null || choice === "auto" || choice === "none") return;
  if (isObject(body.thinking) && body.thinking.type === "enabled") return;
  body.thinking = { type: "disabled" };
  if (body.reasoning_effort === undefined) return;
  delete body.reasoning_effort;
  call.reportLoss("dropped", effortPath(call), "DeepSeek does not reason when a tool is forced");
}

export default definePlugin({
  name: "deepseek",
  providers: [
    chatCompletions({
      name: "deepseek",
      models: ["deepseek/*", "deepseek-*"],
      baseUrl: "https://api.deepseek.com",
      apiKey: "DEEPSEEK_API_KEY",
      speaks: { messages: "/anthropic/v1/messages" },
      does: { completion: { completions: "/beta/completions" } },
      traits: { jsonSchema: "json-object", reasoningReplay: "required", images: false, maxStop: 16 },
      patch: stopThinkingForForcedTool,
      catalog: ["deepseek-v4-pro", "deepseek-v4-flash", "deepseek-chat", "deepseek-reasoner"],
    }),
  ],
});
