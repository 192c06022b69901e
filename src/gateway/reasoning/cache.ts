/**
 * Signed reasoning of answers that called tools, for clients that do not send it back: the OpenAI SDK's
 * `runTools` and most agents keep only the members they know, and a vendor that signs its reasoning wants it returned.
 * Kept in memory only, by gateway key and tool call (id, name and arguments); what is gone was never promised.
 */
import type { Call } from "../../core/call.ts";
import type { ChatRequest, ReasoningBlock, ToolCallBlock, Turn } from "../../core/chat.ts";
import type { ChatEvent } from "../../core/events.ts";
import { parseJson } from "../../core/json.ts";

/** What a tool call is known by: vendors repeat ids from one conversation to the next, so its arguments count too. */
type ToolCallKey = Pick<ToolCallBlock, "id" | "name" | "input">;

/** Milliseconds. */
const KEEP_MS = 24 * 3600 * 1000;
/** Characters of opaque text and reasoning held at most, over all entries. */
const MAX_CHARACTERS = 32 * 1024 * 1024;

interface Entry {
  blocks: ReasoningBlock[];
  characters: number;
  at: number;
}

export class ReasoningCache {
  /** In the order of their arrival: the oldest goes first. */
  readonly #entries = new Map<string, Entry>();
  readonly #maxCharacters: number;
  #characters = 0;

  constructor(maxCharacters = MAX_CHARACTERS) {
    this.#maxCharacters = maxCharacters;
  }

  remember(call: Call, toolCall: ToolCallKey, blocks: ReasoningBlock[]): void {
    const key = keyOf(call, toolCall);
    this.#forget(key);
    const characters = blocks.reduce(
      (sum, block) =>
        sum + block.text.length + (block.signature?.length ?? 0) + (block.redacted?.length ?? 0),
      0,
    );
    this.#entries.set(key, { blocks, characters, at: performance.now() });
    this.#characters += characters;
    for (const oldest of this.#entries.keys()) {
      if (this.#characters <= this.#maxCharacters) break;
      this.#forget(oldest);
    }
  }

  recall(call: Call, toolCall: ToolCallKey): readonly ReasoningBlock[] {
    const key = keyOf(call, toolCall);
    const entry = this.#entries.get(key);
    if (!entry) return [];
    if (performance.now() - entry.at <= KEEP_MS) return entry.blocks;
    this.#forget(key);
    return [];
  }

  get size(): number {
    return this.#entries.size;
  }

  #forget(key: string): void {
    const entry = this.#entries.get(key);
    if (!entry) return;
    this.#characters -= entry.characters;
    this.#entries.delete(key);
  }
}

/** One client's reasoning is never another's, and one conversation's is not put into another's. */
function keyOf(call: Call, { id, name, input }: ToolCallKey): string {
  // Clients write the arguments anew: what they mean is compared and not how they are spaced.
  const parsed = parseJson(input === "" ? "{}" : input);
  const meaning = parsed === undefined ? input : JSON.stringify(parsed);
  return new Bun.CryptoHasher("sha256")
    .update(JSON.stringify([call.key ?? "", id, name, meaning]))
    .digest("base64");
}

/** Looks at the events of one answer; signed reasoning of one that calls tools is kept. */
export function rememberReasoning(call: Call, cache: ReasoningCache): (event: ChatEvent) => void {
  const open = new Map<number, ReasoningBlock>();
  const signed: ReasoningBlock[] = [];
  let first: { index: number; toolCall: ToolCallKey } | undefined;
  return (event) => {
    switch (event.type) {
      case "block-start":
        if (event.block.type === "tool-call")
          first ??= {
            index: event.index,
            toolCall: { id: event.block.id, name: event.block.name, input: "" },
          };
        if (event.block.type === "reasoning")
          open.set(event.index, { text: "", ...event.block, type: "reasoning" });
        break;
      case "block-delta": {
        if (event.index === first?.index) first.toolCall.input += event.delta;
        const block = open.get(event.index);
        if (block) block.text += event.delta;
        break;
      }
      case "block-end": {
        const block = open.get(event.index);
        if (block && (event.signature !== undefined || block.redacted !== undefined))
          signed.push({ ...block, ...(event.signature !== undefined && { signature: event.signature }) });
        break;
      }
      case "message-end":
        if (first && signed.length > 0) cache.remember(call, first.toolCall, signed);
    }
  };
}

/** Puts reasoning back in front of turns that called tools and lost theirs on the way through the client. */
export function restoreReasoning(request: ChatRequest, call: Call, cache: ReasoningCache): void {
  for (const turn of request.turns) if (turn.role === "assistant") restoreTurn(turn, call, cache);
}

function restoreTurn(turn: Turn, call: Call, cache: ReasoningCache): void {
  const toolCall = turn.blocks.find((block): block is ToolCallBlock => block.type === "tool-call");
  if (!toolCall || turn.blocks.some(isKept)) return;
  const kept = cache.recall(call, toolCall);
  if (kept.length === 0) return;
  turn.blocks = [...kept, ...turn.blocks.filter((block) => block.type !== "reasoning")];
}

/** Whether the client itself brought reasoning back: signed, or with the name of who made it. */
function isKept(block: Turn["blocks"][number]): boolean {
  if (block.type !== "reasoning") return false;
  return [block.signature, block.redacted, block.origin].some((member) => member !== undefined);
}
