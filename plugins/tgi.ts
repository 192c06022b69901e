import type { CallView, JsonObject } from "weir";
import { chatCompletions, definePlugin, isObject } from "weir";
import { isChatBody } from "./shared/quirks.ts";

/** TGI names its grammars otherwise than OpenAI: `{type: "json", value: schema}`. */
function renameFormat(body: JsonObject, call: CallView): void {
  const { response_format: format } = body;
  if (!isChatBody(call) || !isObject(format)) return;
  if (format.type === "text") delete body.response_format;
  if (format.type === "json_object" && format.value === undefined)
    body.response_format = { type: "json", value: { type: "object" } };
  if (format.type === "json_schema" && isObject(format.json_schema))
    body.response_format = { type: "json", value: format.json_schema.schema ?? { type: "object" } };
}

/** Text Generation Inference, a local server; `TGI_BASE_URL=http://localhost:8080/v1` activates it. */
export default definePlugin({
  name: "tgi",
  providers: [
    chatCompletions({
      name: "tgi",
      models: ["tgi/*"],
      liveModels: true,
      // Chat templates refuse a system message after the first message.
      traits: { systemPlacement: "first-only", thinkTags: true },
      patch: renameFormat,
    }),
  ],
});
