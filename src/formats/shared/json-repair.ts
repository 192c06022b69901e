/** Completes JSON that ends too early: closes open strings and brackets. */
import type { JsonObject } from "../../core/json.ts";
import { isObject, parseJson } from "../../core/json.ts";

const CLOSER: Record<string, string> = { "{": "}", "[": "]" };

/** Returns the completed object; `undefined` if the text is not JSON even when everything open is closed. */
export function repairJson(text: string): JsonObject | undefined {
  const { inString, open } = openParts(text);
  const ended = inString ? `${dropIncompleteEscape(text)}"` : text.trimEnd();
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

/** Removes an incomplete escape (`\n`, `\u00e4`) at the end of a string. */
function dropIncompleteEscape(text: string): string {
  return text.replace(/(?<!\\)((?:\\\\)*)\\(?:u[0-9a-fA-F]{0,3})?$/, "$1");
}
