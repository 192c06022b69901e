import type { CallView, Json, JsonObject } from "weir";
import { chatCompletions, definePlugin, isObject } from "weir";
import { isChatBody } from "./shared/quirks.ts";

/** Replaces two values that LM Studio refuses with 400 by equivalents. */
function replaceRefusedValues(body: JsonObject, call: CallView): void {
  if (!isChatBody(call)) return;
  forceNamedTool(body);
  // https://github.com/lmstudio-ai/lmstudio-bug-tracker/issues/189
  if (isObject(body.response_format) && body.response_format.type === "json_object")
    body.response_format = {
      type: "json_schema",
      json_schema: { name: "object", schema: { type: "object" } },
    };
}

/**
 * `tool_choice` must be a string (https://github.com/lmstudio-ai/lmstudio-bug-tracker/issues/670): to force a named tool,
 * weir offers only that tool and requires a call.
 */
function forceNamedTool(body: JsonObject): void {
  if (!isObject(body.tool_choice) || !isObject(body.tool_choice.function)) return;
  const { name } = body.tool_choice.function;
  const isNamed = (tool: Json) => isObject(tool) && isObject(tool.function) && tool.function.name === name;
  if (Array.isArray(body.tools)) body.tools = body.tools.filter(isNamed);
  body.tool_choice = "required";
}

/** A local server; `LMSTUDIO_BASE_URL=http://localhost:1234/v1` activates it. */
export default definePlugin({
  name: "lmstudio",
  providers: [
    chatCompletions({
      name: "lmstudio",
      models: ["lmstudio/*"],
      speaks: { messages: "/messages" },
      does: { completion: { completions: "/completions" } },
      embeds: { embeddings: { path: "/embeddings", tokenIds: false } },
      liveModels: true,
      // Chat templates refuse a system message after the first message: https://github.com/ggml-org/llama.cpp/issues/27107
      traits: { systemPlacement: "first-only", topK: true, thinkTags: true },
      patch: replaceRefusedValues,
    }),
  ],
});
