/** What a transcription may use at most. Hosts charge by the second, or by tokens of audio and text. */
import type { RequestSize } from "../../core/request-size.ts";
import type { TranscriptionRequest } from "../../core/transcription.ts";
import { MostTokens } from "../../core/tokens/most-tokens.ts";

/** Tokens of a second of audio (one for 100 ms, and a margin), and of what is said in it. */
const AUDIO_TOKENS = 12;
const TEXT_TOKENS = 4;

export function sizeOfAudio({ file, prompt = "" }: TranscriptionRequest): RequestSize {
  const text = new MostTokens();
  text.add(prompt);
  // Vendors charge for a second that has begun.
  const second = Math.ceil(file.seconds);
  const audioIn = second * AUDIO_TOKENS;
  return {
    ...{ text, structure: 0, mediaTokens: audioIn, hasTools: false, hasServerTools: false, choices: 1 },
    units: { second },
    instead: { input: audioIn + Math.ceil(prompt.length / 4), output: second * TEXT_TOKENS, audioIn },
  };
}
