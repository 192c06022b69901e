/** Chooses the tools that the mock calls, and their arguments. */
import type { ChatRequest, Tool } from "weir";
import { isObject, parseJson } from "weir";
import { clip, freshOutcomes, lastUserText } from "./request.ts";
import { makeInstance } from "./schema.ts";
import { makeId } from "./seed.ts";

export interface PlannedCall {
  id: string;
  name: string;
  kind: "function" | "custom";
  /** JSON text, or plain text for a custom tool. */
  input: string;
}

/**
 * Plans the calls of an answer: the tools that the last user text names, in its order, or all tools for `everyTool`. If the
 * request forces a call, at least one; otherwise none after tool results.
 */
export function chooseCalls(request: ChatRequest, seed: string, everyTool: boolean): PlannedCall[] {
  const chosen = chooseTools(request, everyTool);
  const allowed = request.parallelToolCalls === false ? chosen.slice(0, 1) : chosen;
  return allowed.map((tool, index) => planCall(tool, request, seed, index));
}

function chooseTools(request: ChatRequest, everyTool: boolean): Tool[] {
  const choice = request.toolChoice ?? { type: "auto" };
  if (choice.type === "none") return [];
  const callable = request.tools.filter((tool) => tool.kind !== "foreign");
  if (choice.type === "tool") return callable.filter((tool) => tool.name === choice.name).slice(0, 1);
  const offered =
    choice.type === "allowed" ? callable.filter((tool) => choice.names.includes(tool.name)) : callable;
  const forced = choice.type === "required" || (choice.type === "allowed" && choice.required);
  if (!forced && freshOutcomes(request).length > 0) return [];
  if (everyTool) return offered;
  const named = namedIn(lastUserText(request), offered);
  return named.length === 0 && forced ? offered.slice(0, 1) : named;
}

/** Returns the tools that a text names, in its order. */
function namedIn(text: string, tools: readonly Tool[]): Tool[] {
  const folded = fold(text);
  return tools
    .map((tool) => ({ tool, at: endOfName(tool.name, folded) }))
    .filter(({ at }) => at >= 0)
    .sort((a, b) => a.at - b.at)
    .map(({ tool }) => tool);
}

/** Length of the text that is searched for names, in UTF-16 units. */
const MAX_SEARCHED = 100_000;
const MAX_ARGUMENTS = 10_000;
const PART_OF_NAME = /[\p{L}\p{N}_-]/u;

/** Returns the text in lower case if that keeps the position of every character. */
function fold(text: string): string {
  const searched = text.slice(0, MAX_SEARCHED);
  const lower = searched.toLowerCase();
  return lower.length === searched.length ? lower : searched;
}

/** Returns the end of a name that is a word of its own in a folded text (`_` and `-` also match a space), or -1. */
function endOfName(name: string, folded: string): number {
  for (const spelling of new Set([name.toLowerCase(), name.toLowerCase().replace(/[_-]+/g, " ")])) {
    if (spelling.trim() === "") continue;
    for (let at = folded.indexOf(spelling); at >= 0; at = folded.indexOf(spelling, at + 1)) {
      const end = at + spelling.length;
      const isPartOfWord = PART_OF_NAME.test(folded[at - 1] ?? " ") || PART_OF_NAME.test(folded[end] ?? " ");
      if (!isPartOfWord) return end;
    }
  }
  return -1;
}

function planCall(tool: Tool, request: ChatRequest, seed: string, index: number): PlannedCall {
  const id = `call_${makeId(seed, `call/${index}`, 24)}`;
  const text = lastUserText(request);
  if (tool.kind === "custom") {
    const input = givenInput(tool.name, text) ?? clip(text, 200);
    return { id, name: tool.name, kind: "custom", input };
  }
  const input = givenArguments(tool.name, text) ?? JSON.stringify(makeArguments(tool, seed));
  return { id, name: tool.name, kind: "function", input };
}

function makeArguments(tool: Tool, seed: string) {
  const made = makeInstance({ type: "object", ...tool.parameters }, `${seed}/${tool.name}`);
  return isObject(made) ? made : {};
}

/** Returns the input in the user's text: the first fenced block behind the name. */
function givenInput(name: string, text: string): string | undefined {
  const end = endOfName(name, fold(text));
  return end < 0 ? undefined : /\n```[^\n]*\n(.*?)\n```/s.exec(text.slice(end, end + MAX_ARGUMENTS))?.[1];
}

/** Returns the arguments in the user's text: a JSON object after the name, as in `get_weather({"city": "Oslo"})`. */
function givenArguments(name: string, text: string): string | undefined {
  const end = endOfName(name, fold(text));
  const behind = text.slice(end, end + MAX_ARGUMENTS);
  const opening = end < 0 ? null : /^`? {0,8}\(? {0,8}(?=\{)/.exec(behind);
  if (!opening) return undefined;
  const given = firstObject(behind.slice(opening[0].length));
  return isObject(parseJson(given)) ? given : undefined;
}

/** Returns the text up to the brace that closes its first one; all of the text if there is none. */
function firstObject(text: string): string {
  let depth = 0;
  for (const { 0: token, index } of text.matchAll(/"(?:[^"\\]|\\.)*"|[{}]/gs)) {
    if (token === "{") depth++;
    else if (token === "}" && --depth === 0) return text.slice(0, index + 1);
  }
  return text;
}
