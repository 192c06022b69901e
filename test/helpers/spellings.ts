/** The same JSON in other spellings: a parser reads the same value from all of them. */
import type { Json } from "../../src/core/json.ts";
import type { Random } from "./text-kinds.ts";

/**
 * Writes a value with escapes in names and texts, white space, another order of members, members twice below the top level (the
 * last one counts) and numbers in other words.
 * @param isTop of a body, whose members may not occur twice
 */
export function spell(value: Json, random: Random, isTop = true): string {
  const blank = () => (random() < 0.3 ? [" ", "\n", "\t", "  \r\n"][Math.floor(random() * 4)]! : "");
  if (typeof value === "string") return spellText(value, random);
  if (typeof value === "number") return spellNumber(value, random);
  if (Array.isArray(value))
    return `[${blank()}${value.map((each) => spell(each, random, false) + blank()).join(`,${blank()}`)}]`;
  if (value === null || typeof value !== "object") return JSON.stringify(value);
  const members = Object.entries(value).filter(([, inner]) => inner !== undefined);
  const written = shuffled(members, random).flatMap(([name, inner]) => {
    const text = () => `${spellText(name, random)}${blank()}:${blank()}`;
    const own = text() + spell(inner!, random, false);
    const other = ["null", '"text"', "1", "[]", "{}"][Math.floor(random() * 5)]!;
    return !isTop && random() < 0.1 ? [text() + other, own] : [own];
  });
  return `{${blank()}${written.join(`${blank()},${blank()}`)}${blank()}}`;
}

function shuffled<T>(list: readonly T[], random: Random): T[] {
  return list
    .map((each) => ({ each, at: random() }))
    .sort((a, b) => a.at - b.at)
    .map(({ each }) => each);
}

/** Escapes some of the characters; of long texts few, so that they do not grow much. */
function spellText(text: string, random: Random): string {
  const share = text.length > 2000 ? 0.001 : [0, 0.1, 0.6][Math.floor(random() * 3)]!;
  let written = "";
  for (let at = 0; at < text.length; at++) {
    const character = text[at]!;
    if (random() < share) written += `\\u${text.charCodeAt(at).toString(16).padStart(4, "0")}`;
    else if (character === "/" && random() < 0.5) written += "\\/";
    else written += JSON.stringify(character).slice(1, -1);
  }
  return `"${written}"`;
}

function spellNumber(value: number, random: Random): string {
  const plain = JSON.stringify(value);
  if (!Number.isSafeInteger(value) || random() < 0.5) return plain;
  const others = [`${plain}.0`, `${plain}e0`, `${value * 10}E-1`, `${plain}.000`];
  const other = others[Math.floor(random() * others.length)]!;
  return Object.is(JSON.parse(other), value) ? other : plain;
}
