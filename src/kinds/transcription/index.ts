/** Speech, written down or translated to English. */
import type { ModelKind } from "../../core/model-kind.ts";
import type { TranscriptionAnswer, TranscriptionRequest } from "../../core/transcription.ts";
import { transcriptionDialects } from "./dialects.ts";
import { transcriptionRoutes } from "./routes.ts";
import { sizeOfAudio } from "./size.ts";

export const transcription: ModelKind<TranscriptionRequest, TranscriptionAnswer> = {
  id: "transcription",
  lacks: "does not transcribe speech",
  mock: "transcription",
  gives: ["text"],
  routes: transcriptionRoutes,
  dialects: transcriptionDialects,
  sizeOf: sizeOfAudio,
  /** What is no JSON is always written, with the content type of its format. */
  complete: (answer, { format }) =>
    answer.written || !/json$/.test(format) || !isOf(answer, format) ? { ...answer } : answer,
};

/** Whether the JSON of a host has what the client's format promises. */
function isOf({ segments, duration }: TranscriptionAnswer, format: string): boolean {
  if (format === "json") return segments === undefined;
  return segments !== undefined || (format === "verbose_json" && duration !== undefined);
}
