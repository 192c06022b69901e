/** One attempt to finish JSON that ends too early: strings and brackets that are open are closed. */
import type { JsonObject } from "../../core/json.ts";
import { isObject, parseJson } from "../../core/json.ts";

const CLOSER: Record<string, string> = { "{": "}", "[": "]" };

/** The object the text begins, or nothing when closing what is open does not make it JSON. */
export function repairJson(text: string): JsonObject | undefined {
  const { inString, open } = openParts(text);
  const ended = inString ? `${dropHalfEscape(text)}"` : text.trimEnd();
  const closers = open.reverse().join("");
  for (const candidate of [ended, ended.replace(/,$/, ""), `${ended}null`, `${ended}:null`]) {
    const value = parseJson(candidate + closers);
    if (isObject(value)) return value;
  }
  return undefined;
}

function openParts(text: string): { inString: boolean; open: string[] } {
  const open: string[] = [];
  let inString = false;
  for (let at = 0; at < text.length; at++) {
    const character = text[at]!;
    if (inString) {
      if (character === "\\") at++;
      else if (character === '"') inString = false;
    } else if (character === '"') inString = true;
    else if (CLOSER[character]) open.push(CLOSER[character]);
    else if (character === "}" || character === "]") open.pop();
  }
  return { inString, open };
}

/** A string cut inside `\n` or `\u00e4` loses the begun escape. */
function dropHalfEscape(text: string): string {
  return text.replace(/(?<!\\)((?:\\\\)*)\\(?:u[0-9a-fA-F]{0,3})?$/, "$1");
}
