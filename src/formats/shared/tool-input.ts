/** Reads the arguments of a tool call, which models write in many ways, as one JSON object. */
import { GatewayError } from "../../core/error.ts";
import type { FinishReason } from "../../core/events.ts";
import { isObject, type JsonObject, parseJson } from "../../core/json.ts";

export interface ToolInput {
  value: JsonObject;
  /** Note for the reported loss; absent if the arguments were an object, `null` or empty. */
  repair?: string;
  /** The arguments are not valid JSON. */
  broken: boolean;
}

/**
 * Empty arguments and `null` become `{}`. Another value that is not an object becomes the member `value`. Text that is
 * not JSON is completed if that gives an object; otherwise it becomes the member `__invalid_json`.
 */
export function readToolInput(json: string): ToolInput {
  const trimmed = json.trim();
  if (trimmed === "" || trimmed === "null") return { value: {}, broken: false };
  const value = parseJson(trimmed);
  if (isObject(value)) return { value, broken: false };
  if (value === undefined)
    return {
      value: repairJson(json) ?? { __invalid_json: json },
      repair: "the arguments were not JSON",
      broken: true,
    };
  return {
    value: { value },
    repair: "the arguments are not an object; weir put them into the member `value`",
    broken: false,
  };
}

/** Returns the arguments as the JSON text of an object; text that is an object already is returned unchanged. */
export function toolInputText(json: string): { text: string; repair?: string } {
  const { value, repair } = readToolInput(json);
  const isKept = repair === undefined && json.trimStart().startsWith("{");
  return { text: isKept ? json : JSON.stringify(value), repair };
}

/** Streams arguments to a client: fragments of an object pass at once, other values are buffered to the end. */
export class ToolInputStream {
  #all = "";
  #state: "blank" | "object" | "other" = "blank";

  /** Takes a fragment and returns the text to pass on. */
  push(fragment: string): string {
    this.#all += fragment;
    if (this.#state === "object") return fragment;
    if (this.#state === "other") return "";
    const first = fragment.trimStart()[0];
    if (first === undefined) return "";
    this.#state = first === "{" ? "object" : "other";
    return first === "{" ? this.#all : "";
  }

  /** Returns the buffered text, with the note on its repair. Text that is not JSON is returned unchanged. */
  end(): { rest: string; repair?: string; broken: boolean } {
    const { value, repair, broken } = readToolInput(this.#all);
    if (this.#state === "object" || this.#state === "blank") return { rest: "", broken };
    return broken ? { rest: this.#all, broken } : { rest: JSON.stringify(value), repair, broken };
  }

  /** The arguments are one complete object. */
  get isComplete(): boolean {
    return (
      this.#state === "object" && this.#all.trimEnd().endsWith("}") && parseJson(this.#all) !== undefined
    );
  }
}

/**
 * Fails a streamed answer whose tool arguments are not JSON: the client already has them, so weir cannot repair them. An
 * answer that reached the output limit does not fail; its finish reason says that it is incomplete.
 * @param broken names of the tools @throws GatewayError `upstream`
 */
export function checkCalls([name]: readonly string[], reason: FinishReason): void {
  if (name === undefined || reason.kind === "length") return;
  throw new GatewayError(
    "upstream",
    `The model wrote arguments for the tool ${name} that are not JSON; try again.`,
    { code: "invalid_tool_arguments" },
  );
}

const CLOSER: Record<string, string> = { "{": "}", "[": "]" };

/** Completes JSON that ends too early. @returns `undefined` if it is not JSON even when everything open is closed */
function repairJson(text: string): JsonObject | undefined {
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
