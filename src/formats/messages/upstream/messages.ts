/** Canonical turns → `system` and `messages`. */
import type { Block, ChatRequest, ToolCallBlock, Turn } from "../../../core/chat.ts";
import { invalidRequest } from "../../../core/error.ts";
import type { ToolNames } from "../../../core/ids.ts";
import type { Json, JsonObject } from "../../../core/json.ts";
import { readToolInput } from "../../shared/tool-input.ts";
import type { EncodeContext } from "./content.ts";
import { encodeBlock, FORMAT, textBlock } from "./content.ts";
import { inputPath, TurnPaths } from "./paths.ts";
import type { Draft, DraftBlock } from "./tool-results.ts";
import { pairToolResults } from "./tool-results.ts";

export interface EncodedTurns {
  system: JsonObject[];
  messages: Draft[];
  /** An effort that turns ask for and that has to become the request's own. */
  effort?: string;
}

/** Stands where the format demands a user message and the client sent none. */
const CONTINUE = "(continue)";
/** Stands for a user message that was blank. */
const EMPTY = "(empty)";

/** @throws GatewayError `invalid-request` when nothing but a system prompt is left. */
export function encodeTurns(request: ChatRequest, names: ToolNames, context: EncodeContext): EncodedTurns {
  const paths = new TurnPaths(request, context.call);
  const drafts = request.turns.map((turn, index) => encodeTurn(turn, index, paths, names, context));
  const headLength = drafts.findIndex(({ role }) => role !== "system");
  const head = headLength < 0 ? drafts : drafts.slice(0, headLength);
  const body = headLength < 0 ? [] : drafts.slice(headLength);
  if (body.length === 0)
    throw invalidRequest("messages: at least one non-system message is required.", "messages");
  const filled = withoutBlanks(body);
  if (filled.every(({ role }) => role === "system")) filled.push(userText(EMPTY, body[0]!.path));
  const placed = placeSystemTurns(filled, context);
  const messages = beginWithUser(merge(pairToolResults(merge(placed), context.call)), context);
  return {
    system: head.flatMap(({ blocks }) => blocks.map(({ wire }) => wire)),
    messages,
    effort: effortOfTurns(drafts, messages),
  };
}

/** What the last turn that names an effort asks for, unless it stays a turn that says so itself. */
function effortOfTurns(drafts: readonly Draft[], messages: readonly Draft[]): string | undefined {
  const last = drafts.findLast(({ effort }) => effort !== undefined);
  const stays = messages.some(({ path, effort }) => effort !== undefined && path === last?.path);
  return stays ? undefined : last?.effort;
}

const SYSTEM_BLOCKS = new Set<Block["type"]>(["text", "refusal", "foreign"]);

function encodeTurn(
  turn: Turn,
  index: number,
  paths: TurnPaths,
  names: ToolNames,
  context: EncodeContext,
): Draft {
  const blocks = turn.blocks.flatMap((block, blockIndex): DraftBlock[] => {
    const path = paths.block(turn, index, blockIndex);
    if (block.type === "tool-call") {
      const wire: JsonObject = {
        type: "tool_use",
        id: block.id,
        name: names.send(block.name),
        input: encodeInput(block, path, context),
        ...(block.cache && { cache_control: { type: "ephemeral", ...block.cache } }),
      };
      return [{ wire, path, tool: { id: block.id, name: block.name } }];
    }
    if (block.type === "tool-result") {
      const content = block.blocks.flatMap((inner) => encodeBlock(inner, path, context));
      const wire: JsonObject = {
        type: "tool_result",
        tool_use_id: block.id,
        ...resultContent(content),
        ...(block.error && { is_error: true }),
        ...(block.cache && { cache_control: { type: "ephemeral", ...block.cache } }),
      };
      return [{ wire, path, tool: { id: block.id, name: block.name ?? "" } }];
    }
    if (turn.role === "system" && !SYSTEM_BLOCKS.has(block.type)) {
      context.call.reportLoss("dropped", path, "a system prompt is text");
      return [];
    }
    if (turn.role === "assistant" && isUnreadable(block)) {
      context.call.reportLoss("dropped", path, "a block this format does not know");
      return [];
    }
    return encodeBlock(block, path, context).map((wire) => ({ wire, path }));
  });
  return { role: turn.role, blocks, path: paths.turn(index), effort: turn.effort };
}

function isUnreadable(block: Block): boolean {
  return block.type === "foreign" && block.format !== FORMAT && !block.text && !block.instead;
}

/** The arguments as the object the format demands. */
function encodeInput({ input, kind }: ToolCallBlock, path: string, { call }: EncodeContext): Json {
  if (kind === "custom") return { input };
  const { value, repair } = readToolInput(input);
  if (repair !== undefined) call.reportLoss("repaired", inputPath(path, call), repair);
  return value;
}

/** One plain text is a string; no content is no member. */
function resultContent(content: JsonObject[]): JsonObject {
  if (content.length === 0) return {};
  const [only] = content;
  const isPlain = content.length === 1 && only!.type === "text" && only!.cache_control === undefined;
  return { content: isPlain ? only!.text : content };
}

/**
 * Blank messages go. A user message stays when it is one of its own: without it two answers would run together, or the
 * assistant would have the last word. What stays depends on what stands in front only, so that later turns change nothing.
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

/** A system turn stays one where model and place allow it; else the user says it, marked as a reminder. */
function placeSystemTurns(drafts: readonly Draft[], { facts, call }: EncodeContext): Draft[] {
  const before = neighbours(drafts);
  const after = neighbours([...drafts].reverse()).reverse();
  return drafts.map((draft, index) => {
    if (draft.role !== "system") return draft;
    // Behind a user turn, in front of an assistant turn or at the end; system turns in a row are one section.
    if (facts.systemTurns && before[index] === "user" && after[index] !== "user") {
      // The effort of a single turn needs a beta, which only a client of this format can have asked for.
      return call.format === FORMAT ? draft : { ...draft, effort: undefined };
    }
    return { role: "user" as const, path: draft.path, blocks: remind(draft) };
  });
}

/** The role of the last turn before each that is no system turn. */
function neighbours(drafts: readonly Draft[]): (Draft["role"] | undefined)[] {
  let last: Draft["role"] | undefined;
  return drafts.map(({ role }) => {
    const before = last;
    if (role !== "system") last = role;
    return before;
  });
}

function remind({ blocks, path }: Draft): DraftBlock[] {
  const text = blocks.map(({ wire }) => (typeof wire.text === "string" ? wire.text : "")).join("\n\n");
  const cache_control = blocks.findLast(({ wire }) => wire.cache_control)?.wire.cache_control;
  return textBlock(`<system-reminder>\n${text}\n</system-reminder>`).map((wire) => ({
    wire: { ...wire, ...(cache_control && { cache_control }) },
    path,
  }));
}

/** Messages of one role in a row become one; of system turns in a row each keeps its own effort. */
export function merge(drafts: readonly Draft[]): Draft[] {
  const merged: Draft[] = [];
  for (const draft of drafts) {
    const last = merged.at(-1);
    if (last && last.role === draft.role && draft.role !== "system") last.blocks.push(...draft.blocks);
    else merged.push({ ...draft, blocks: [...draft.blocks] });
  }
  return merged;
}

function beginWithUser(drafts: Draft[], { call }: EncodeContext): Draft[] {
  const [first] = drafts;
  if (!first || first.role === "user") return drafts;
  call.reportLoss("synthesized", first.path, "a user message in front");
  return [userText(CONTINUE, first.path), ...drafts];
}

function userText(text: string, path: string): Draft {
  return { role: "user", path, blocks: [{ wire: { type: "text", text }, path }] };
}

/**
 * A last message of the assistant is a beginning to be continued: kept for models that continue one, else the user asks to
 * go on. A turn the vendor itself paused ends in a server tool's block and goes back as it is.
 */
export function endWithUser(drafts: Draft[], keepPrefill: boolean, { call }: EncodeContext): Draft[] {
  const last = drafts.at(-1);
  if (last?.role !== "assistant") return drafts;
  const end = last.blocks.at(-1);
  if (end && isServerBlock(end.wire)) return drafts;
  if (!keepPrefill) {
    call.reportLoss(
      "synthesized",
      last.path,
      "a user message behind: the model does not continue a begun answer",
    );
    return [...drafts, userText(CONTINUE, last.path)];
  }
  if (end && typeof end.wire.text === "string") end.wire.text = end.wire.text.trimEnd();
  return drafts;
}

function isServerBlock({ type }: JsonObject): boolean {
  return typeof type === "string" && /^(?:server_tool_use|mcp_tool_use|.+_tool_result)$/.test(type);
}

/** The finished message. */
export function finishDraft({ role, blocks, effort }: Draft): JsonObject {
  return {
    role,
    content: blocks.map(({ wire }) => wire),
    ...(role === "system" && effort !== undefined && { output_config: { effort } }),
  };
}
