/** How hosts are asked for a transcription: by the form of OpenAI, which all of them have taken over. */
import { invalidRequest } from "../../core/error.ts";
import { isObject, parseJson } from "../../core/json.ts";
import { NO_USAGE } from "../../core/events.ts";
import type { KindDialect } from "../../core/model-kind.ts";
import type { StreamObserver } from "../../core/stream-observer.ts";
import type { TranscriptionAnswer, TranscriptionRequest } from "../../core/transcription.ts";
import { decodeError } from "../../formats/shared/upstream-error.ts";
import { formatToAsk, readTranscript, usageIn } from "./formats.ts";
import { sizeOfAudio } from "./size.ts";

type Dialect = KindDialect<TranscriptionRequest, TranscriptionAnswer>;

const watch: StreamObserver = {
  marks: ["transcript.text.done", '"error"'],
  frame({ data }, seen) {
    const event = typeof data === "string" ? parseJson(data) : undefined;
    if (!isObject(event)) return;
    if (isObject(event["error"])) seen.error = decodeError(502, new Headers(), data as string);
    if (event["type"] !== "transcript.text.done") return;
    seen.terminated = true;
    const usage = usageIn(event["usage"]);
    if (usage) seen.usage = { ...NO_USAGE, ...usage, known: "final" };
  },
  answer() {},
};

const WORDS = {
  transcribe:
    "does not transcribe speech with this model, but translates it; send it to POST /v1/audio/translations",
  translate: "does not translate speech with this model; send it to POST /v1/audio/transcriptions",
} as const;

const HOST: Omit<Dialect, "id"> = {
  sizeOf: sizeOfAudio,
  encodeRequest({ task }, { target }) {
    throw invalidRequest(`The provider ${target.provider} ${WORDS[task]}.`, "model", "unsupported_value");
  },
  editForm({ format }, { target }) {
    const asked = formatToAsk(format, target.traits.transcripts);
    return asked === format ? {} : { response_format: asked };
  },
  readAnswer: (text, { format }) => readTranscript(text, format),
  answersWith: ({ stream }) => (stream ? "events" : "json"),
  watch,
  decodeError,
  isErrorBody: ({ error, detail, message }) => (error ?? detail ?? message) !== undefined,
  requestHeaders: ["x-client-request-id", "openai-beta"],
  answerHeaders: ["x-ratelimit-*", "openai-processing-ms", "retry-after", "retry-after-ms", "x-should-retry"],
};

export const transcriptionDialects: readonly Dialect[] = [
  { ...HOST, id: "openai-transcription" },
  { ...HOST, id: "openai-translation" },
];
