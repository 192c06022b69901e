/** Texts on which detectors are measured: those of chats, and hostile ones. */
import { readFileSync } from "node:fs";
import { join } from "node:path";

const ROOT = join(import.meta.dir, "../../../..");
const read = (path: string) => readFileSync(join(ROOT, path), "utf8");

/** Prose, code, tables and JSON, as a coding agent sends them, with some values of people in it. */
const PARTS = [
  () => read("src/gateway/README.md").slice(0, 3_000),
  () => read("src/gateway/seams.ts").slice(0, 3_000),
  () => JSON.stringify(JSON.parse(read("package.json")), null, 2).slice(0, 3_000),
  () => read("src/config/slow-expression.ts").slice(0, 3_000),
  () => JSON.stringify({ path: "src/stream/sse.ts", content: read("src/stream/sse.ts").slice(0, 2_000) }),
  () =>
    "Guten Tag, ich möchte Rechnung 2026-0815 bezahlen — IBAN DE89 3704 0044 0532 0130 00, Karte 4111 1111 1111 1111, anna@example.com, 10.20.30.40. ".repeat(
      3,
    ),
  () => read("test/README.md").slice(0, 3_000),
];

/** @param size in UTF-16 units */
export function chatText(size: number): string {
  let text = "";
  for (let at = 0; text.length < size; at++) text += `${PARTS[at % PARTS.length]!()}\n\n`;
  return flat(text.slice(0, size));
}

const repeated = (unit: string, size: number) =>
  flat(unit.repeat(Math.ceil(size / unit.length)).slice(0, size));

/** Texts that are made to take long, by what they repeat. */
export const HOSTILE: Readonly<Record<string, (size: number) => string>> = {
  "a@a@a@": (size) => repeated("a@", size),
  "dotted names": (size) => repeated("a.", size),
  "addresses without an end": (size) => repeated(`${"é".repeat(60)}@`, size),
  "@": (size) => repeated("@", size),
  "1 1 1 1": (size) => repeated("1 ", size),
  "4 4 4 4": (size) => repeated("4 ", size),
  "4-44 4": (size) => repeated("4-44 4 444 ", size),
  "cards that are none": (size) => repeated("4111 1111 1111 1112 ", size),
  digits: (size) => repeated("4111111111", size),
  "digits in many forms": (size) => repeated("+49 (0)30-1.2/3 ", size),
  dots: (size) => repeated(".", size),
  "1.1.1.1": (size) => repeated("1.", size),
  "numbers of versions": (size) => repeated("1.2.3.4.5 ", size),
  hex: (size) => repeated("deadbeef01", size),
  "a:b:c": (size) => repeated("ab:", size),
  "::": (size) => repeated(":", size),
  "accounts that are none": (size) => repeated("DE11 ", size),
  AA11: (size) => repeated("AA11", size),
  "MT84 in one word": (size) => repeated("MT84MALT", size),
  "key key key": (size) => repeated("key ", size),
  "key=key=key": (size) => repeated("key=", size),
  "values that are too long": (size) => repeated(`${"key=".repeat(75)} `, size),
  "values with other characters": (size) => repeated(`${"key=".repeat(35)}(;`, size),
  "beginnings of tokens": (size) => repeated("ghp_AKIAsk-eyJxoxb-1-sc_SG.pat.s.", size),
  "ey.ey.ey": (size) => repeated("eyAAAAAAAAAAAAAAAAAAA.", size),
  "curl -u": (size) => repeated("curl -u ", size),
  "curl -H": (size) => repeated('curl -H "Authorization: ', size),
  "beginnings of keys": (size) => repeated("-----BEGIN PRIVATE ", size),
  "keys without an end": (size) => repeated("-----BEGIN PRIVATE KEY---- ", size),
  "zero width": (size) => repeated("a\u200b", size),
  joiners: (size) => repeated("\u200d\u200ca\u00ad", size),
  "escapes of terminals": (size) => repeated("\x1b]8;;x\x1b[", size),
  "selectors of variations": (size) => repeated("a\ufe0f\u{e0101}", size),
  spaces: (size) => repeated(" ", size),
  letters: (size) => repeated("a", size),
  escapes: (size) => repeated("\\n", size),
  "\\u0041": (size) => repeated("\\u0041", size),
  "%41": (size) => repeated("%41", size),
  "%": (size) => repeated("%", size),
  "&#64;": (size) => repeated("&#64;", size),
  "&": (size) => repeated("&", size),
  base64: (size) => repeated("QUFBQUFBQUFB", size),
  "lines of base64": (size) => repeated(`${"QUFB".repeat(19)}\n`, size),
  "full width": (size) => repeated("ａ１＠．", size),
  "no-break spaces": (size) => repeated("a\u00a0", size),
  "+1+1+1": (size) => repeated("+1", size),
  "+1 +1 +1": (size) => repeated("+1 ", size),
  "(0)(0)": (size) => repeated("(0)", size),
  "+49(0)": (size) => repeated("+49(0)", size),
  "00 49": (size) => repeated("00 49 ", size),
  "12 34 56 78": (size) => repeated("12 34 56 78 ", size),
  "123 456 789": (size) => repeated("123 456 789 ", size),
  "000-45-6789": (size) => repeated("000-45-6789 ", size),
  "11 digits": (size) => repeated("22345678901 ", size),
  "15 digits": (size) => repeated("190010112345678 ", size),
  dates: (size) => repeated("2026-11-28 ", size),
  "1::2": (size) => repeated("1::2 ", size),
  "a@a.": (size) => repeated("a@a.", size),
  "1|2|3": (size) => repeated("1|2|3|", size),
  "sk-sk-sk-": (size) => repeated("sk-", size),
  AKIAAKIA: (size) => repeated("AKIA", size),
  "glpat-glpat-": (size) => repeated("glpat-", size),
  "ends of keys": (size) => repeated("T3BlbkFJ", size),
  "hosts of webhooks": (size) => repeated("webhook.office.com", size),
  "passwords that are none": (size) => repeated("password=abcdefghij ", size),
  "keys on one line": (size) => repeated("api_key = 'aB3dE5gH7jK9mN1p' ", size),
  "many hexadecimal digits": (size) => repeated("9f86d081884c7d659a2feaa0c55ad015", size),
  Chinese: (size) => repeated("你好，世界。", size),
  emoji: (size) => repeated("👩‍👩‍👧", size),
};

/** Concatenated texts are trees until they are read: this one is not. */
function flat(text: string): string {
  return Buffer.from(text, "utf16le").toString("utf16le");
}
