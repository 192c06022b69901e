import type { Does, ModelDoes } from "weir";
import { chatCompletions, definePlugin } from "weir";
import { openaiAudio } from "./shared/audio.ts";
import { HIDDEN } from "./shared/hidden-reasoning.ts";

const TRANSCRIBING = ["whisper-*", "gpt-4o-transcribe*", "gpt-4o-mini-transcribe*", "gpt-transcribe*"];
const SPEAKING = ["tts-*", "gpt-4o-mini-tts*"];

/** They take no messages. */
const COMPLETING = ["gpt-3.5-turbo-instruct*", "babbage-*", "davinci-*", "ft:babbage-*", "ft:davinci-*"];

/** They answer over a WebSocket alone. */
const TALKING = ["gpt-realtime*", "gpt-4o-realtime-*", "gpt-4o-mini-realtime-*"];

/** They make images. */
const DRAWING = ["gpt-image-*", "chatgpt-image-*", "dall-e-*"];

const DOES: Does = {
  completion: { completions: { path: "/completions", models: COMPLETING } },
  moderation: { moderations: "/moderations" },
  decision: { decisions: "/decisions" },
  realtime: { "openai-realtime": { path: "/realtime", models: TALKING } },
  image: {
    "openai-images": { path: "/images/generations", models: DRAWING },
    "openai-image-edits": { path: "/images/edits", models: DRAWING },
    "openai-image-variations": { path: "/images/variations", models: ["dall-e-2"] },
  },
  ...openaiAudio({ transcribing: TRANSCRIBING, translating: ["whisper-*"], speaking: SPEAKING }),
};

const MODEL_DOES: readonly ModelDoes[] = [
  { models: COMPLETING, does: ["completion"] },
  { models: TALKING, does: ["realtime"] },
  { models: ["omni-moderation-*", "text-moderation-*"], does: ["moderation"] },
  { models: DRAWING, does: ["image"] },
  { models: ["text-embedding-*"], does: ["embedding"] },
  { models: TRANSCRIBING, does: ["transcription"] },
  { models: SPEAKING, does: ["speech"] },
];

export default definePlugin({
  name: "openai",
  providers: [
    chatCompletions({
      name: "openai",
      models: [
        "openai/*",
        "gpt-*",
        "chatgpt-*",
        "codex-*",
        "o1*",
        "o3*",
        "o4*",
        "ft:gpt-*",
        "text-embedding-3-*",
        "text-embedding-ada-*",
        "babbage-*",
        "davinci-*",
        "dall-e-*",
        "omni-moderation-*",
        "text-moderation-*",
        "whisper-*",
        "tts-*",
      ],
      baseUrl: "https://api.openai.com/v1",
      apiKey: "OPENAI_API_KEY",
      // Since gpt-5.4 the models take tools together with reasoning only there.
      speaks: { responses: "/responses" },
      prefers: "responses",
      embeds: {
        // OpenAI refuses members that it does not know.
        embeddings: { path: "/embeddings", base64: true, members: { inputType: false } },
      },
      does: DOES,
      modelDoes: MODEL_DOES,
      traits: {
        storesAnswers: true,
        compacts: true,
        maxTokensField: "max_completion_tokens",
        userField: "safety_identifier",
        files: true,
        promptCacheKey: true,
      },
      modelTraits: [
        ...HIDDEN.openai,
        { models: ["gpt-4o-transcribe", "gpt-4o-mini-transcribe*"], traits: { transcripts: ["json"] } },
        {
          models: ["gpt-4o-transcribe-diarize*"],
          traits: { transcripts: ["json", "text", "diarized_json"] },
        },
      ],
      // Members of the same request over a WebSocket; the endpoint refuses them with 400.
      envelope: { responses: { without: ["generate", "stream_id", "type"] } },
      catalog: [
        ...["gpt-5.6", "gpt-5.5", "gpt-5.4", "gpt-5.4-nano", "gpt-5.2", "gpt-5", "gpt-5-mini", "gpt-5-nano"],
        ...["gpt-4.1", "gpt-4.1-mini", "gpt-4.1-nano", "gpt-4o", "gpt-4o-mini", "o4-mini"],
        ...["text-embedding-3-small", "text-embedding-3-large", "omni-moderation-latest"],
        ...["whisper-1", "gpt-4o-transcribe", "gpt-4o-mini-transcribe", "gpt-4o-mini-tts", "tts-1"],
      ],
    }),
  ],
});
