/** Pairs tool calls with their results, for formats where the results directly follow the calls. */
import type { Block, ChatRequest, ToolCallBlock, ToolResultBlock, Turn } from "../../core/chat.ts";
import type { CodecContext } from "../../core/context.ts";
import type { ToolIds } from "../../core/ids.ts";
import { blockPath, fieldPath, turnPath } from "./paths.ts";

/** A turn and its path in the client's request. */
export interface PlacedTurn {
  turn: Turn;
  path: string;
}

/** Consecutive assistant turns and the turns up to the next assistant turn. */
export interface Group {
  assistant: PlacedTurn[];
  others: PlacedTurn[];
}

export function groupTurns(request: ChatRequest): Group[] {
  const groups: Group[] = [{ assistant: [], others: [] }];
  for (const turn of request.turns) {
    const placed = { turn, path: turnPath(turn, request) };
    const last = groups.at(-1)!;
    if (placed.turn.role !== "assistant") last.others.push(placed);
    else if (last.others.length === 0) last.assistant.push(placed);
    else groups.push({ assistant: [placed], others: [] });
  }
  return groups;
}

/** A call, the provider's id for it, and the result that the provider gets. */
export interface AnsweredCall {
  id: string;
  call: ToolCallBlock;
  result: ToolResultBlock;
  path: string;
}

/** The calls of a group with their results, and the results without a call. */
export interface Paired {
  calls: readonly AnsweredCall[];
  orphans: ReadonlySet<Block>;
}

/** weir adds a result to a call without one, because providers refuse such a history. Reports what it repairs. */
export function pairResults(
  { assistant, others }: Group,
  ids: ToolIds,
  request: ChatRequest,
  { reportLoss }: Pick<CodecContext, "reportLoss">,
): Paired {
  if (assistant.length === 0 && !others.some(hasResult)) return NOTHING_PAIRED;
  ids.beginTurn();
  const sent = assistant.flatMap(({ turn }) =>
    turn.blocks.flatMap((block) =>
      block.type === "tool-call" ? [{ id: ids.call(block.id), call: block }] : [],
    ),
  );
  const results = new Map<string, { result: ToolResultBlock; path: string }>();
  const orphans = new Set<Block>();
  for (const { turn, path: turnPlace } of others)
    for (const block of turn.blocks) {
      if (block.type !== "tool-result") continue;
      const id = ids.result(block.id);
      const path = blockPath(block, turnPlace);
      if (id === undefined) orphans.add(block);
      else {
        if (results.has(id))
          reportLoss("repaired", path, "two results for one tool call; weir keeps the last one");
        results.set(id, { result: block, path });
      }
    }
  const calls = sent.map(({ id, call }) => {
    const found = results.get(id);
    if (found) return { id, call, ...found };
    const path = fieldPath(request, "turns");
    reportLoss("synthesized", path, "the tool call has no result");
    return { id, call, result: missingResult(call), path };
  });
  return { calls, orphans };
}

const NOTHING_PAIRED: Paired = { calls: [], orphans: new Set() };

function hasResult({ turn }: PlacedTurn): boolean {
  return turn.blocks.some(({ type }) => type === "tool-result");
}

function missingResult(call: ToolCallBlock): ToolResultBlock {
  return {
    type: "tool-result",
    id: call.id,
    blocks: [{ type: "text", text: "no result was provided" }],
    error: true,
  };
}
