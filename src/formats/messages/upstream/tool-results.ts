/**
 * Pairs calls with their results as the format requires: the next user message begins with the results of all calls, in
 * the order of the calls (src/formats/README.md#tool-results).
 */
import { type IdRule, ToolIds } from "../../../core/ids.ts";
import type { Json, JsonObject } from "../../../core/json.ts";
import { isObject } from "../../../core/json.ts";
import type { EncodeContext } from "./content.ts";

/** A message of the request before it is finished. */
export interface Draft {
  role: "system" | "user" | "assistant";
  blocks: DraftBlock[];
  path: string;
  effort?: string;
}

export interface DraftBlock {
  wire: JsonObject;
  path: string;
  /** For a call or a result: the client's id and the name of the function. */
  tool?: { id: string; name: string };
}

/** Anthropic accepts `^[a-zA-Z0-9_-]+$`; 64 characters leave room for a readable prefix and a hash. */
export const TOOL_IDS: IdRule = { legal: /^[a-zA-Z0-9_-]{1,64}$/, length: 64 };

const NO_RESULT = "no result was provided";

/** @param drafts merged messages, with the client's ids in calls and results */
export function pairToolResults(drafts: readonly Draft[], context: EncodeContext): Draft[] {
  const ids = new ToolIds(TOOL_IDS);
  const paired: Draft[] = [];
  let calls: DraftBlock[] = [];
  for (const draft of drafts) {
    if (draft.role === "user") {
      paired.push(answerCalls(draft, calls, ids, context));
      calls = [];
      continue;
    }
    if (calls.length > 0)
      paired.push(answerCalls({ role: "user", blocks: [], path: draft.path }, calls, ids, context));
    calls = draft.role === "assistant" ? assignIds(draft, ids) : [];
    paired.push(draft);
  }
  if (calls.length > 0)
    paired.push(answerCalls({ role: "user", blocks: [], path: calls[0]!.path }, calls, ids, context));
  return paired;
}

/** Replaces the ids of the calls of a message by ids for the provider. */
function assignIds(draft: Draft, ids: ToolIds): DraftBlock[] {
  ids.beginTurn();
  const calls = draft.blocks.filter(({ wire }) => wire.type === "tool_use");
  for (const { wire, tool } of calls) if (tool) wire.id = ids.call(tool.id);
  return calls;
}

function answerCalls(
  draft: Draft,
  calls: readonly DraftBlock[],
  ids: ToolIds,
  context: EncodeContext,
): Draft {
  if (calls.length === 0 && !draft.blocks.some(({ wire }) => wire.type === "tool_result")) return draft;
  const answers = new Map<string, DraftBlock>();
  const idsByName = callsByName(calls);
  const rest: DraftBlock[] = [];
  for (const block of draft.blocks) {
    if (block.wire.type !== "tool_result") {
      rest.push(block);
      continue;
    }
    const id = answeredId(block, idsByName, answers, ids);
    if (id === undefined) {
      context.reportLoss("repaired", block.path, "the result has no tool call; sent as text");
      rest.push(...writeOrphan(block));
      continue;
    }
    if (answers.has(id))
      context.reportLoss("repaired", block.path, "two results for one tool call; weir keeps the last one");
    block.wire.tool_use_id = id;
    answers.set(id, block);
  }
  const results = calls.map(
    ({ wire, path }) => answers.get(String(wire.id)) ?? missing(String(wire.id), path, context),
  );
  return { ...draft, blocks: [...results, ...rest] };
}

/** Returns the ids of the calls by function name, in reverse order. */
function callsByName(calls: readonly DraftBlock[]): Map<string, string[]> {
  const byName = new Map<string, string[]>();
  for (const { wire, tool } of calls.toReversed()) {
    const ids = byName.get(tool?.name ?? "");
    if (ids) ids.push(String(wire.id));
    else byName.set(tool?.name ?? "", [String(wire.id)]);
  }
  return byName;
}

/** Returns the id of the answered call. Legacy results have no id: they answer the first open call of their function. */
function answeredId(
  { tool }: DraftBlock,
  byName: ReadonlyMap<string, string[]>,
  answers: ReadonlyMap<string, DraftBlock>,
  ids: ToolIds,
): string | undefined {
  if (!tool || byName.size === 0) return undefined;
  if (tool.id !== "") return ids.result(tool.id);
  const open = byName.get(tool.name) ?? [];
  while (open.length > 0 && answers.has(open.at(-1)!)) open.pop();
  return open.at(-1);
}

function missing(id: string, path: string, context: EncodeContext): DraftBlock {
  context.reportLoss("synthesized", path, "the tool call has no result");
  return { wire: { type: "tool_result", tool_use_id: id, content: NO_RESULT, is_error: true }, path };
}

/** Converts a result without a call to text. */
function writeOrphan({ wire, path, tool }: DraftBlock): DraftBlock[] {
  const content: Json[] =
    typeof wire.content === "string"
      ? [{ type: "text", text: wire.content }]
      : Array.isArray(wire.content)
        ? wire.content
        : [];
  const texts = content.flatMap((block) =>
    isObject(block) && typeof block.text === "string" ? [block.text] : [],
  );
  const others = content.filter(isObject).filter((block) => block.type !== "text");
  const text = `[result of tool ${tool?.name || tool?.id || "unknown"}] ${texts.join("\n")}`.trimEnd();
  return [{ type: "text", text }, ...others].map((block) => ({ wire: block, path }));
}
