/** Names that people give to keys, budgets and rate limits: letters of any script, without invisible or control characters. */

/** The form of a name, for messages. */
export const NAME_EXPECTS = "1 to 64 letters of any script, digits, dots, dashes, underscores and @";

/** For editors, which read it with the flag `u`; {@link nameFault} is stricter. */
export const NAME_PATTERN = "^[\\p{L}\\p{N}._@-][\\p{L}\\p{M}\\p{N}._@-]{0,63}$";

const PLAIN = /^[\w.@-]{1,64}$/;
const NAME = new RegExp(NAME_PATTERN, "u");
const SPACED = /^[\p{L}\p{N}._@-][\p{L}\p{M}\p{N}._@ -]{0,63}$/u;
/** Control characters, formatting and bidirectional characters, and letters that have no shape, such as the Hangul filler. */
const INVISIBLE = /[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/u;
const OTHERS = /[^\p{L}\p{M}\p{N}._@-]+/gu;
/** Scripts with letters of the same shape. */
const ALIKE = ["Latin", "Cyrillic", "Greek"] as const;
const SCRIPTS = ALIKE.map((script) => [script, new RegExp(`\\p{Script=${script}}`, "u")] as const);

/** A name as weir keeps it: the same letters are the same characters (NFC). */
export function normalName(text: string): string {
  return text.normalize("NFC");
}

/** A clause that states the fault of a name, such as `must have …`; undefined when there is none. @param spaces it may have spaces inside */
export function nameFault(name: string, spaces = false): string | undefined {
  if (PLAIN.test(name)) return undefined;
  const hidden = INVISIBLE.exec(name)?.[0];
  if (hidden !== undefined) {
    const code = hidden.codePointAt(0)!.toString(16).toUpperCase().padStart(4, "0");
    return `must not have invisible or control characters, but has U+${code}`;
  }
  if (!(spaces ? SPACED : NAME).test(name) || name.endsWith(" "))
    return `must have ${spaces ? NAME_EXPECTS.replace("digits", "digits, spaces") : NAME_EXPECTS}`;
  for (const word of name.split(/[._@ -]+/)) {
    const mixed = SCRIPTS.filter(([, letters]) => letters.test(word)).map(([script]) => script);
    if (mixed.length > 1)
      return `must not mix letters of ${mixed.join(" and ")} in one word, because they look alike`;
  }
  return undefined;
}

/** Names with the same text look the same, or nearly: they differ in case or in the width of letters. */
export function likeness(name: string): string {
  return name.normalize("NFKC").toUpperCase().toLowerCase().normalize("NFKC");
}

/** Whether a name is taken by another one, which it is or which it is like. Plain names may differ in case alone. */
export function isTakenBy(name: string, other: string): boolean {
  if (name === other) return true;
  return !(PLAIN.test(name) && PLAIN.test(other)) && likeness(name) === likeness(other);
}

/** A name made of a text of another system: what a name cannot have becomes a dash. @param most code points */
export function nameFrom(text: string, most = 60): string {
  const fitting = normalName(text)
    .replace(OTHERS, "-")
    .replace(/^\p{M}+/u, "");
  const name = [...fitting].slice(0, most).join("");
  return nameFault(name) === undefined ? name : name.replace(/[^\w.@-]+/g, "-") || "key";
}

/** A name for a header: characters that no header carries, and `%`, are percent-encoded UTF-8. */
export function nameInHeader(name: string): string {
  return name.replace(/[^\x20-\x7e]+|%/gu, (text) => encodeURIComponent(text.toWellFormed()));
}
