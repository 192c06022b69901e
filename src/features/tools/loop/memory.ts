/** The exchanges of conversations as the loop uses them: the process of the tools has them, because the next request may reach another worker. */
import type { Turn } from "../../../core/chat.ts";
import { parseExact } from "../wire/messages.ts";

/** @see Exchanges */
export interface Memory {
  keep(owner: string, calls: readonly string[], text: string): Promise<void>;
  find(owner: string, calls: readonly (readonly string[])[]): Promise<readonly (string | undefined | null)[]>;
}

/** @param calls ids of the client's calls @param turns what happened from the client's request on; the last turn of the assistant has the calls */
export function keepTurns(
  memory: Memory,
  owner: string,
  calls: readonly string[],
  turns: readonly Turn[],
): Promise<void> {
  return memory.keep(owner, calls, JSON.stringify(turns));
}

/** The conversation with all that happened in place of the turns that have the client's calls alone. */
export async function replayed(memory: Memory, owner: string, turns: readonly Turn[]): Promise<Turn[]> {
  const calling = turns.filter((turn) => callsIn(turn).length > 0);
  if (calling.length === 0) return [...turns];
  const found = await memory.find(owner, calling.map(callsIn));
  return turns.flatMap((turn) => {
    const text = found[calling.indexOf(turn)];
    return text ? (parseExact(text) as unknown as Turn[]) : [turn];
  });
}

function callsIn({ role, blocks }: Turn): string[] {
  if (role !== "assistant") return [];
  return blocks.flatMap((block) => (block.type === "tool-call" ? [block.id] : []));
}
