/** Collects the losses of an attempt, and writes them as a header. */
import { limitText } from "./printable.ts";
import type { Loss, LossCode } from "./loss.ts";

/** The response header with the losses of a call. */
export const WARNINGS = "x-weir-warnings";

const CODES: Readonly<Record<LossCode, true>> = {
  dropped: true,
  clamped: true,
  downgraded: true,
  converted: true,
  repaired: true,
  synthesized: true,
  substituted: true,
  unknown: true,
};

/** Maximum number of recorded losses. A request could otherwise produce any number of them. */
const MOST_LOSSES = 500;

/** Maximum length of a loss's path and note, which contain names that the client chose. Bytes. */
const TEXT_BYTES = 256;

/** The losses of one attempt, each recorded once. */
export class LossList {
  readonly list: Loss[] = [];
  readonly #known = new Set<string>();

  add(code: LossCode, at: string, note?: string): void {
    const path = limitText(at, TEXT_BYTES);
    const key = `${code} ${path}`;
    if (this.#known.size >= MOST_LOSSES || this.#known.has(key)) return;
    this.#known.add(key);
    this.list.push({ code, path, note: note && limitText(note, TEXT_BYTES) });
  }
}

/** Maximum number of losses in the header. */
const LISTED = 20;

/** The value of `x-weir-warnings`: `code:path, code:path`, ASCII, at most 20 entries. */
export function writeLosses(losses: readonly Loss[]): string {
  return losses
    .slice(0, LISTED)
    .map((loss) => `${loss.code}:${loss.path.replace(/[^\x21-\x2b\x2d-\x7e]/g, "?")}`)
    .join(", ");
}

/** Reads the value of `x-weir-warnings`; leaves out what is none. */
export function readLosses(header: string): Loss[] {
  return header.split(", ").flatMap((entry) => {
    const at = entry.indexOf(":");
    const code = entry.slice(0, Math.max(0, at));
    return Object.hasOwn(CODES, code) ? [{ code: code as LossCode, path: entry.slice(at + 1) }] : [];
  });
}
