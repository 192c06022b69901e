/** Canonical assistant turns → one assistant message. */
import type { Block, ReasoningBlock, ToolCallBlock, Turn } from "../../../core/chat.ts";
import type { JsonObject } from "../../../core/json.ts";
import { isObject } from "../../../core/json.ts";
import { toolInputText } from "../../shared/tool-input.ts";
import { openMembers } from "../reasoning.ts";
import { type EncodeContext, FORMAT, isBlank } from "./content.ts";
import { blockPath, inputPath } from "./paths.ts";

/** A turn and where it stood. */
export interface PlacedTurn {
  turn: Turn;
  path: string;
}

/**
 * Writes turns in a row as one message, because results have to follow the message with their calls.
 * @param ids of the calls, as the upstream reads them. Nothing when the turns say nothing.
 */
export function encodeAssistant(
  turns: readonly PlacedTurn[],
  ids: ReadonlyMap<ToolCallBlock, string>,
  context: EncodeContext,
): JsonObject | undefined {
  const blocks = turns.flatMap(({ turn }) => turn.blocks);
  const calls = turns.flatMap((placed) => encodeCalls(placed, ids, context));
  const texts = turns.map(({ turn, path }) => textOf(turn.blocks, path, context));
  const content = texts.filter((text) => text !== "").join("\n\n");
  const audio = audioOf(blocks);
  const reasoning = encodeReasoning(turns, context);
  if (content === "" && calls.length === 0 && !audio) return undefined;
  const name = turns.find(({ turn }) => turn.name !== undefined)?.turn.name;
  return {
    role: "assistant",
    content: content === "" ? null : content,
    ...reasoning,
    ...(calls.length > 0 && { tool_calls: calls }),
    ...audio,
    ...(name !== undefined && { name }),
  };
}

/** Texts as they follow each other; a blank line where something else stood between them. */
function textOf(blocks: readonly Block[], path: string, context: EncodeContext): string {
  let text = "";
  let apart = false;
  for (const [index, block] of blocks.entries()) {
    apart ||= block.type !== "text";
    const said = saidIn(block, blockPath(path, index), context);
    if (said === undefined || isBlank(said)) continue;
    text += apart && text !== "" ? `\n\n${said}` : said;
    apart = block.type !== "text";
  }
  return text;
}

/** What a block says in words; nothing for those that are written elsewhere or not at all. */
function saidIn(block: Block, path: string, { call }: EncodeContext): string | undefined {
  switch (block.type) {
    case "text":
    case "refusal":
      return block.text;
    case "reasoning":
    case "tool-call":
      return undefined;
    case "foreign":
      if (block.format === FORMAT) return undefined;
      call.reportLoss(
        block.text === undefined ? "dropped" : "converted",
        path,
        "a block this format does not know",
      );
      return block.text;
    default:
      call.reportLoss("dropped", path, "only text and calls can stand in an assistant message");
      return undefined;
  }
}

function audioOf(blocks: readonly Block[]): JsonObject | undefined {
  for (const block of blocks)
    if (
      block.type === "foreign" &&
      block.format === FORMAT &&
      isObject(block.value) &&
      isObject(block.value.audio)
    )
      return { audio: block.value.audio };
  return undefined;
}

function encodeCalls(
  { turn: { blocks }, path }: PlacedTurn,
  ids: ReadonlyMap<ToolCallBlock, string>,
  context: EncodeContext,
): JsonObject[] {
  const calls: JsonObject[] = [];
  let signed: JsonObject = {};
  for (const [index, block] of blocks.entries()) {
    if (block.type === "reasoning") signed = callMembers(block, context) ?? signed;
    if (block.type !== "tool-call") continue;
    const at = { path, index, call: calls.length };
    calls.push({ id: ids.get(block)!, ...encodeCall(block, at, context), ...signed });
    signed = {};
  }
  return calls;
}

/** @param at where the call stood: the path of its turn, its place among the blocks and among the calls */
function encodeCall(
  block: ToolCallBlock,
  at: { path: string; index: number; call: number },
  { names, facts, call }: EncodeContext,
): JsonObject {
  const name = names.send(block.name);
  if (block.kind === "custom") {
    if (facts?.customTools) return { type: "custom", custom: { name, input: block.input } };
    return { type: "function", function: { name, arguments: JSON.stringify({ input: block.input }) } };
  }
  const { text, repair } = toolInputText(block.input);
  if (repair !== undefined) call.reportLoss("repaired", inputPath(at, call), repair);
  return { type: "function", function: { name, arguments: text } };
}

/** What a signature of this provider adds to the call behind it (Gemini's `extra_content`). */
function callMembers(block: ReasoningBlock, { provider }: EncodeContext): JsonObject | undefined {
  if (block.origin !== provider || block.redacted === undefined) return undefined;
  const members = openMembers(block.redacted);
  return members && "extra_content" in members ? members : undefined;
}

/**
 * Reasoning goes back to the provider that made it, and to no other: what it signed always, plain text
 * where its traits ask for it. Text nobody signed belongs to whoever asks for reasoning.
 */
function encodeReasoning(turns: readonly PlacedTurn[], context: EncodeContext): JsonObject {
  const texts: string[] = [];
  const details: JsonObject[] = [];
  const replay = context.traits.reasoningReplay ?? "forbidden";
  for (const { block, path } of turns.flatMap(reasoningIn)) {
    if (block.origin !== undefined && block.origin !== context.provider) {
      context.call.reportLoss("dropped", path, "reasoning of another provider");
      continue;
    }
    const detail = encodeDetail(block);
    if (detail) details.push(detail);
    if (block.text !== "" && (detail || replay !== "forbidden")) texts.push(block.text);
  }
  return {
    ...(texts.length > 0 && { reasoning_content: texts.join("\n\n") }),
    ...(details.length > 0 && { reasoning_details: details }),
  };
}

function reasoningIn({ turn, path }: PlacedTurn): { block: ReasoningBlock; path: string }[] {
  return turn.blocks.filter((block) => block.type === "reasoning").map((block) => ({ block, path }));
}

/** The provider's own entry again; nothing for reasoning that is not signed, or that is part of a call. */
function encodeDetail(block: ReasoningBlock): JsonObject | undefined {
  if (block.redacted !== undefined) {
    const members = openMembers(block.redacted);
    if (members && "extra_content" in members) return undefined;
    return { type: "reasoning.encrypted", ...(members ?? { data: block.redacted }) };
  }
  if (block.signature === undefined) return undefined;
  const members = openMembers(block.signature) ?? { signature: block.signature };
  return { type: "reasoning.text", text: block.text, ...members };
}
