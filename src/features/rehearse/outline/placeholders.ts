/**
 * The strings of an outline, in place of those of a request. A placeholder has the length and the class of its string and none of its
 * letters: a text became filler, a name became other letters of the same kinds, the same ones wherever the name occurs.
 */

/** Begins a text in an outline that is kept; it is no letter of a name, nor of a word that weir knows. */
const MARK = "¤";

/** A text that is kept whole is shorter to write than its placeholder. */
const EMPTY = "";

/** Beginnings of ids by which weir and vendors tell what an id is of. */
const ID_BEGINNING =
  /^(?:toolu|srvtoolu|mcptoolu|call|chatcmpl|msg|resp|rs|fc|ctc|fs|ws|ci|mcp|mcpr|mcpl|file|conv|vs|batch|req|gen|tool|cntr)[_-]/;

/** The first letters of media by which their type is found: PNG, JPEG, GIF, WebP, PDF, WAVE, MP3. */
const MAGIC = /^(?:iVBORw0KGgo|\/9j\/|R0lGOD|UklGR|JVBERi0|SUQz|\/\/uQ)/;

/** Types of media that weir and vendors know. */
const MEDIA_TYPE =
  /^(?:(?:image\/(?:png|jpe?g|gif|webp|hei[cf]|bmp|tiff|svg\+xml|avif)|audio\/(?:mpeg|mp[34]|wav|x-wav|ogg|flac|aac|webm|opus|pcm|L16)|video\/(?:mp4|mpeg|webm|quicktime)|text\/(?:plain|html|csv|markdown|xml)|application\/(?:pdf|json|octet-stream|xml))|)$/;

const SCHEME = /^(?:https?|gs|s3|file|ftp):\/\//;

/** Hosts whose addresses some providers read themselves. */
const HOST =
  /^https?:\/\/(?:(?:www\.)?youtube\.com|youtu\.be|(?:generativelanguage|storage)\.googleapis\.com)\//i;

/** The end of an address that tells the type of what it names. */
const ENDING = /\.(?:png|jpe?g|gif|webp|pdf|txt|csv|md|html?|json|mp[34]|wav|webm|mov|ogg|flac)$/i;

/** Longest name whose letters are replaced one by one; a longer one is a text. Characters. */
const LONGEST_NAME = 128;

/** Names whose placeholders are remembered. */
const MOST_NAMES = 8_192;

/** A name of one or two letters stays: it is of no one in particular, and other letters would soon be those of its neighbour. */
const SHORTEST_NAME = 3;

/** Makes the placeholders of one process. @param secret decides the letters of names: without it, a guess cannot be tried */
export class Placeholders {
  readonly #secret: bigint;
  /** Names come again in the next calls of a client. */
  readonly #names = new Map<string, string>();

  constructor(secret: bigint) {
    this.#secret = secret;
  }

  /** A text: its length in bytes of JSON and in characters, and whether white space is at its ends. */
  text(text: string): string {
    if (text === EMPTY) return EMPTY;
    const bytes = Buffer.byteLength(JSON.stringify(text)) - 2;
    const [begins, finishes] = [isSpace(text, 0), isSpace(text, text.length - 1)];
    if (begins && finishes && text.trim() === "") return `${MARK}${sizes(bytes, text.length)}s`;
    const ends = `${begins ? "b" : ""}${finishes ? "e" : ""}`;
    return `${MARK}${sizes(bytes, text.length)}${ends}`;
  }

  /** Base64, a data URI or a link: what tells which, and its length. */
  media(text: string): string {
    const head = this.#headOf(text);
    const end = head.includes("://") ? (ENDING.exec(text)?.[0] ?? "") : (/={1,2}$/.exec(text)?.[0] ?? "");
    const rest = text.length - head.length - end.length;
    return rest <= 0 ? head + end : `${head}${MARK}${rest}${head.includes("://") ? "l" : "m"}${end}`;
  }

  #headOf(text: string): string {
    const [uri, type, rest = ""] = /^data:([\w.+-]*\/?[\w.+-]*)((?:;base64)?,)/.exec(text) ?? [];
    if (uri !== undefined && type !== undefined) {
      const magic = MAGIC.exec(text.slice(uri.length, uri.length + 16))?.[0] ?? "";
      return `data:${MEDIA_TYPE.test(type) ? type : this.name(type)}${rest}${magic}`;
    }
    return (HOST.exec(text) ?? SCHEME.exec(text) ?? MAGIC.exec(text.slice(0, 16)))?.[0] ?? "";
  }

  /** A name or an id: the same for the same name, with the same kinds of letters at the same places. */
  name(name: string): string {
    if (name.length > LONGEST_NAME) return this.text(name);
    if (name.length < SHORTEST_NAME) return name;
    const known = this.#names.get(name);
    if (known !== undefined) return known;
    const made = this.#nameOf(name);
    if (this.#names.size >= MOST_NAMES) this.#names.clear();
    this.#names.set(name, made);
    return made;
  }

  #nameOf(name: string): string {
    const kept = ID_BEGINNING.exec(name)?.[0] ?? "";
    let made = kept;
    let [digits, left] = [0, 0];
    for (const letter of kept === "" ? name : name.slice(kept.length)) {
      // 51 bits of a hash are enough for seven letters.
      if (left === 0)
        [digits, left] = [Number(Bun.hash.wyhash(`${made.length} ${name}`, this.#secret) >> 13n), 7];
      made += standIn(letter, digits % 128);
      digits = Math.floor(digits / 128);
      left--;
    }
    return made;
  }
}

function isSpace(text: string, at: number): boolean {
  return text.charAt(at).trim() === "";
}

function standIn(letter: string, value: number): string {
  if (letter >= "a" && letter <= "z") return String.fromCharCode(97 + (value % 26));
  if (letter >= "A" && letter <= "Z") return String.fromCharCode(65 + (value % 26));
  if (letter >= "0" && letter <= "9") return String.fromCharCode(48 + (value % 10));
  if (letter <= "\x7f") return letter;
  return Buffer.byteLength(letter) > 2 ? "中" : "é";
}

function sizes(bytes: number, length: number): string {
  return bytes === length ? String(bytes) : `${bytes},${length}`;
}

const KEPT_TEXT = new RegExp(`${MARK}(\\d+)(?:,(\\d+))?([sbe]*)(?:([ml]))?`, "g");

/** Hosts fetch addresses of the public internet alone. */
const LINKED = "example.com/";

/** Whether a kept string has a placeholder in the short form. */
export function isShort(kept: string): boolean {
  return kept.includes(MARK);
}

/** Length of the longest text in short form. Bytes. */
export function longestText(kept: string): number {
  let longest = 0;
  for (const [, bytes] of kept.matchAll(KEPT_TEXT)) longest = Math.max(longest, Number(bytes));
  return longest;
}

/** The text that stands in the request of the rehearsal for a kept string. */
export function expand(kept: string): string {
  return kept.replace(KEPT_TEXT, (_, bytes, length, ends, media) => {
    const count = Number(bytes);
    const letters = length === undefined ? count : Number(length);
    if (media === "l") return count < LINKED.length ? "x.co/x".slice(0, count) : LINKED.padEnd(count, "x");
    if (media === "m") return "A".repeat(count);
    if (ends === "s") return "\n".repeat(Math.min(count - letters, letters)).padEnd(letters);
    const begins = ends.includes("b") ? " " : "x";
    const closes = ends.includes("e") ? " " : "x";
    return filler(count, letters).replace(/^x/, begins).replace(/x$/, closes);
  });
}

/** A text of as many characters, which takes as many bytes as JSON: some of its letters take two or three bytes, or six as an escape. */
function filler(bytes: number, length: number): string {
  const excess = bytes - length;
  const escaped = Math.max(0, Math.ceil((excess - 2 * length) / 3));
  const left = excess - 5 * escaped;
  const made = "\u0001".repeat(escaped) + "中".repeat(left >> 1) + "é".repeat(left & 1);
  const rest = Math.max(0, length - made.length);
  return "x".repeat(rest - (rest >> 1)) + made + "x".repeat(rest >> 1);
}
