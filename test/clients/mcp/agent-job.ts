/**
 * A provider that plays the model of a job of ten tool calls, at three servers behind one endpoint. It makes the next call only
 * when the request holds the result of the one before.
 */
import { isObject, type Json, type JsonObject, parseJson } from "../../../src/core/json.ts";
import { responsesStream } from "../../helpers/responses-events.ts";
import { json, sse, startUpstream } from "../../helpers/upstream.ts";
import { type Call, list } from "../job/language.ts";
import { jobLanguage } from "../job/provider.ts";

export const TASK = "Do the job of ten calls with the tools of weir.";
/** What the model says last. */
export const DONE = "All ten calls are done.";

export interface Step {
  /** As `/mcp` names it. Clients put more in front of it. */
  readonly tool: string;
  readonly input: JsonObject;
  /** What its result must hold. */
  readonly result: string;
}

/** @param mark a word of this run alone @param folder the one of the filesystem server */
export function stepsOf(mark: string, folder: string): readonly Step[] {
  const file = `${folder}/${mark}.txt`;
  const steps: [tool: string, input: JsonObject, result: string][] = [
    ["everything__echo", { message: `ü ${mark}` }, `Echo: ü ${mark}`],
    ["everything__get-sum", { a: 19, b: 23 }, "42"],
    ["everything__trigger-long-running-operation", { duration: 1, steps: 2 }, "completed"],
    ["filesystem__write_file", { path: file, content: `first ${mark}\n` }, "wrote"],
    [
      "filesystem__edit_file",
      { path: file, edits: [{ oldText: "first", newText: "second" }] },
      `+second ${mark}`,
    ],
    ["filesystem__read_text_file", { path: file }, `second ${mark}`],
    ["filesystem__list_directory", { path: folder }, `${mark}.txt`],
    [
      "memory__create_entities",
      { entities: [{ name: mark, entityType: "run", observations: ["made"] }] },
      mark,
    ],
    [
      "memory__add_observations",
      { observations: [{ entityName: mark, contents: ["seen twice"] }] },
      "seen twice",
    ],
    ["memory__read_graph", {}, "seen twice"],
  ];
  return steps.map(([tool, input, result]) => ({ tool, input, result }));
}

export interface AgentProvider {
  readonly url: string;
  /** Results that held what they must. */
  readonly results: () => number;
  /** What a request lacked, and what the provider does not know. */
  readonly faults: readonly string[];
  stop(): void;
}

/** Formats by the paths of their requests. */
const FORMATS: readonly [RegExp, string][] = [
  [/\/messages(\?|$)/, "messages"],
  [/\/responses(\?|$)/, "responses"],
  [/:(stream)?[gG]enerateContent/, "gemini"],
];

/** Id of the call with which the model looks for tools whose names alone, or less, it was told. */
const SEARCH = "call_search";
const SEARCHES = ["ToolSearch", "tool_search"];

interface Offered {
  readonly name: string;
  readonly namespace?: string | undefined;
}

/** What a request has for the model. */
interface Seen {
  readonly offered: readonly Offered[];
  /** Of the calls of the job, in order. */
  readonly results: readonly string[];
  readonly hasSearched: boolean;
}

/** Starts the provider for one run of a client. @param done what the model says last */
export function startAgentProvider(steps: readonly Step[], done = DONE): AgentProvider {
  const faults: string[] = [];
  let held = 0;
  const upstream = startUpstream(({ path, body }) => {
    const format = FORMATS.find(([pattern]) => pattern.test(path))?.[1];
    const request = parseJson(body.toString("utf8"));
    // Clients count tokens and look for models: they go on without.
    if (!format || !isObject(request)) return json({ error: { message: "no such thing" } }, 404);
    const language = jobLanguage(format);
    const { results: all, stream, model } = language.read(request, path);
    const hasSearched = JSON.stringify(request).includes(SEARCH);
    // Claude Code answers the search as it answers any call.
    const results = hasSearched && format === "messages" ? all.slice(1) : all;
    const offered = [...offeredIn(request["tools"]), ...offeredIn(request["input"])];
    const next = nextOf(steps, done, { offered, results, hasSearched });
    held = Math.max(held, next.held);
    if (next.fault !== undefined) faults.push(next.fault);
    if (next.search === "tool_search") return sse(responsesStream({ items: [RESPONSES_SEARCH] }));
    const call = next.search === undefined ? next.call : searchFor(steps);
    const calls = call ? [call] : [];
    const said = { ...(next.text !== undefined && { text: next.text }), ...(model && { model }), calls };
    return language.write({ number: all.length, reasoning: "One after the other.", ...said }, stream);
  });
  return { url: upstream.url, results: () => held, faults, stop: () => upstream.stop() };
}

interface Next {
  /** Results that are as they must be. */
  readonly held: number;
  /** Name of the tool that looks for tools. */
  readonly search?: string;
  readonly call?: Call;
  readonly text?: string;
  readonly fault?: string;
}

function nextOf(steps: readonly Step[], done: string, { offered, results, hasSearched }: Seen): Next {
  const before = steps[results.length - 1];
  const last = results.at(-1) ?? "";
  if (before && !last.includes(before.result)) {
    const fault = `${before.tool} answered ${last.slice(0, 200)}`;
    return { held: results.length - 1, text: "The result is wrong.", fault };
  }
  const held = results.length;
  const step = steps[held];
  if (!step) return { held, text: done };
  const found = offered.find(({ name }) => plain(name).endsWith(plain(step.tool)));
  if (found) return { held, call: callOf(held, found, step.input) };
  const search = offered.find(({ name }) => SEARCHES.includes(name))?.name;
  if (search !== undefined && !hasSearched) return { held, search };
  // A client that wants a title of the conversation declares no tools.
  if (offered.length === 0) return { held, text: "A job" };
  return { held, text: "A tool is missing.", fault: `the client has no ${step.tool}` };
}

/** Codex has no hyphens in names. */
const plain = (name: string) => name.replaceAll("-", "_");

function callOf(number: number, { name, namespace }: Offered, input: JsonObject): Call {
  const call = { id: `call_t${number}`, name, kind: "function", input: JSON.stringify(input) } as const;
  return { ...call, ...(namespace !== undefined && { namespace }) };
}

function searchFor(steps: readonly Step[]): Call {
  const query = `select:${steps.map(({ tool }) => `mcp__weir__${tool}`).join(",")}`;
  return { ...callOf(0, { name: "ToolSearch" }, { query, max_results: steps.length }), id: SEARCH };
}

const RESPONSES_SEARCH = {
  type: "whole",
  item: {
    ...{ type: "tool_search_call", call_id: SEARCH, execution: "client", status: "completed" },
    arguments: { query: "weir", limit: 60 },
  },
} as const;

/** All functions that a request declares or found, whatever its format. */
function offeredIn(tools: Json | undefined, namespace?: string): Offered[] {
  return list(tools).flatMap(({ name, type, functionDeclarations, tools: inner }) => {
    const own = type === "tool_search" ? type : name;
    if (inner !== undefined) return offeredIn(inner, typeof name === "string" ? name : undefined);
    return [
      ...(typeof own === "string" ? [{ name: own, namespace }] : []),
      ...offeredIn(functionDeclarations),
    ];
  });
}
