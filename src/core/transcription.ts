/** The canonical request for a transcription, or a translation to English, of speech, and its answer. */
import type { JsonObject } from "./json.ts";
import type { KindAnswer, KindRequest } from "./kind.ts";

/** How clients get a transcript. */
export type TranscriptFormat = "json" | "text" | "srt" | "vtt" | "verbose_json" | "diarized_json";

export interface TranscriptionRequest extends KindRequest {
  /** `translate`: to English. */
  task: "transcribe" | "translate";
  file: AudioFile;
  format: TranscriptFormat;
  /** Language of the speech, as ISO 639-1: `en`. */
  language?: string;
  /** A text before the speech: its style and its names. */
  prompt?: string;
  temperature?: number;
  /** The client wants the times of words. */
  wantsWords: boolean;
}

export interface AudioFile {
  filename: string;
  /** Content type, if the client names one. */
  type?: string;
  bytes: number;
  /** By its container. */
  seconds: number;
  /** The container does not say it, so that `seconds` comes from the number of bytes. */
  isEstimated: boolean;
  /** The content, in memory. */
  read(): Promise<Uint8Array>;
}

export interface TranscriptionAnswer extends KindAnswer {
  text: string;
  /** As the vendor names it: `en`, `english`. */
  language?: string;
  /** Of the audio. Seconds. */
  duration?: number;
  /** In the order of their times. */
  segments?: readonly TranscriptSegment[];
  words?: readonly TranscriptWord[];
  /** Members of the host's JSON answer that have no place above, and what the host says of its usage. */
  more?: JsonObject;
  /** What the host sent, if it is no JSON. */
  written?: { format: TranscriptFormat; text: string };
  /** The host answered without events, whatever the client asked for. */
  isWhole?: true;
}

/** Times in milliseconds from the beginning of the audio. */
export interface TranscriptSegment {
  start: number;
  end: number;
  text: string;
  speaker?: string;
  /** Other members of the host's segment. */
  more?: JsonObject;
}

export interface TranscriptWord {
  start: number;
  end: number;
  word: string;
}
