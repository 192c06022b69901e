/** Encodes assistant turns as one assistant message. */
import type { Block, ReasoningBlock, ToolCallBlock } from "../../../core/chat.ts";
import type { JsonObject } from "../../../core/json.ts";
import { isObject } from "../../../core/json.ts";
import { blockPath } from "../../shared/paths.ts";
import { toolInputText } from "../../shared/tool-input.ts";
import { GOOGLE, signatureMember, unpackMembers } from "../reasoning.ts";
import { FORMAT } from "../own-fields.ts";
import type { PlacedTurn } from "../../shared/turn-groups.ts";
import { type EncodeContext, encodePart, isBlank } from "./content.ts";

/**
 * Encodes consecutive turns as one message, because results must follow the message with their calls. Returns nothing for
 * turns without content.
 * @param ids ids of the calls for the provider
 */
export function encodeAssistant(
  turns: readonly PlacedTurn[],
  ids: ReadonlyMap<ToolCallBlock, string>,
  context: EncodeContext,
): JsonObject | undefined {
  if (turns.length === 0) return undefined;
  const blocks = turns.flatMap(({ turn }) => turn.blocks);
  const calls = turns.flatMap((placed) => encodeCalls(placed, ids, context));
  const texts = turns.map(({ turn, path }) => textOf(turn.blocks, path, context));
  const content = texts.filter((text) => text !== "").join("\n\n");
  const audio = audioOf(blocks);
  const images = turns.flatMap((placed) => encodeImages(placed, context));
  const reasoning = encodeReasoning(turns, context);
  if (content === "" && calls.length === 0 && images.length === 0 && !audio) return undefined;
  const name = turns.find(({ turn }) => turn.name !== undefined)?.turn.name;
  return {
    role: "assistant",
    content: content === "" ? null : content,
    ...reasoning,
    ...(calls.length > 0 && { tool_calls: calls }),
    ...(images.length > 0 && { images }),
    ...audio,
    ...(name !== undefined && { name }),
  };
}

/** Joins the texts of a turn, with a blank line where another block was between them. */
function textOf(blocks: readonly Block[], path: string, context: EncodeContext): string {
  let text = "";
  let apart = false;
  for (const block of blocks) {
    apart ||= block.type !== "text";
    const blockText = textIn(block, blockPath(block, path), context);
    if (blockText === undefined || isBlank(blockText)) continue;
    text += apart && text !== "" ? `\n\n${blockText}` : blockText;
    apart = block.type !== "text";
  }
  return text;
}

/** Returns the text of a block; `undefined` for blocks that are written elsewhere or not at all. */
function textIn(block: Block, path: string, { reportLoss }: EncodeContext): string | undefined {
  switch (block.type) {
    case "text":
    case "refusal":
      return block.text;
    case "reasoning":
    case "tool-call":
    case "image":
      return undefined;
    case "foreign":
      if (block.format === FORMAT) return undefined;
      reportLoss(
        block.text === undefined ? "dropped" : "converted",
        path,
        "the format has no such content block",
      );
      return block.text;
    default:
      reportLoss("dropped", path, "an assistant message can contain only text and tool calls");
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

/** Images of a client of this format, which alone knows that the provider accepts them. */
function encodeImages({ turn, path }: PlacedTurn, context: EncodeContext): JsonObject[] {
  return turn.blocks.flatMap((block) =>
    block.type === "image" && context.traits.images !== false
      ? encodePart(block, blockPath(block, path), context)
      : [],
  );
}

function encodeCalls(
  { turn: { blocks }, path }: PlacedTurn,
  ids: ReadonlyMap<ToolCallBlock, string>,
  context: EncodeContext,
): JsonObject[] {
  const calls: JsonObject[] = [];
  let signed: JsonObject = {};
  for (const block of blocks) {
    if (block.type === "reasoning") signed = callMembers(block, context) ?? signed;
    if (block.type !== "tool-call") continue;
    calls.push({ id: ids.get(block)!, ...encodeCall(block, path, context), ...signed });
    signed = {};
  }
  return calls;
}

/** @param path of the turn */
function encodeCall(
  block: ToolCallBlock,
  path: string,
  { names, facts, reportLoss }: EncodeContext,
): JsonObject {
  const name = names.send(block.name);
  if (block.kind === "custom") {
    if (facts?.customTools) return { type: "custom", custom: { name, input: block.input } };
    return { type: "function", function: { name, arguments: JSON.stringify({ input: block.input }) } };
  }
  const { text, repair } = toolInputText(block.input);
  if (repair !== undefined) reportLoss("repaired", block.inputPath ?? blockPath(block, path), repair);
  return { type: "function", function: { name, arguments: text } };
}

/** Returns the member that Google's signature adds to the next call of a Gemini model. */
function callMembers(block: ReasoningBlock, { isGemini }: EncodeContext): JsonObject | undefined {
  if (!isGemini || block.origin !== GOOGLE || block.signature === undefined) return undefined;
  return signatureMember(block.signature);
}

/**
 * Sends reasoning back only to the provider that made it: signed reasoning always, plain text if the traits ask for it.
 * Reasoning without an origin goes to any provider whose traits ask for it.
 */
function encodeReasoning(turns: readonly PlacedTurn[], context: EncodeContext): JsonObject {
  const texts: string[] = [];
  const details: JsonObject[] = [];
  const replay = context.traits.reasoningReplay ?? "forbidden";
  for (const { block, path } of turns.flatMap(reasoningIn)) {
    if (callMembers(block, context)) continue;
    if (block.origin !== undefined && block.origin !== context.provider) {
      context.reportLoss("dropped", path, "another provider made this reasoning");
      continue;
    }
    const detail = encodeDetail(block);
    if (detail) details.push(detail);
    if (block.text === "") continue;
    if (detail || replay !== "forbidden") texts.push(block.text);
    // weir itself restored reasoning that has no place in the client's request.
    else if (block.path !== undefined)
      context.reportLoss("dropped", path, "the provider takes no reasoning back");
  }
  return {
    ...(texts.length > 0 && { reasoning_content: texts.join("\n\n") }),
    ...(details.length > 0 && { reasoning_details: details }),
  };
}

function reasoningIn({ turn, path }: PlacedTurn): { block: ReasoningBlock; path: string }[] {
  return turn.blocks
    .filter((block) => block.type === "reasoning")
    .map((block) => ({
      block,
      path: blockPath(block, path),
    }));
}

/** Restores the provider's entry; `undefined` for unsigned reasoning. */
function encodeDetail(block: ReasoningBlock): JsonObject | undefined {
  if (block.redacted !== undefined) {
    return { type: "reasoning.encrypted", ...(unpackMembers(block.redacted) ?? { data: block.redacted }) };
  }
  if (block.signature === undefined) return undefined;
  const members = unpackMembers(block.signature) ?? { signature: block.signature };
  return { type: "reasoning.text", text: block.text, ...members };
}
