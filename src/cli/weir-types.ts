/** The text of `weir.d.ts`, which `weir plugin new` writes beside a plugin so that editors know its types. */
import { packedTypes } from "./packed-types.ts" with { type: "macro" };

const PACKED = packedTypes();

export function weirTypes(): string {
  return new TextDecoder().decode(Bun.gunzipSync(Uint8Array.fromBase64(PACKED)));
}
