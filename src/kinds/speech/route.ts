/** `POST /v1/audio/speech` of OpenAI. */
import { Type } from "@sinclair/typebox";
import { invalidRequest } from "../../core/error.ts";
import { isObject, type Json, type JsonObject } from "../../core/json.ts";
import type { KindRoute } from "../../core/model-kind.ts";
import type { SpeechAnswer, SpeechRequest } from "../../core/speech.ts";
import { fault, missing } from "../../formats/shared/request-fault.ts";
import { anything, open, optional, toJson } from "../../formats/shared/schema.ts";
import { each, ID, MEDIA, NUMBER, TEXT, textPlaces, WORD } from "../../formats/shared/text-places.ts";

const SpeechBody = open({
  model: Type.String({ minLength: 1 }),
  input: Type.String({ minLength: 1 }),
  voice: optional(Type.Union([Type.String(), open({ id: Type.String() })])),
  instructions: optional(Type.String()),
  response_format: optional(Type.String({ default: "mp3" })),
  speed: optional(Type.Number()),
  stream_format: optional(Type.String({ description: "`audio` or `sse`." })),
});

export const places = textPlaces({
  request: {
    members: {
      ...each(ID, "model"),
      ...each(WORD, "response_format stream_format"),
      ...each(NUMBER, "speed"),
      ...each(TEXT, "input instructions"),
      voice: { members: { id: ID }, kind: "name" },
    },
  },
  answer: { members: { ...each(WORD, "type"), audio: MEDIA, usage: NUMBER } },
  stopped: (message) => [
    {
      data: JSON.stringify({
        error: { message, type: "invalid_request_error", code: "content_filter", param: null },
      }),
    },
  ],
});

function checkRequest(body: Json): asserts body is JsonObject {
  if (!isObject(body)) throw invalidRequest("The request body must be a JSON object.");
  const { model, input, voice, instructions, response_format: format, speed, stream_format: stream } = body;
  if (model == null) throw missing("model");
  if (typeof model !== "string" || model === "") throw fault("model", "the name of a model");
  if (input == null) throw missing("input");
  if (typeof input !== "string" || input === "") throw fault("input", "a text");
  const isVoice = typeof voice === "string" || (isObject(voice) && typeof voice["id"] === "string");
  if (voice != null && !isVoice) throw fault("voice", "a name, or an object with an `id`");
  if (instructions != null && typeof instructions !== "string") throw fault("instructions", "a text");
  if (format != null && typeof format !== "string") throw fault("response_format", "a format of audio");
  if (speed != null && typeof speed !== "number") throw fault("speed", "a number");
  if (stream != null && stream !== "audio" && stream !== "sse") throw fault("stream_format", "audio or sse");
}

const KNOWN = new Set([
  ...["model", "input", "voice", "instructions", "response_format", "speed", "stream_format"],
]);

function decodeRequest(body: JsonObject): SpeechRequest {
  const { model, input, voice, instructions, response_format: format, speed } = body;
  return {
    ...{ model: model as string, dialect: "openai-speech", input: input as string },
    format: typeof format === "string" ? format : "mp3",
    stream: body["stream_format"] === "sse",
    ...(voice != null && { voice: voice as string | { id: string } }),
    ...(typeof instructions === "string" && { instructions }),
    ...(typeof speed === "number" && { speed }),
    leftOut: Object.keys(body)
      .filter((name) => !KNOWN.has(name) && body[name] !== null)
      .map((path) => ({ loss: "unknown", path })),
  };
}

/** Bytes of audio in an event of a program's answer. */
const PIECE = 32 * 1024;

export const speechRoute: KindRoute<SpeechRequest, SpeechAnswer> = {
  operation: "createSpeech",
  summary: "Read a text aloud",
  description: "The answer is audio, or with `stream_format: sse` events with audio in base64.",
  path: "/v1/audio/speech",
  schemas: { request: toJson(SpeechBody), answer: toJson(anything()) },
  checkRequest,
  decodeRequest,
  writeAnswer: ({ audio, type }) => ({ type, body: audio }),
  writeEvents({ audio, usage }, _request, { input }) {
    const event = (data: JsonObject) => ({ data: JSON.stringify(data) });
    const pieces = Array.from({ length: Math.ceil(audio.length / PIECE) }, (_, at) =>
      Buffer.from(audio.subarray(at * PIECE, (at + 1) * PIECE)).toString("base64"),
    );
    const output = usage?.output ?? 0;
    return [
      ...pieces.map((piece) => event({ type: "speech.audio.delta", audio: piece })),
      event({
        type: "speech.audio.done",
        usage: { input_tokens: input, output_tokens: output, total_tokens: input + output },
      }),
    ];
  },
  places,
};
