/** Arguments of a tool call, which models write in many ways, as the one JSON object that tools take. */
import { GatewayError } from "../../core/error.ts";
import type { FinishReason } from "../../core/events.ts";
import type { JsonObject } from "../../core/json.ts";
import { isObject, parseJson } from "../../core/json.ts";
import { repairJson } from "./json-repair.ts";

/** What arguments mean. */
export interface ToolInput {
  value: JsonObject;
  /** What had to be done to make them an object, for a loss; absent when they were one, `null` or nothing. */
  repair?: string;
  /** They are not JSON: cut off, or never were. */
  broken: boolean;
}

/**
 * Nothing and `null` are `{}`; another value that is no object becomes the member `value`; text that is not JSON is
 * completed where that makes it an object, else it becomes the member `__invalid_json`.
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
    repair: "the arguments are not an object; they stand in `value`",
    broken: false,
  };
}

/** Arguments as JSON text of an object; the text itself, byte for byte, when it is one. */
export function toolInputText(json: string): { text: string; repair?: string } {
  const { value, repair } = readToolInput(json);
  const isKept = repair === undefined && json.trimStart().startsWith("{");
  return { text: isKept ? json : JSON.stringify(value), repair };
}

/** Fragments of arguments on their way to a client: an object passes as it comes, all else waits for its end. */
export class ToolInputStream {
  #all = "";
  #state: "blank" | "object" | "other" = "blank";

  /** Takes a fragment; gives what may be passed on. */
  push(fragment: string): string {
    this.#all += fragment;
    if (this.#state === "object") return fragment;
    if (this.#state === "other") return "";
    const first = fragment.trimStart()[0];
    if (first === undefined) return "";
    this.#state = first === "{" ? "object" : "other";
    return first === "{" ? this.#all : "";
  }

  /** What is left to be passed on at the end, and what had to be done. Text that is not JSON is passed on as it is. */
  end(): { rest: string; repair?: string; broken: boolean } {
    const { value, repair, broken } = readToolInput(this.#all);
    if (this.#state === "object" || this.#state === "blank") return { rest: "", broken };
    return broken ? { rest: this.#all, broken } : { rest: JSON.stringify(value), repair, broken };
  }

  /** They are one whole object: nothing can be added to them. */
  get isWhole(): boolean {
    return (
      this.#state === "object" && this.#all.trimEnd().endsWith("}") && parseJson(this.#all) !== undefined
    );
  }
}

/**
 * In a stream the arguments are with the client before it shows that they are not JSON, so that the answer has to fail;
 * unless it was cut off, which its finish reason says.
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
