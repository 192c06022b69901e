/** Where hosts that have taken over the paths of OpenAI serve audio. */
import type { Does } from "weir";

/** @param models globs over the names of the models at each path; absent: all */
export function openaiAudio(
  models: { transcribing?: string[]; translating?: string[]; speaking?: string[] } = {},
): Pick<Does, "speech" | "transcription"> {
  const at = (path: string, names: string[] | undefined) => ({ path, ...(names && { models: names }) });
  const { transcribing, translating = transcribing, speaking } = models;
  return {
    transcription: {
      "openai-transcription": at("/audio/transcriptions", transcribing),
      "openai-translation": at("/audio/translations", translating),
    },
    speech: { "openai-speech": at("/audio/speech", speaking) },
  };
}
