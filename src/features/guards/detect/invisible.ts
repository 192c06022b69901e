/**
 * Text that people do not see and models read: tag characters, controls of direction, characters without width, selectors of variations
 * and escapes of terminals. Where scripts and emoji need such characters, they stay.
 */
import type { Detector, Finding } from "./detector.ts";

/** Characters that are not seen. */
const UNSEEN =
  "\\u00ad\\u034f\\u061c\\u115f\\u1160\\u17b4\\u17b5\\u180b-\\u180f\\u200b-\\u200f\\u202a-\\u202e\\u2060-\\u206f\\u3164\\ufe00-\\ufe0f\\ufeff\\uffa0\\ufff9-\\ufffb\\u{e0000}-\\u{e0fff}\\u{1d173}-\\u{1d17a}";
/** Escapes of terminals (ECMA-48): sequences of controls, texts for the terminal, and short ones. */
const ESCAPE =
  "\\x1b(?:\\[[0-?]*[ -/]*[@-~]|\\][^\\x07\\x1b]{0,256}(?:\\x07|\\x1b\\\\|(?=\\x1b)|$)|[PX^_][^\\x1b]{0,256}(?:\\x1b\\\\)?|[ -/]*[0-~])?|\\x9b[0-?]*[ -/]*[@-~]?";
/** Most texts have none of them. */
const ANY = new RegExp(`[${UNSEEN}\\x1b\\x9b]`, "u");
const RUN = new RegExp(`${ESCAPE}|[${UNSEEN}]+`, "gu");
/** At the end of a text, what may go on. */
const OPEN_END = new RegExp(
  `(?:\\x1b(?:\\[[0-?]*[ -/]*|\\][^\\x07\\x1b]*\\x1b?|[PX^_][^\\x1b]*\\x1b?|[ -/]*)?|\\x9b[0-?]*[ -/]*|[${UNSEEN}]+[\\ud800-\\udbff]?|[\\ud800-\\udbff])$`,
  "u",
);
/** Longest escape of a terminal. */
const LONGEST = 300;

const TAGS = /[\u{e0020}-\u{e007f}]/u;
/** Flags of parts of countries: a black flag, letters, and the end of it. */
const FLAG = /\u{1f3f4}$/u;
const FLAG_TAGS = /^[\u{e0030}-\u{e0039}\u{e0061}-\u{e007a}]{3,6}\u{e007f}$/u;
const EMOJI_BEFORE = /[\p{Extended_Pictographic}\p{Emoji_Modifier}\ufe0f\u20e3\u{1f1e6}-\u{1f1ff}]$/u;
const EMOJI_BEHIND = /^[\p{Extended_Pictographic}\u2640\u2642]/u;
/** Scripts in which joiners change how letters look. */
const JOINED_BEFORE =
  /[\p{Script=Arabic}\p{Script=Syriac}\p{Script=Mongolian}\p{Script=Nko}\p{Script=Devanagari}\p{Script=Bengali}\p{Script=Gurmukhi}\p{Script=Gujarati}\p{Script=Oriya}\p{Script=Tamil}\p{Script=Telugu}\p{Script=Kannada}\p{Script=Malayalam}\p{Script=Sinhala}\p{Script=Tibetan}\p{Script=Myanmar}\p{Script=Khmer}\p{Script=Thai}\p{Script=Lao}\p{Script=Hebrew}\p{M}]$/u;
const RIGHT_TO_LEFT = /[\p{Script=Arabic}\p{Script=Hebrew}\p{Script=Syriac}\p{Script=Thaana}]/u;
/** Scripts that separate no words by spaces. */
const WITHOUT_SPACES =
  /[\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}\p{Script=Tibetan}]$/u;
const IN_WORD_BEFORE = /[\p{L}\p{N}]$/u;
const IN_WORD_BEHIND = /^[\p{L}\p{N}]/u;
/** What a selector of a variation can follow: emoji, digits of keycaps, symbols, ideographs. */
const VARIED = /[\p{Emoji}\p{S}\p{Script=Han}\p{Script=Mongolian}\p{Script=Phags_Pa}\p{Script=Myanmar}]$/u;

export const invisible: Detector = {
  name: "invisible",
  kind: "INVISIBLE",
  find(text, from = 0) {
    const found: Finding[] = [];
    if (!ANY.test(text)) return found;
    RUN.lastIndex = from;
    for (let match = RUN.exec(text); match; match = RUN.exec(text)) {
      const { 0: run, index: start } = match;
      const end = start + run.length;
      if (!isNeeded(run, text.slice(Math.max(0, start - 8), start), text.slice(end, end + 8)))
        found.push({ start, end, kind: "INVISIBLE", shown: knownOf(run) });
    }
    return found;
  },
  isLiteral: true,
  /** A run that goes on, and an escape that has not ended. */
  reach(text) {
    const tail = text.slice(-LONGEST);
    const end = OPEN_END.exec(tail)?.index ?? tail.length;
    return text.length - tail.length + end;
  },
};

/** Whether a script or an emoji has the characters by right. */
function isNeeded(run: string, before: string, behind: string): boolean {
  const code = run.codePointAt(0)!;
  if (run.length > 2) return FLAG.test(before) && FLAG_TAGS.test(run);
  if ((code >= 0xfe00 && code <= 0xfe0f) || (code >= 0xe0100 && code <= 0xe01ef))
    return (run.length === (code > 0xffff ? 2 : 1) || run[1] === "\u200d") && VARIED.test(before);
  return run.length === 1 && isNeededOne(code, before, behind);
}

function isNeededOne(code: number, before: string, behind: string): boolean {
  switch (code) {
    case 0xfeff:
      return before === "";
    case 0x200d:
      return (EMOJI_BEFORE.test(before) && EMOJI_BEHIND.test(behind)) || JOINED_BEFORE.test(before);
    case 0x200c:
    case 0x034f:
      return JOINED_BEFORE.test(before);
    case 0x200b:
      return WITHOUT_SPACES.test(before);
    // A hyphen that shows at the end of a line only, and what keeps a word on its line.
    case 0x00ad:
    case 0x2060:
      return IN_WORD_BEFORE.test(before) && IN_WORD_BEHIND.test(behind);
    default:
      if ((code >= 0x180b && code <= 0x180f) || code === 0x17b4 || code === 0x17b5)
        return JOINED_BEFORE.test(before);
      return isDirection(code) && (RIGHT_TO_LEFT.test(before) || RIGHT_TO_LEFT.test(behind));
  }
}

/** Marks, embeddings and isolates: those that override the direction of letters are not among them. */
const isDirection = (code: number) =>
  code === 0x200e ||
  code === 0x200f ||
  code === 0x061c ||
  (code >= 0x202a && code <= 0x202c) ||
  (code >= 0x2066 && code <= 0x2069);

/** What short runs say. Texts repeat them. */
const known = new Map<string, string>();

function knownOf(run: string): string {
  if (run.length > 16) return shownOf(run);
  const before = known.get(run);
  if (before !== undefined) return before;
  const shown = shownOf(run);
  if (known.size > 1_000) known.clear();
  known.set(run, shown);
  return shown;
}

/** What a run says: the text that it hides, or the names of its characters. */
function shownOf(run: string): string {
  const points = [...run].map((char) => char.codePointAt(0)!);
  if (TAGS.test(run))
    return String.fromCodePoint(
      ...points
        .flatMap((point) => (point > 0xe001f && point < 0xe007f ? point - 0xe0000 : []))
        .slice(0, MOST),
    );
  const bytes = points.flatMap((point) => byteOf(point) ?? []);
  if (bytes.length > 1) return printable(Buffer.from(bytes).toString("utf8"));
  const bits = bitsOf(points);
  if (bits !== undefined) return printable(bits);
  if (run[0] === "\x1b" || run[0] === "\x9b") return printable(`ESC${run.slice(1)}`);
  return [...new Set(points)]
    .map((point) => `U+${point.toString(16).toUpperCase().padStart(4, "0")}`)
    .join(" ");
}

const MOST = 4_096;
const printable = (text: string) => text.slice(0, MOST).replace(/[\0-\x08\x0b-\x1f\x7f-\x9f]/g, "\u00b7");

/** A selector of a variation as a byte: the first 16, and 240 more. */
function byteOf(point: number): number | undefined {
  if (point >= 0xfe00 && point <= 0xfe0f) return point - 0xfe00;
  return point >= 0xe0100 && point <= 0xe01ef ? point - 0xe0100 + 16 : undefined;
}

/** Two kinds of characters without width as bits of bytes: the rarer first, or the other way round. @returns undefined: no text */
function bitsOf(points: readonly number[]): string | undefined {
  const kinds = [...new Set(points)].filter((point) => point !== 0x2060 && point !== 0xfeff);
  if (kinds.length !== 2 || points.length < 8) return undefined;
  const own = points.filter((point) => kinds.includes(point));
  for (const zero of kinds) {
    const bits = own.map((point) => (point === zero ? "0" : "1")).join("");
    const bytes = bits.match(/.{8}/g)?.map((byte) => Number.parseInt(byte, 2)) ?? [];
    const text = Buffer.from(bytes).toString("utf8");
    if (bytes.length > 0 && /^[\x20-\x7e\n\u00a0-\uffef]+$/.test(text)) return text;
  }
  return undefined;
}
