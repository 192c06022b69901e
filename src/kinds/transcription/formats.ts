/** A transcript in each of the formats that clients ask for, and back. */
import { isObject, type Json, type JsonObject, parseJson } from "../../core/json.ts";
import type { KindUsage } from "../../core/kind.ts";
import type {
  TranscriptFormat,
  TranscriptionAnswer,
  TranscriptionRequest,
  TranscriptSegment,
  TranscriptWord,
} from "../../core/transcription.ts";
import { readSubtitles, writeSrt, writeVtt } from "./subtitles.ts";

export const FORMATS: readonly TranscriptFormat[] = [
  ...(["json", "text", "srt", "vtt", "verbose_json", "diarized_json"] as const),
];

/** Formats from which another one can be made, the best one first. */
const SOURCES: Readonly<Record<TranscriptFormat, readonly TranscriptFormat[]>> = {
  json: ["verbose_json", "diarized_json", "text", "vtt", "srt"],
  text: ["json", "verbose_json", "diarized_json", "vtt", "srt"],
  srt: ["verbose_json", "diarized_json", "vtt"],
  vtt: ["diarized_json", "verbose_json", "srt"],
  verbose_json: ["diarized_json", "vtt", "srt"],
  diarized_json: [],
};

/**
 * The format to ask a host for.
 * @param given formats that the host gives; absent: all
 * @returns the format itself if the host gives none from which weir can make it
 */
export function formatToAsk(format: TranscriptFormat, given?: readonly string[]): TranscriptFormat {
  if (!given || given.includes(format)) return format;
  return SOURCES[format].find((source) => given.includes(source)) ?? format;
}

const seconds = (milliseconds: number) => milliseconds / 1000;

/** Seconds as milliseconds. */
const milliseconds = (value: Json | undefined) =>
  typeof value === "number" && Number.isFinite(value) ? Math.round(value * 1000) : undefined;

/** Segments of an answer; one over the whole audio if the host says no times. */
export function segmentsOf(answer: TranscriptionAnswer, { file }: Pick<TranscriptionRequest, "file">) {
  if (answer.segments) return answer.segments;
  const end = Math.round((answer.duration ?? file.seconds) * 1000);
  return answer.text === "" ? [] : [{ start: 0, end, text: answer.text }];
}

/** @returns the body, and whether it is JSON */
export function writeTranscript(
  answer: TranscriptionAnswer,
  request: Pick<TranscriptionRequest, "format" | "task" | "file" | "wantsWords">,
): string {
  const { format } = request;
  if (answer.written?.format === format) return answer.written.text;
  switch (format) {
    case "text":
      return `${answer.text}\n`;
    case "srt":
      return writeSrt(segmentsOf(answer, request));
    case "vtt":
      return writeVtt(segmentsOf(answer, request));
    case "verbose_json":
      return JSON.stringify(verbose(answer, request));
    case "diarized_json":
      return JSON.stringify(diarized(answer, request));
    case "json":
      return JSON.stringify({ text: answer.text, ...answer.more });
  }
}

function verbose(
  answer: TranscriptionAnswer,
  request: Pick<TranscriptionRequest, "task" | "file" | "wantsWords">,
): JsonObject {
  const { words, language = "", text, more } = answer;
  return {
    ...{ task: request.task, language, duration: answer.duration ?? request.file.seconds, text },
    segments: segmentsOf(answer, request).map((segment, id) => ({
      ...{ id, start: seconds(segment.start), end: seconds(segment.end), text: segment.text },
      ...segment.more,
    })),
    ...(words && {
      words: words.map(({ word, start, end }) => ({ word, start: seconds(start), end: seconds(end) })),
    }),
    ...more,
  };
}

function diarized(answer: TranscriptionAnswer, request: Pick<TranscriptionRequest, "file">): JsonObject {
  return {
    ...{ task: "transcribe", duration: answer.duration ?? request.file.seconds, text: answer.text },
    segments: segmentsOf(answer, request).map((segment, index) => ({
      ...{ id: `seg_${index}`, type: "transcript.text.segment", speaker: segment.speaker ?? "A" },
      ...{ start: seconds(segment.start), end: seconds(segment.end), text: segment.text },
    })),
    ...answer.more,
  };
}

/** Reads an answer of a host, in whatever format it is. @returns undefined for a JSON body that is no transcript */
export function readTranscript(written: string, format: TranscriptFormat): TranscriptionAnswer | undefined {
  const body = written.trimStart().startsWith("{") ? parseJson(written) : undefined;
  if (isObject(body)) return readJson(body);
  if (/json$/.test(format) && written.trimStart().startsWith("{")) return undefined;
  if (format === "srt" || format === "vtt") {
    const segments = readSubtitles(written);
    const text = segments.map(({ text: one }) => one.replaceAll("\n", " ")).join(" ");
    return { text, segments, written: { format, text: written }, isWhole: true };
  }
  return { text: written.trimEnd(), written: { format: "text", text: written }, isWhole: true };
}

function readJson(body: JsonObject): TranscriptionAnswer | undefined {
  const { text, language, duration, segments, words, task: _task, ...more } = body;
  if (typeof text !== "string") return undefined;
  const read = Array.isArray(segments) ? segments.flatMap(readSegment) : undefined;
  const usage = usageIn(body["usage"], duration);
  return {
    ...{ text, more, isWhole: true },
    ...(typeof language === "string" && { language }),
    ...(typeof duration === "number" && { duration }),
    ...(read && { segments: read }),
    ...(Array.isArray(words) && { words: words.flatMap(readWord) }),
    ...(usage && { usage }),
  };
}

function readSegment(segment: Json): TranscriptSegment[] {
  if (!isObject(segment)) return [];
  const { id: _id, type: _type, start: from, end: to, text, speaker, ...more } = segment;
  const start = milliseconds(from);
  const end = milliseconds(to);
  if (start === undefined || end === undefined || typeof text !== "string") return [];
  return [
    {
      ...{ start, end, text },
      ...(typeof speaker === "string" && { speaker }),
      ...(Object.keys(more).length > 0 && { more }),
    },
  ];
}

function readWord(value: Json): TranscriptWord[] {
  if (!isObject(value)) return [];
  const start = milliseconds(value["start"]);
  const end = milliseconds(value["end"]);
  const { word } = value;
  return start === undefined || end === undefined || typeof word !== "string" ? [] : [{ word, start, end }];
}

const count = (value: Json | undefined) =>
  typeof value === "number" && Number.isFinite(value) && value >= 0 ? value : undefined;

/** What a host charges for: seconds, or tokens. @param duration of the audio, for hosts that say no more */
export function usageIn(usage: Json | undefined, duration?: Json): KindUsage | undefined {
  const told = isObject(usage) ? usage : {};
  const length = count(told["seconds"]) ?? (told["type"] === "tokens" ? undefined : count(duration));
  const input = count(told["input_tokens"]);
  if (input !== undefined) {
    const details = told["input_token_details"];
    const audioIn = isObject(details) ? count(details["audio_tokens"]) : undefined;
    const output = count(told["output_tokens"]) ?? 0;
    return { input, output, ...(audioIn !== undefined && { audioIn }) };
  }
  return length === undefined ? undefined : { units: { second: length } };
}
