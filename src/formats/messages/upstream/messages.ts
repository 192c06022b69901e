/** Encodes turns as `system` and `messages`. */
import type { Block, ChatRequest, ToolCallBlock, ToolResultBlock, Turn } from "../../../core/chat.ts";
import { invalidRequest } from "../../../core/error.ts";
import type { ToolNames } from "../../../core/ids.ts";
import type { Json, JsonObject } from "../../../core/json.ts";
import { blockPath, fieldPath, turnPath } from "../../shared/paths.ts";
import { readToolInput } from "../../shared/tool-input.ts";
import type { EncodeContext } from "./content.ts";
import { FORMAT } from "../own-fields.ts";
import { encodeBlock, textBlock } from "./content.ts";
import type { Draft, DraftBlock } from "./tool-results.ts";
import { pairToolResults } from "./tool-results.ts";

export interface EncodedTurns {
  system: JsonObject[];
  messages: Draft[];
  /** An effort of a turn that becomes the effort of the request. */
  effort?: string;
}

/** Text of a user message that the format requires and the client did not send. */
const CONTINUE = "(continue)";
/** Text of a blank user message. */
const EMPTY = "(empty)";

/** @throws GatewayError `invalid-request` if the request contains only a system prompt */
export function encodeTurns(request: ChatRequest, names: ToolNames, context: EncodeContext): EncodedTurns {
  const drafts = request.turns.map((turn) => encodeTurn(turn, turnPath(turn, request), names, context));
  const headLength = drafts.findIndex(({ role }) => role !== "system");
  const head = headLength < 0 ? drafts : drafts.slice(0, headLength);
  const body = headLength < 0 ? [] : drafts.slice(headLength);
  if (body.length === 0) throw systemOnly(fieldPath(request, "turns"));
  const nonBlank = withoutBlanks(body);
  if (nonBlank.every(({ role }) => role === "system")) nonBlank.push(userText(EMPTY, body[0]!.path));
  const placed = placeSystemTurns(nonBlank, context);
  const messages = beginWithUser(merge(pairToolResults(merge(placed), context)), context);
  const system: JsonObject[] = [];
  for (const { blocks } of head) for (const { wire } of blocks) system.push(wire);
  return { system, messages, effort: effortOfTurns(drafts, messages) };
}

function systemOnly(path: string) {
  return invalidRequest(`${path}: at least one non-system message is required.`, path, "invalid_value");
}

/** Returns the effort of the last turn with one, unless that turn stays a system turn with its own effort. */
function effortOfTurns(drafts: readonly Draft[], messages: readonly Draft[]): string | undefined {
  const last = drafts.findLast(({ effort }) => effort !== undefined);
  if (!last) return undefined;
  const stays = messages.some(({ path, effort }) => effort !== undefined && path === last.path);
  return stays ? undefined : last.effort;
}

const SYSTEM_BLOCKS = new Set<Block["type"]>(["text", "refusal", "foreign"]);

function encodeTurn(turn: Turn, ownPath: string, names: ToolNames, context: EncodeContext): Draft {
  const blocks: DraftBlock[] = [];
  for (const block of turn.blocks) {
    const path = blockPath(block, ownPath);
    if (block.type === "tool-call") blocks.push(encodeCall(block, path, names, context));
    else if (block.type === "tool-result") blocks.push(encodeResult(block, path, context));
    else if (turn.role === "system" && !SYSTEM_BLOCKS.has(block.type))
      context.reportLoss("dropped", path, "a system prompt can contain only text");
    else if (turn.role === "assistant" && isUnsupported(block))
      context.reportLoss("dropped", path, "the format has no such content block");
    else for (const wire of encodeBlock(block, path, context)) blocks.push({ wire, path });
  }
  return { role: turn.role, blocks, path: ownPath, effort: turn.effort };
}

function encodeCall(
  block: ToolCallBlock,
  path: string,
  names: ToolNames,
  context: EncodeContext,
): DraftBlock {
  const wire: JsonObject = {
    type: "tool_use",
    id: block.id,
    name: names.send(block.name),
    input: encodeInput(block, path, context),
  };
  if (block.cache) wire.cache_control = { type: "ephemeral", ...block.cache };
  return { wire, path, tool: { id: block.id, name: block.name } };
}

function encodeResult(block: ToolResultBlock, path: string, context: EncodeContext): DraftBlock {
  const content: JsonObject[] = [];
  for (const inner of block.blocks) content.push(...encodeBlock(inner, path, context));
  const wire: JsonObject = { type: "tool_result", tool_use_id: block.id };
  if (content.length > 0) wire.content = resultContent(content);
  if (block.error) wire.is_error = true;
  if (block.cache) wire.cache_control = { type: "ephemeral", ...block.cache };
  return { wire, path, tool: { id: block.id, name: block.name ?? "" } };
}

function isUnsupported(block: Block): boolean {
  return block.type === "foreign" && block.format !== FORMAT && !block.text && !block.instead;
}

/** Encodes the arguments as an object. */
function encodeInput(
  { input, inputPath, kind }: ToolCallBlock,
  path: string,
  { reportLoss }: EncodeContext,
): Json {
  if (kind === "custom") return { input };
  const { value, repair } = readToolInput(input);
  if (repair !== undefined) reportLoss("repaired", inputPath ?? path, repair);
  return value;
}

/** A single text becomes a string. */
function resultContent(content: JsonObject[]): Json | undefined {
  const [only] = content;
  const isPlain = content.length === 1 && only!.type === "text" && only!.cache_control === undefined;
  return isPlain ? only!.text : content;
}

/**
 * Removes blank messages. A blank user message after an assistant message stays as `(empty)`: without it two assistant
 * messages would be merged, or the conversation would end with the assistant. The result depends only on earlier turns, so
 * that a new turn does not change the prefix.
 */
function withoutBlanks(drafts: readonly Draft[]): Draft[] {
  const kept: Draft[] = [];
  let before: Draft["role"] | undefined;
  for (const draft of drafts) {
    const isEmpty = draft.blocks.length === 0;
    if (isEmpty && (draft.role !== "user" || before === "user")) continue;
    kept.push(isEmpty ? userText(EMPTY, draft.path) : draft);
    if (draft.role !== "system") before = draft.role;
  }
  return kept;
}

/** Keeps a system turn if the model and its position allow it; otherwise it becomes user text in `<system-reminder>`. */
function placeSystemTurns(drafts: Draft[], { facts, sameFormat }: EncodeContext): Draft[] {
  if (!drafts.some(({ role }) => role === "system")) return drafts;
  const before = neighbours(drafts);
  const after = neighbours([...drafts].reverse()).reverse();
  return drafts.map((draft, index) => {
    if (draft.role !== "system") return draft;
    // Allowed after a user turn, before an assistant turn or at the end; consecutive system turns count as one.
    if (facts.systemTurns && before[index] === "user" && after[index] !== "user") {
      // The effort of a single turn needs a beta header, which only a client of this format can send.
      return sameFormat ? draft : { ...draft, effort: undefined };
    }
    return { role: "user" as const, path: draft.path, blocks: toReminder(draft) };
  });
}

/** Returns, for each turn, the role of the last turn before it that is not a system turn. */
function neighbours(drafts: readonly Draft[]): (Draft["role"] | undefined)[] {
  let last: Draft["role"] | undefined;
  return drafts.map(({ role }) => {
    const before = last;
    if (role !== "system") last = role;
    return before;
  });
}

function toReminder({ blocks, path }: Draft): DraftBlock[] {
  const text = blocks.map(({ wire }) => (typeof wire.text === "string" ? wire.text : "")).join("\n\n");
  const cache_control = blocks.findLast(({ wire }) => wire.cache_control)?.wire.cache_control;
  return textBlock(`<system-reminder>\n${text}\n</system-reminder>`).map((wire) => ({
    wire: { ...wire, ...(cache_control && { cache_control }) },
    path,
  }));
}

/** Merges consecutive messages of one role, except system turns, which keep their own effort. */
export function merge(drafts: readonly Draft[]): Draft[] {
  const merged: Draft[] = [];
  for (const draft of drafts) {
    const last = merged.at(-1);
    if (last && last.role === draft.role && draft.role !== "system") last.blocks.push(...draft.blocks);
    else merged.push({ ...draft, blocks: draft.blocks.slice() });
  }
  return merged;
}

function beginWithUser(drafts: Draft[], { reportLoss }: EncodeContext): Draft[] {
  const [first] = drafts;
  if (!first || first.role === "user") return drafts;
  reportLoss("synthesized", first.path, "weir added a user message before it");
  return [userText(CONTINUE, first.path), ...drafts];
}

function userText(text: string, path: string): Draft {
  return { role: "user", path, blocks: [{ wire: { type: "text", text }, path }] };
}

/**
 * Keeps a last assistant message (prefill) for models that continue it; otherwise adds a user message. A turn that the
 * vendor paused ends with a block of a server tool and stays unchanged.
 */
export function endWithUser(drafts: Draft[], keepPrefill: boolean, { reportLoss }: EncodeContext): Draft[] {
  const last = drafts.at(-1);
  if (last?.role !== "assistant") return drafts;
  const end = last.blocks.at(-1);
  if (end && isServerBlock(end.wire)) return drafts;
  if (!keepPrefill) {
    reportLoss(
      "synthesized",
      last.path,
      "weir added a user message after it; the model does not continue an assistant message",
    );
    return [...drafts, userText(CONTINUE, last.path)];
  }
  if (end && typeof end.wire.text === "string") end.wire.text = end.wire.text.trimEnd();
  return drafts;
}

function isServerBlock({ type }: JsonObject): boolean {
  return typeof type === "string" && /^(?:server_tool_use|mcp_tool_use|.+_tool_result)$/.test(type);
}

/** Returns the finished message. */
export function finishDraft({ role, blocks, effort }: Draft): JsonObject {
  const message: JsonObject = { role, content: blocks.map(({ wire }) => wire) };
  if (role === "system" && effort !== undefined) message.output_config = { effort };
  return message;
}
