/** Decides which tools the mock calls, and with what. */
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
 * The calls of an answer: the tools the last user text names, in its order; one in any case when the request insists; all
 * of them for `everyTool`. After tool results none, unless the request insists.
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
  const insists = choice.type === "required" || (choice.type === "allowed" && choice.required);
  if (!insists && freshOutcomes(request).length > 0) return [];
  if (everyTool) return offered;
  const named = namedIn(lastUserText(request), offered);
  return named.length === 0 && insists ? offered.slice(0, 1) : named;
}

/** The tools a text names, in its order. */
function namedIn(text: string, tools: readonly Tool[]): Tool[] {
  const folded = fold(text);
  return tools
    .map((tool) => ({ tool, at: endOfName(tool.name, folded) }))
    .filter(({ at }) => at >= 0)
    .sort((a, b) => a.at - b.at)
    .map(({ tool }) => tool);
}

/** Beyond so many characters nobody looks for names. */
const SEARCHED = 100_000;
const LONGEST_ARGUMENTS = 10_000;
const PART_OF_NAME = /[\p{L}\p{N}_-]/u;

/** A text in lower case, where that leaves every character in its place. */
function fold(text: string): string {
  const searched = text.slice(0, SEARCHED);
  const lower = searched.toLowerCase();
  return lower.length === searched.length ? lower : searched;
}

/** Where a name ends that stands alone in a folded text, `_` and `-` also as a space; -1 when it does not. */
function endOfName(name: string, folded: string): number {
  for (const spelling of new Set([name.toLowerCase(), name.toLowerCase().replace(/[_-]+/g, " ")])) {
    if (spelling.trim() === "") continue;
    for (let at = folded.indexOf(spelling); at >= 0; at = folded.indexOf(spelling, at + 1)) {
      const end = at + spelling.length;
      const stuck = PART_OF_NAME.test(folded[at - 1] ?? " ") || PART_OF_NAME.test(folded[end] ?? " ");
      if (!stuck) return end;
    }
  }
  return -1;
}

function planCall(tool: Tool, request: ChatRequest, seed: string, index: number): PlannedCall {
  const id = `call_${makeId(seed, `call/${index}`, 24)}`;
  const text = lastUserText(request);
  if (tool.kind === "custom") return { id, name: tool.name, kind: "custom", input: clip(text, 200) };
  const input = givenArguments(tool.name, text) ?? JSON.stringify(makeArguments(tool, seed));
  return { id, name: tool.name, kind: "function", input };
}

function makeArguments(tool: Tool, seed: string) {
  const made = makeInstance({ type: "object", ...tool.parameters }, `${seed}/${tool.name}`);
  return isObject(made) ? made : {};
}

/** The arguments a user dictates: a JSON object right behind the name, as in `get_weather({"city": "Oslo"})`. */
function givenArguments(name: string, text: string): string | undefined {
  const end = endOfName(name, fold(text));
  const behind = text.slice(end, end + LONGEST_ARGUMENTS);
  const opening = end < 0 ? null : /^`? {0,8}\(? {0,8}(?=\{)/.exec(behind);
  if (!opening) return undefined;
  const given = firstObject(behind.slice(opening[0].length));
  return isObject(parseJson(given)) ? given : undefined;
}

/** From the opening brace a text begins with to the one that closes it; all of the text when none does. */
function firstObject(text: string): string {
  let depth = 0;
  for (const { 0: token, index } of text.matchAll(/"(?:[^"\\]|\\.)*"|[{}]/gs)) {
    if (token === "{") depth++;
    else if (token === "}" && --depth === 0) return text.slice(0, index + 1);
  }
  return text;
}
