/** The exchanges of conversations as the loop uses them: the process of the tools has them, because the next request may reach another worker. */
import type { Block, Turn } from "../../../core/chat.ts";
import { parseExact } from "../../../core/exact-json.ts";
import { isMarked, withoutMark } from "./marks.ts";

/** Losses of an answer. */
export const NOT_KEPT = "the process of the tools cannot keep what they did for the next request";
export const FORGOTTEN =
  "what weir's tools did beside a call of the client was longer ago than ten minutes, or at another gateway";

/** @see Exchanges */
export interface Memory {
  keep(owner: string, calls: readonly string[], text: string): Promise<void>;
  find(owner: string, calls: readonly (readonly string[])[]): Promise<readonly (string | undefined | null)[]>;
}

/** @param calls marked ids of the client's calls @param turns what happened from the client's request on; the last turn of the assistant has the calls */
export function keepTurns(
  memory: Memory,
  owner: string,
  calls: readonly string[],
  turns: readonly Turn[],
): Promise<void> {
  return memory.keep(owner, calls, JSON.stringify(turns));
}

export interface Replayed {
  readonly turns: Turn[];
  /** Something happened beside a call of the client that is not kept any more. */
  readonly isLossy: boolean;
}

/** The conversation with all that happened in place of the turns that have the client's calls alone, with the ids of the model. */
export async function replayed(memory: Memory, owner: string, turns: readonly Turn[]): Promise<Replayed> {
  const calling = turns.filter((turn) => callsIn(turn).length > 0);
  const found = calling.length === 0 ? [] : await memory.find(owner, calling.map(callsIn));
  const whole = turns.flatMap((turn) => {
    const text = found[calling.indexOf(turn)];
    return text ? (parseExact(text) as unknown as Turn[]) : [plain(turn)];
  });
  return { turns: whole, isLossy: calling.some((_, at) => !found[at]) };
}

function callsIn({ role, blocks }: Turn): string[] {
  if (role !== "assistant") return [];
  return blocks.flatMap((block) => (block.type === "tool-call" && isMarked(block.id) ? [block.id] : []));
}

function plain(turn: Turn): Turn {
  const hasMark = (block: Block) => hasId(block) && isMarked(block.id);
  if (!turn.blocks.some(hasMark)) return turn;
  const blocks = turn.blocks.map((block) => (hasId(block) ? { ...block, id: withoutMark(block.id) } : block));
  return { ...turn, blocks };
}

function hasId(block: Block): block is Extract<Block, { type: "tool-call" | "tool-result" }> {
  return block.type === "tool-call" || block.type === "tool-result";
}
