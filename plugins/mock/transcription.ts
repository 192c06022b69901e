/** Made-up transcripts: as long as the audio, and equal for equal files. */
import type { CallView, TranscriptionAnswer, TranscriptionRequest, TranscriptSegment } from "weir";
import { behaveFor } from "./behave.ts";

const SAID = [
  ...["The", "quick", "brown", "fox", "jumps", "over", "a", "lazy", "dog", "while", "rivers", "run"],
  ...["slowly", "past", "old", "towns", "where", "bells", "ring", "and", "people", "talk", "about", "rain"],
];
/** Words of a segment, how long each takes in milliseconds, and the most words. */
const WORDS = 6;
const PACE = 400;
const MOST = 5000;

/** `mock/transcription` writes down; the models that fail, fail here, too. */
export async function transcription(
  request: TranscriptionRequest,
  call: CallView,
): Promise<TranscriptionAnswer> {
  const model = call.target?.model ?? request.model;
  await behaveFor(model, call);
  const seed = Bun.hash.crc32(await request.file.read());
  const end = Math.round(request.file.seconds * 1000);
  const count = Math.min(MOST, Math.max(1, Math.floor(end / PACE)));
  const words = Array.from({ length: count }, (_, at) => ({
    word: SAID[(seed + at * ((seed % 7) + 5)) % SAID.length]!,
    start: at * PACE,
    end: at === count - 1 ? Math.max(end, at * PACE) : (at + 1) * PACE,
  }));
  const segments = Array.from({ length: Math.ceil(count / WORDS) }, (_, at): TranscriptSegment => {
    const own = words.slice(at * WORDS, (at + 1) * WORDS);
    return {
      ...{ start: own[0]!.start, end: own.at(-1)!.end, text: `${own.map(({ word }) => word).join(" ")}.` },
      speaker: at % 2 === 0 ? "A" : "B",
    };
  });
  return {
    text: segments.map(({ text }) => text).join(" "),
    ...{ language: "english", duration: request.file.seconds, segments },
    ...(request.wantsWords && { words }),
    usage: { units: { second: Math.ceil(request.file.seconds) } },
    model: `mock/${model}`,
  };
}
