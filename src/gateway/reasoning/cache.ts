/**
 * Signed reasoning of answers that called tools, for clients that do not send it back: the OpenAI SDK's
 * `runTools` and most agents keep only the members they know, but a vendor that signs its reasoning requires it in the next
 * turn. The cache is in memory only, by gateway key and tool call (id, name and arguments); an entry may disappear any time.
 */
import type { Call } from "../../core/call.ts";
import type { Block, ChatRequest, ReasoningBlock, ToolCallBlock, Turn } from "../../core/chat.ts";
import type { ChatEvent } from "../../core/events.ts";
import { parseJson } from "../../core/json.ts";
import { ConversationHash } from "./conversation-hash.ts";

/** Identifies a tool call. Vendors repeat ids in other conversations, so the arguments are part of the key. */
type ToolCallKey = Pick<ToolCallBlock, "id" | "name" | "input">;

/** Lifetime of an entry. Milliseconds. */
const KEEP_MS = 24 * 3600 * 1000;
/** Limit of all entries together, in characters of reasoning and signatures. */
const MAX_CHARACTERS = 32 * 1024 * 1024;

/** A block of reasoning and its place in the answer. */
export interface KeptBlock {
  block: ReasoningBlock;
  /** The call that it is directly in front of, counted from 0; absent for the reasoning in front of everything else. */
  call?: number;
}

interface Entry {
  id: string;
  blocks: readonly KeptBlock[];
  characters: number;
  at: number;
}

export class ReasoningCache {
  /** In the order of insertion: the oldest entry is removed first. */
  readonly #entries = new Map<string, Entry>();
  /** How many entries each id of a call has: most calls have none, and need no hash to know it. */
  readonly #ids = new Map<string, number>();
  readonly #maxCharacters: number;
  #characters = 0;

  constructor(maxCharacters = MAX_CHARACTERS) {
    this.#maxCharacters = maxCharacters;
  }

  remember(call: Call, toolCall: ToolCallKey, blocks: readonly KeptBlock[]): void {
    const key = keyOf(call, toolCall);
    this.#forget(key);
    const characters = blocks.reduce(
      (sum, { block }) =>
        sum + block.text.length + (block.signature?.length ?? 0) + (block.redacted?.length ?? 0),
      0,
    );
    this.#entries.set(key, { id: toolCall.id, blocks, characters, at: performance.now() });
    this.#ids.set(toolCall.id, (this.#ids.get(toolCall.id) ?? 0) + 1);
    this.#characters += characters;
    for (const oldest of this.#entries.keys()) {
      if (this.#characters <= this.#maxCharacters) break;
      this.#forget(oldest);
    }
  }

  recall(call: Call, toolCall: ToolCallKey): readonly KeptBlock[] {
    if (!this.#ids.has(toolCall.id)) return [];
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
    const others = this.#ids.get(entry.id)! - 1;
    if (others === 0) this.#ids.delete(entry.id);
    else this.#ids.set(entry.id, others);
  }
}

/** The gateway key separates clients; the arguments separate conversations. */
function keyOf(call: Call, { id, name, input }: ToolCallKey): string {
  // Clients serialise the arguments again, so the key uses their value and not their spelling.
  const parsed = parseJson(input === "" ? "{}" : input);
  const value = parsed === undefined ? input : JSON.stringify(parsed);
  return new Bun.CryptoHasher("sha256")
    .update(JSON.stringify([call.principal?.id ?? "", id, name, value]))
    .digest("base64");
}

/**
 * @param options `place` stands for the id of the call, for a client that may lose it; `unsigned`: also reasoning without a
 * signature, for a host that requires it
 * @returns an observer for the events of one answer, which caches its signed reasoning if it calls tools
 */
export function rememberReasoning(
  call: Call,
  cache: ReasoningCache,
  { place, unsigned = false }: { place?: string; unsigned?: boolean } = {},
): (event: ChatEvent) => void {
  const open = new Map<number, ReasoningBlock>();
  const signed: KeptBlock[] = [];
  let calls = 0;
  /** Where the reasoning in front of the next block begins. */
  let since = 0;
  let first: { index: number; toolCall: ToolCallKey } | undefined;
  return (event) => {
    switch (event.type) {
      case "block-start":
        if (event.block.type === "reasoning") {
          open.set(event.index, { text: "", ...event.block, type: "reasoning" });
          break;
        }
        if (event.block.type === "tool-call") {
          first ??= {
            index: event.index,
            toolCall: { id: place ?? event.block.id, name: event.block.name, input: "" },
          };
          for (const kept of signed.slice(since)) kept.call = calls;
          calls++;
        }
        since = signed.length;
        break;
      case "block-delta": {
        if (event.index === first?.index) first.toolCall.input += event.delta;
        const block = open.get(event.index);
        if (block) block.text += event.delta;
        break;
      }
      case "block-end": {
        const block = open.get(event.index);
        if (block && (unsigned || event.signature !== undefined || block.redacted !== undefined))
          signed.push({
            block: { ...block, ...(event.signature !== undefined && { signature: event.signature }) },
          });
        break;
      }
      case "message-end":
        if (first && signed.length > 0) cache.remember(call, first.toolCall, signed);
    }
  };
}

/**
 * Restores the reasoning of turns that called tools, if the client dropped it.
 * @param losesIds the client may have lost the ids of the calls too
 */
export function restoreReasoning(
  request: ChatRequest,
  call: Call,
  cache: ReasoningCache,
  losesIds = false,
): void {
  const place = losesIds ? new ConversationHash() : undefined;
  for (const turn of request.turns) {
    if (turn.role === "assistant") restoreTurn(turn, call, cache, place);
    place?.add(turn);
  }
}

function restoreTurn(
  turn: Turn,
  call: Call,
  cache: ReasoningCache,
  place: ConversationHash | undefined,
): void {
  const toolCall = turn.blocks.find((block): block is ToolCallBlock => block.type === "tool-call");
  if (!toolCall || turn.blocks.some(isReplayed)) return;
  const kept = cache.recall(call, place ? { ...toolCall, id: place.id } : toolCall);
  if (kept.length === 0) return;
  const blocksAt = (call?: number) => kept.filter((one) => one.call === call).map(({ block }) => block);
  let calls = 0;
  const others = turn.blocks.filter((block) => block.type !== "reasoning");
  turn.blocks = [
    ...blocksAt(),
    ...others.flatMap((block): Block[] =>
      block.type === "tool-call" ? [...blocksAt(calls++), block] : [block],
    ),
  ];
}

/** Whether the client sent the reasoning back itself: signed, or with its origin. */
function isReplayed(block: Turn["blocks"][number]): boolean {
  if (block.type !== "reasoning") return false;
  return [block.signature, block.redacted, block.origin].some((member) => member !== undefined);
}
