/** Addresses of network hardware (IEEE 802): those of one device. */
import { templateDetector } from "./template.ts";

export const mac = templateDetector({
  name: "mac",
  kind: "MAC",
  templates: ["HH:HH:HH:HH:HH:HH", "HH-HH-HH-HH-HH-HH", "HHHH.HHHH.HHHH"],
  // Not those of groups of devices, and of none.
  check: (codes) => hasOther(codes, 0x30) && hasOther(codes, 0x46) && isEven(codes[1]!),
});

const DIGITS = 12;

function hasOther(codes: Uint8Array, code: number): boolean {
  for (let at = 0; at < DIGITS; at++) if (codes[at] !== code) return true;
  return false;
}

/** `A` is 10, and its code is odd. */
const isEven = (code: number) => (code & 1) === (code > 64 ? 1 : 0);
