/** Where the texts of transcription requests and answers are. */
import { each, ID, MEDIA, NAME, NUMBER, TEXT, textPlaces, WORD } from "../../formats/shared/text-places.ts";

const LOGPROBS = { kind: "logprobs" as const };
const WORDS = { members: { word: TEXT, ...each(NUMBER, "start end") } };
const SEGMENT = {
  members: {
    ...each(NUMBER, "start end seek tokens temperature avg_logprob compression_ratio no_speech_prob"),
    ...each(WORD, "id type"),
    text: TEXT,
    speaker: NAME,
    words: WORDS,
  },
};

export const places = textPlaces({
  request: {
    members: {
      ...each(ID, "model"),
      ...each(WORD, "response_format language languages timestamp_granularities include chunking_strategy"),
      ...each(NUMBER, "temperature stream"),
      file: { members: { filename: NAME, type: WORD, ...each(NUMBER, "bytes sha256") } },
      ...each(TEXT, "prompt keywords"),
      known_speaker_names: NAME,
      known_speaker_references: MEDIA,
    },
  },
  answer: {
    members: {
      ...each(WORD, "type task language languages"),
      ...each(ID, "id segment_id"),
      ...each(NUMBER, "duration usage start end"),
      text: TEXT,
      delta: { piece: "delta" },
      segments: SEGMENT,
      words: WORDS,
      speaker: NAME,
      logprobs: LOGPROBS,
    },
  },
  stopped: (message) => [
    {
      data: JSON.stringify({
        error: { message, type: "invalid_request_error", code: "content_filter", param: null },
      }),
    },
  ],
});
