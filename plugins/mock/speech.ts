/** Speech without words: a tone whose height follows the text, as long as a voice would need. Equal texts sound equal. */
import type { CallView, SpeechAnswer, SpeechRequest } from "weir";
import { behaveFor } from "./behave.ts";
import { countTokens } from "./tokens.ts";

const HERTZ = 8000;
/** Characters that a voice reads in a second, and the longest answer in seconds. */
const PACE = 15;
const LONGEST = 300;

/** `mock/speech` answers with wav, pcm, and silent mp3; the models that fail, fail here, too. */
export async function speech(request: SpeechRequest, call: CallView): Promise<SpeechAnswer> {
  const model = call.target?.model ?? request.model;
  await behaveFor(model, call);
  const seconds = Math.min(LONGEST, request.input.length / PACE / (request.speed ?? 1));
  const usage = { input: countTokens(request.input), output: Math.ceil(seconds * 20) };
  return { ...audioOf(request, seconds), usage, model: `mock/${model}` };
}

function audioOf({ format, input }: SpeechRequest, seconds: number): Pick<SpeechAnswer, "audio" | "type"> {
  if (format === "mp3") return { audio: silence(seconds), type: "audio/mpeg" };
  const samples = tone(input, seconds);
  // weir has no encoder: other formats are wav, and say so.
  return format === "pcm"
    ? { audio: samples, type: "audio/pcm" }
    : { audio: withHead(samples), type: "audio/wav" };
}

/** 16 bits, one channel. */
function tone(input: string, seconds: number): Uint8Array {
  const samples = Buffer.alloc(Math.round(seconds * HERTZ) * 2);
  for (let at = 0; at * 2 < samples.length; at++) {
    const letter = input.charCodeAt(Math.floor((at / HERTZ) * PACE)) || 0;
    const height = 200 + (letter % 64) * 8;
    samples.writeInt16LE(Math.round(Math.sin((at * height * 2 * Math.PI) / HERTZ) * 8000), at * 2);
  }
  return samples;
}

function withHead(samples: Uint8Array): Uint8Array {
  const head = Buffer.alloc(44);
  head.write("RIFF", 0);
  head.writeUInt32LE(36 + samples.length, 4);
  head.write("WAVEfmt ", 8);
  head.writeUInt32LE(16, 16);
  head.writeUInt16LE(1, 20);
  head.writeUInt16LE(1, 22);
  head.writeUInt32LE(HERTZ, 24);
  head.writeUInt32LE(HERTZ * 2, 28);
  head.writeUInt16LE(2, 32);
  head.writeUInt16LE(16, 34);
  head.write("data", 36);
  head.writeUInt32LE(samples.length, 40);
  return Buffer.concat([head, samples]);
}

/** Frames of MPEG 1, layer III, 32 kbit/s at 32 kHz: 144 bytes and 36 ms each. Frames of zeros are silent. */
const FRAME = { head: [0xff, 0xfb, 0x18, 0xc4], length: 144, seconds: 0.036 };

function silence(seconds: number): Uint8Array {
  const frame = Buffer.alloc(FRAME.length);
  frame.set(FRAME.head);
  return Buffer.concat(Array.from({ length: Math.max(1, Math.round(seconds / FRAME.seconds)) }, () => frame));
}
