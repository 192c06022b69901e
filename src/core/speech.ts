/** The canonical request for speech and its answer: a text that a voice reads. */
import type { KindAnswer, KindRequest } from "./kind.ts";

export interface SpeechRequest extends KindRequest {
  /** What the voice reads. */
  input: string;
  /** A name, or the id of a voice that the client has made. */
  voice?: string | { id: string };
  /** How the voice reads. */
  instructions?: string;
  /** `mp3`, `opus`, `aac`, `flac`, `wav` or `pcm`; other words are those of a vendor. */
  format: string;
  /** 1 is the usual speed. */
  speed?: number;
}

export interface SpeechAnswer extends KindAnswer {
  audio: Uint8Array;
  /** Content type of the audio: `audio/mpeg`. */
  type: string;
}
