/**
 * Requests that plugins and parts of weir ask for a call: canonical ones, not in the bytes of a client. A value in them becomes the
 * same token as in the request of the client; the answer comes to a client through the call that asks, which restores it.
 */
import type { Block, ChatRequest, Turn } from "../../../core/chat.ts";
import type { TextKind, TextPlace } from "../../../core/text-places.ts";
import type { Edited, Entry } from "../../../gateway/seams.ts";
import type { Passing } from "../pass/passing.ts";
import { applyAll, assertRead } from "../pass/request.ts";
import type { Inspected } from "../pass/texts.ts";

/** A text of a block, and how it is written in a copy. */
interface Placed {
  readonly inspected: Inspected;
  /** The members that lead to it from the turns. */
  readonly way: readonly (string | number)[];
}

/** @returns undefined: the request goes on as it is @throws GatewayError of a guard that blocks */
export async function guardAsked(
  { bytes, spanOf, body }: Entry,
  passing: Passing,
): Promise<Edited | undefined> {
  const request = body as unknown as ChatRequest;
  const placed = request.turns.flatMap((turn, index) => placedIn(turn, index));
  for (const { inspected } of placed) assertRead(inspected.place, passing);
  const texts = placed.map(({ inspected }) => inspected);
  await applyAll(passing.guards, { texts, now: () => undefined }, passing);
  await Promise.all(passing.beside);
  const changed = placed.filter(({ inspected: { text, given } }) => text !== given);
  if (changed.length === 0) return undefined;
  const turns = structuredClone(request.turns);
  for (const { inspected, way } of changed) write(turns, way, inspected.text);
  return { bytes, spanOf: (name) => spanOf(name), body: { ...body, turns: turns as never } };
}

function write(turns: readonly Turn[], way: readonly (string | number)[], text: string): void {
  let at = turns as unknown as Record<string | number, unknown>;
  for (const step of way.slice(0, -1)) at = at[step] as Record<string | number, unknown>;
  at[way.at(-1)!] = text;
}

function placedIn({ role, blocks }: Turn, index: number): Placed[] {
  const kind: TextKind = role === "user" || role === "assistant" ? "text" : "system";
  return blocks.flatMap((block, at) => inBlock(block, kind, [index, "blocks", at], role));
}

function inBlock(block: Block, kind: TextKind, way: readonly (string | number)[], role: string): Placed[] {
  const one = (
    given: string | undefined,
    of: TextKind,
    more: Partial<TextPlace>,
    ...steps: string[]
  ): Placed[] => {
    if (given === undefined || given === "") return [];
    const path = `turns${[...way, ...steps].map((step) => (typeof step === "number" ? `[${step}]` : `.${step}`)).join("")}`;
    const place: TextPlace = { kind: of, path, role, start: 0, end: 0, read: () => given, ...more };
    return [{ inspected: { place, given, text: given }, way: [...way, ...steps] }];
  };
  const within = (blocks: readonly Block[], of: TextKind, ...steps: string[]) =>
    blocks.flatMap((inner, at) => inBlock(inner, of, [...way, ...steps, at], role));
  switch (block.type) {
    case "text":
    case "refusal":
      return one(block.text, kind, {}, "text");
    case "reasoning":
      return one(block.text, "reasoning", block.signature === undefined ? {} : { fixed: "signed" }, "text");
    case "tool-call":
      return one(block.input, "tool-arguments", block.kind === "function" ? { isJson: true } : {}, "input");
    case "tool-result":
      return within(block.blocks, "tool-result", "blocks");
    case "document": {
      const { source, context } = block;
      const own = one(context, "document", {}, "context");
      if (source.type === "text") return [...own, ...one(source.text, "document", {}, "source", "text")];
      if (source.type === "blocks") return [...own, ...within(source.blocks, "document", "source", "blocks")];
      return [...own, ...one(source.type === "base64" ? source.data : "link", "media", {}, "source")];
    }
    case "image":
    case "audio":
      return one("media", "media", {}, "source");
    case "foreign":
      return one(block.text, kind, {}, "text");
    default:
      return [];
  }
}
