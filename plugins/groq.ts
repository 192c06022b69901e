import type { CallView, JsonObject } from "weir";
import { chatCompletions, definePlugin } from "weir";
import { openaiAudio } from "./shared/audio.ts";
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

const WHISPER = ["whisper-*", "distil-whisper-*"];
const SPEAKING = ["playai-tts*", "canopylabs/orpheus-*"];

export default definePlugin({
  name: "groq",
  providers: [
    chatCompletions({
      name: "groq",
      models: ["groq/*"],
      baseUrl: "https://api.groq.com/openai/v1",
      apiKey: "GROQ_API_KEY",
      // Qwen and the DeepSeek distills write their reasoning into the text.
      traits: {
        ...{ maxTokensField: "max_completion_tokens", thinkTags: true },
        transcripts: ["json", "text", "verbose_json"],
      },
      does: openaiAudio({ transcribing: WHISPER, translating: ["whisper-large-v3"], speaking: SPEAKING }),
      modelDoes: [
        { models: WHISPER, does: ["transcription"] },
        { models: SPEAKING, does: ["speech"] },
      ],
      patch: fitEffort,
      catalog: [
        "openai/gpt-oss-120b",
        "openai/gpt-oss-20b",
        "llama-3.3-70b-versatile",
        "llama-3.1-8b-instant",
        ...["whisper-large-v3", "whisper-large-v3-turbo"],
      ],
    }),
  ],
});
