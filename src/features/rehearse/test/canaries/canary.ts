/** Canaries: what no outline may have. Each has letters that occur nowhere else, in the shape of something that clients send. */
import type { Json, JsonObject } from "../../../../core/json.ts";

export interface Canary {
  readonly shape: string;
  readonly value: Json;
  /** Parts of it that cannot be guessed: no piece of them may be found. */
  readonly needles: readonly string[];
}

const LETTERS = "abcdefghijklmnopqrstuvwxyz";
const HEX = "0123456789abcdef";
const IDEOGRAPHS = Array.from({ length: 4_000 }, (_, at) => String.fromCodePoint(0x4e30 + at)).join("");

/** Random letters of an alphabet, the same ones for the same seed. */
export class Letters {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  of(alphabet: string, count: number): string {
    let made = "";
    for (let at = 0; at < count; at++) made += alphabet[this.below(alphabet.length)]!;
    return made;
  }

  below(end: number): number {
    this.#state = (Math.imul(this.#state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((this.#state / 2 ** 32) * end);
  }
}

type Shape = (letters: Letters) => { value: Json; needles: string[] };

const word = (letters: Letters) => letters.of(LETTERS, 14);
const base64 = (text: string) => Buffer.from(text).toString("base64");

/** A text around one unguessable word. */
function around(write: (core: string) => Json): Shape {
  return (letters) => {
    const core = word(letters);
    return { value: write(core), needles: [core] };
  };
}

/** The shapes of strings. */
export const SHAPES: Readonly<Record<string, Shape>> = {
  word: around((core) => core),
  "snake case": around((core) => `get_${core}_by_id`),
  "camel case": around((core) => `type${core[0]!.toUpperCase()}${core.slice(1)}`),
  "upper case": (letters) => {
    const core = word(letters).toUpperCase();
    return { value: core, needles: [core] };
  },
  prose: around((core) => `My name is ${core}, and I live in ${core}ville.`),
  uuid: (letters) => {
    const parts = [8, 4, 4, 4, 12].map((count) => letters.of(HEX, count));
    return { value: parts.join("-"), needles: [parts.join("-"), parts.join("")] };
  },
  "e-mail": around((core) => `${core}@${core}.example`),
  digits: (letters) => {
    const digits = letters.of("6789", 1) + letters.of("0123456789", 8);
    return { value: digits, needles: [digits] };
  },
  dated: around((core) => `${core}_20250219`),
  "not ASCII": (letters) => {
    const core = letters.of(IDEOGRAPHS, 12);
    return { value: `é${core}ü`, needles: [core] };
  },
  path: around((core) => `/home/${core}/${core}.pdf`),
  media: around((core) => `image/${core}`),
  link: around((core) => `https://${core}.example/${core}?q=${core}#${core}`),
  "youtube link": around((core) => `https://www.youtube.com/watch?v=${core}`),
  "bucket link": around((core) => `gs://${core}/${core}.png`),
  scheme: around((core) => `${core}://${core}`),
  "data URI": around((core) => `data:image/png;base64,iVBORw0KGgo${base64(`${core}${core}`)}`),
  "data URI of a type": around((core) => `data:text/${core};name=${core};base64,${base64(core)}`),
  "data URI alone": around((core) => `data:${core},`),
  base64: around((core) => base64(`....${core}....`)),
  PDF: around((core) => `JVBERi0xLjQK${base64(core)}`),
  json: around((core) => JSON.stringify({ [core]: [core, { a: core }] })),
  "json in json": around((core) => JSON.stringify({ a: JSON.stringify({ [core]: JSON.stringify([core]) }) })),
  "json cut": around((core) => `{"${core}":"${core}`),
  id: around((core) => `toolu_01${core}`),
  "id of a call": around((core) => `call_${core}`),
  reference: around((core) => `${core}.json#/$defs/${core}`),
  pattern: around((core) => `^(${core}|https?:\\/\\/${core})$`),
  long: (letters) => {
    const cores = Array.from({ length: 40 }, () => word(letters));
    return { value: cores.join(" "), needles: cores };
  },
  "long word": (letters) => {
    const core = letters.of(LETTERS, 300);
    return { value: core, needles: [core] };
  },
  "white space": around((core) => `\n\t ${core}\r\n `),
  escapes: around((core) => `"\\${core}\u0001\u2028¤12¤${core}`),
  placeholder: around((core) => `¤${core}`),
};

/** Other types than strings. */
export const VALUES: Readonly<Record<string, Shape>> = {
  number: (letters) => {
    const value = 600_000_000 + letters.below(399_999_999);
    return { value, needles: [String(value)] };
  },
  fraction: (letters) => {
    const value = 600_000_000 + letters.below(399_999_999) + (1 + letters.below(100)) / 128;
    return { value, needles: [String(Math.floor(value))] };
  },
  list: around((core) => [core, [core]]),
  object: around((core): JsonObject => ({
    [core]: core,
    type: core,
    name: core,
    text: core,
    [`x_${core}`]: 1,
  })),
};

export function makeCanary(shape: string, letters: Letters): Canary {
  return { shape, ...(SHAPES[shape] ?? VALUES[shape])!(letters) };
}

/** Shortest piece of a canary that counts as one. Characters. */
const PIECE = 9;

/** Other ways to write a text. */
function spellings(needle: string): string[] {
  const bytes = Buffer.from(needle);
  const base = [0, 1, 2].map((pad) =>
    Buffer.concat([Buffer.alloc(pad), bytes])
      .toString("base64")
      .replace(/=+$/, "")
      .slice(pad === 0 ? 0 : 4, -2),
  );
  return [
    needle,
    needle.toLowerCase(),
    needle.toUpperCase(),
    [...needle].reverse().join(""),
    bytes.toString("hex"),
    encodeURIComponent(needle),
    JSON.stringify(needle).slice(1, -1),
    [...needle].map((letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, "0")}`).join(""),
    ...base,
    ...base.map((text) => text.replaceAll("+", "-").replaceAll("/", "_")),
  ];
}

/** Finds pieces of canaries in texts. */
export class Search {
  readonly #pieces = new Map<string, Canary>();

  add(canary: Canary): void {
    for (const needle of canary.needles)
      for (const spelling of spellings(needle))
        for (let at = 0; at + PIECE <= spelling.length; at++)
          this.#pieces.set(spelling.slice(at, at + PIECE), canary);
  }

  /** @returns the canaries of which a piece is in the text, each with the text around it */
  in(text: string): Map<Canary, string> {
    const found = new Map<Canary, string>();
    for (let at = 0; at + PIECE <= text.length; at++) {
      const canary = this.#pieces.get(text.slice(at, at + PIECE));
      if (canary && !found.has(canary)) found.set(canary, text.slice(Math.max(0, at - 60), at + 40));
    }
    return found;
  }
}
