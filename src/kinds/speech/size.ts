/** What speech may use at most. Hosts charge by the character, or by tokens of text and audio. */
import type { RequestSize } from "../../core/request-size.ts";
import type { SpeechRequest } from "../../core/speech.ts";
import { inputLikely } from "../../core/tokens/likely.ts";
import { MostTokens } from "../../core/tokens/most-tokens.ts";

/** Audio tokens of a character: 21 for a second with 15 characters; and the most, for a voice that reads slowly. */
const LIKELY = 1.4;
const MOST = 4;

export function sizeOfSpeech({ input, instructions = "" }: SpeechRequest): RequestSize {
  const text = new MostTokens();
  text.add(input);
  text.next();
  text.add(instructions);
  const character = [...input].length;
  const most = {
    ...{ text, structure: 4, mediaTokens: 0, hasTools: false, hasServerTools: false, choices: 1 },
    maxTokens: character * MOST + 64,
  };
  const output = Math.ceil(character * LIKELY);
  return {
    ...most,
    // Audio comes as bytes: what they cost is not seen in them.
    opaque: "audioOut",
    units: { character },
    instead: { input: inputLikely(most), output, audioOut: output },
  };
}
