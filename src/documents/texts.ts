/** The texts that the gateway serves. Only a request for one of them imports this file. */
import { packedTexts } from "./packed.ts" with { type: "macro" };

export interface Texts {
  /** `llms.txt`. */
  index: string;
  /** `llms-full.txt`. */
  full: string;
}

const PACKED = packedTexts();

/** Unpacks the texts. The caller does not keep them: they are asked for rarely. */
export function readTexts(): Texts {
  const json = Bun.gunzipSync(Uint8Array.fromBase64(PACKED));
  return JSON.parse(new TextDecoder().decode(json)) as Texts;
}
