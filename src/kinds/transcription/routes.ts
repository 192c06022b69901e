/** The paths that clients ask for a transcription or a translation. */
import { Type } from "@sinclair/typebox";
import { invalidRequest } from "../../core/error.ts";
import type { Frame } from "../../core/frame.ts";
import { isObject, type Json, type JsonObject } from "../../core/json.ts";
import type { FormFields, KindRoute } from "../../core/model-kind.ts";
import type {
  AudioFile,
  TranscriptFormat,
  TranscriptionAnswer,
  TranscriptionRequest,
} from "../../core/transcription.ts";
import type { Upload } from "../../core/upload.ts";
import { fault, missing } from "../../formats/shared/request-fault.ts";
import { anything, open, optional, toJson } from "../../formats/shared/schema.ts";
import { FORMATS, segmentsOf, writeTranscript } from "./formats.ts";
import { places } from "./places.ts";

type Route = KindRoute<TranscriptionRequest, TranscriptionAnswer>;
type Task = TranscriptionRequest["task"];

const FILE = open({ filename: Type.String(), bytes: Type.Number() });
const texts = () => optional(Type.Array(Type.String()));

const COMMON = {
  model: Type.String({ minLength: 1 }),
  file: FILE,
  prompt: optional(Type.String()),
  response_format: optional(
    Type.String({ description: FORMATS.map((format) => `\`${format}\``).join(", ") }),
  ),
  temperature: optional(Type.Number()),
};

const TranscriptionBody = open({
  ...COMMON,
  language: optional(Type.String()),
  languages: texts(),
  keywords: texts(),
  timestamp_granularities: texts(),
  include: texts(),
  chunking_strategy: optional(anything()),
  known_speaker_names: texts(),
  known_speaker_references: texts(),
  stream: optional(Type.Boolean()),
});

const Transcript = open({ text: Type.String() });

const FORM: FormFields = {
  numbers: ["temperature"],
  booleans: ["stream"],
  lists: [
    ...["languages", "keywords", "timestamp_granularities", "include"],
    ...["known_speaker_names", "known_speaker_references"],
  ],
  hasAudio: true,
};

function checkRequest(body: Json): asserts body is JsonObject {
  if (!isObject(body)) throw invalidRequest("The request body must be a JSON object.");
  const { model, file, response_format: format, language, prompt, temperature } = body;
  if (model == null) throw missing("model");
  if (typeof model !== "string" || model === "") throw fault("model", "the name of a model");
  if (file == null) throw missing("file");
  if (!isObject(file) || typeof file["filename"] !== "string") throw fault("file", "one audio file");
  if (format != null && !FORMATS.includes(format as TranscriptFormat))
    throw fault("response_format", `one of ${FORMATS.join(", ")}`);
  for (const [name, text] of Object.entries({ language, prompt }))
    if (text != null && typeof text !== "string") throw fault(name, "a text");
  if (temperature != null && typeof temperature !== "number") throw fault("temperature", "a number");
}

/** The file of a form. @throws GatewayError `invalid-request` for a body that is no form */
function fileOf({ file }: JsonObject, upload: Upload | undefined): AudioFile {
  const part = upload?.parts.find(({ name, text }) => name === "file" && text === undefined);
  if (!upload || !part)
    throw invalidRequest(
      "Invalid 'file': send the request as multipart/form-data with an audio file.",
      "file",
      "invalid_value",
    );
  const { filename } = file as { filename: string };
  const { seconds, isEstimated } = part.audio ?? { seconds: part.length / 4000, isEstimated: true };
  return {
    ...{ filename, bytes: part.length, seconds, isEstimated },
    ...(part.type !== undefined && { type: part.type }),
    read: () => upload.read(part),
  };
}

function decoder(task: Task, dialect: string) {
  return (body: JsonObject, upload?: Upload): TranscriptionRequest => {
    const { language, prompt, temperature, stream, timestamp_granularities: granularities } = body;
    return {
      ...{ model: body["model"] as string, dialect, task, file: fileOf(body, upload) },
      format: (body["response_format"] ?? "json") as TranscriptFormat,
      wantsWords: Array.isArray(granularities) && granularities.includes("word"),
      ...(stream === true && { stream }),
      ...(typeof language === "string" && { language }),
      ...(typeof prompt === "string" && { prompt }),
      ...(typeof temperature === "number" && { temperature }),
    };
  };
}

const PLAIN: ReadonlySet<TranscriptFormat> = new Set(["text", "srt", "vtt"]);

const writeAnswer: Route["writeAnswer"] = (answer, request) => {
  const body = writeTranscript(answer, request);
  return PLAIN.has(request.format) ? { type: "text/plain; charset=utf-8", body } : body;
};

/** Of a program: a host that sends no events, although it was asked for them, decides that for itself. */
const writeEvents: Route["writeEvents"] = (answer, request, { input }) => {
  if (answer.isWhole) return undefined;
  const frame = (event: JsonObject): Frame => ({ data: JSON.stringify(event) });
  const segments = segmentsOf(answer, request);
  const pieces = request.format === "diarized_json" ? [] : segments;
  const spoken = request.format === "diarized_json" ? segments : [];
  const seconds = answer.usage?.units?.["second"];
  const output = answer.usage?.output ?? 0;
  const usage =
    seconds === undefined
      ? { type: "tokens", input_tokens: input, output_tokens: output, total_tokens: input + output }
      : { type: "duration", seconds };
  return [
    ...pieces.map(({ text }, index) =>
      frame({ type: "transcript.text.delta", delta: index === 0 ? text : ` ${text}` }),
    ),
    ...spoken.map(({ start, end, text, speaker = "A" }, index) =>
      frame({
        ...{ type: "transcript.text.segment", id: `seg_${index}`, speaker, text },
        ...{ start: start / 1000, end: end / 1000 },
      }),
    ),
    frame({ type: "transcript.text.done", text: answer.text, usage }),
  ];
};

const SHARED = { form: FORM, checkRequest, writeAnswer, writeEvents, places } as const;

export const transcriptionRoutes: readonly Route[] = [
  {
    ...SHARED,
    operation: "createTranscription",
    summary: "Write down speech",
    description:
      "A form (`multipart/form-data`) with an audio file. Of the formats of transcripts, weir makes those that a host does not give.",
    path: "/v1/audio/transcriptions",
    schemas: { request: toJson(TranscriptionBody), answer: toJson(Transcript) },
    decodeRequest: decoder("transcribe", "openai-transcription"),
  },
  {
    ...SHARED,
    operation: "createTranslation",
    summary: "Translate speech to English",
    description: "A form (`multipart/form-data`) with an audio file.",
    path: "/v1/audio/translations",
    schemas: { request: toJson(open(COMMON)), answer: toJson(Transcript) },
    decodeRequest: decoder("translate", "openai-translation"),
  },
];
