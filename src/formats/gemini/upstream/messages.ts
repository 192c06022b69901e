/**
 * Encodes turns as contents. Google wants the first content from the user, roles in turn, no empty parts, and the responses to
 * all calls of a content in the next one, alone and in the order of the calls.
 */
import type { Block, ChatRequest, ToolResultBlock } from "../../../core/chat.ts";
import { ToolIds } from "../../../core/ids.ts";
import type { JsonObject } from "../../../core/json.ts";
import { blockPath, turnPath } from "../../shared/paths.ts";
import { type Group, groupTurns, pairResults, type PlacedTurn } from "../../shared/turn-groups.ts";
import { encodeAssistant } from "./assistant.ts";
import { CALL_IDS } from "./call-ids.ts";
import { encodeBlock, type EncodeContext, textParts } from "./content.ts";
import { encodeResults, orphanParts } from "./tool-results.ts";

export interface EncodedTurns {
  contents: JsonObject[];
  /** Parts of the system instruction. */
  system: JsonObject[];
}

const EMPTY = "(empty)";
const CONTINUE = "(continue)";
const MEDIA = "[image]";

/** @param instruction a further sentence for the system instruction */
export function encodeTurns(
  request: ChatRequest,
  instruction: string | undefined,
  context: EncodeContext,
): EncodedTurns {
  const first = request.turns.findIndex(({ role }) => role !== "system");
  const head = first === -1 ? request.turns.length : first;
  const system = request.turns
    .slice(0, head)
    .flatMap((turn) => systemParts(turn.blocks, turnPath(turn, request), context));
  if (instruction !== undefined) system.push({ text: instruction });
  const rest = { ...request, turns: request.turns.slice(head) };
  const contents = new Contents();
  const ids = new ToolIds(CALL_IDS);
  for (const group of groupTurns(rest)) addGroup(contents, group, ids, rest, context);
  return placeSystem(settle(contents, rest, context), system, context);
}

/** Contents in turn; neighbours of one role become one, except function responses, which are alone. */
class Contents {
  readonly list: { role: "user" | "model"; parts: JsonObject[]; alone: boolean }[] = [];

  add(role: "user" | "model", parts: readonly JsonObject[], alone = false): void {
    if (parts.length === 0) return;
    const last = this.list.at(-1);
    if (last?.role === role && !last.alone && !alone) last.parts.push(...parts);
    else this.list.push({ role, parts: [...parts], alone });
  }
}

function addGroup(
  contents: Contents,
  group: Group,
  ids: ToolIds,
  request: ChatRequest,
  context: EncodeContext,
): void {
  const { calls, orphans } = pairResults(group, ids, request, context);
  const sent = new Map(calls.map(({ id, call }) => [call, id]));
  const spoken = encodeAssistant(group.assistant, sent, context);
  if (spoken.length > 0 && contents.list.length === 0)
    addContinuation(contents, group.assistant[0]!.path, context);
  contents.add("model", spoken);
  const { responses, attached } = encodeResults(calls, context);
  contents.add("user", responses, true);
  const said = [...attached, ...group.others.flatMap((placed) => userParts(placed, orphans, context))];
  const isSilent = said.length === 0 && responses.length === 0 && group.others.some(isUser);
  const isEmpty = isSilent && contents.list.at(-1)?.role !== "user";
  contents.add("user", isEmpty ? [{ text: EMPTY }] : withText(said, group, context));
}

/** Some hosts refuse media without a text beside them. */
function withText(
  parts: JsonObject[],
  { others }: Group,
  { traits, reportLoss }: EncodeContext,
): JsonObject[] {
  if (!traits.textBesideMedia || parts.length === 0 || parts.some((part) => part.text !== undefined))
    return parts;
  reportLoss("synthesized", others[0]?.path ?? "", "the provider wants a text beside media");
  return [{ text: MEDIA }, ...parts];
}

function isUser({ turn }: PlacedTurn): boolean {
  return turn.role === "user";
}

function userParts(
  { turn, path }: PlacedTurn,
  orphans: ReadonlySet<Block>,
  context: EncodeContext,
): JsonObject[] {
  if (turn.role === "system") return reminder(systemParts(turn.blocks, path, context));
  return turn.blocks.flatMap((block) => {
    if (block.type !== "tool-result") return encodeBlock(block, blockPath(block, path), context);
    return orphans.has(block) ? orphan(block, blockPath(block, path), context) : [];
  });
}

function orphan(result: ToolResultBlock, path: string, context: EncodeContext): JsonObject[] {
  context.reportLoss("repaired", path, "the result has no tool call; sent as text");
  return orphanParts(result, path, context);
}

/** The parts of a system turn, which can contain only text. */
function systemParts(blocks: readonly Block[], path: string, context: EncodeContext): JsonObject[] {
  return blocks.flatMap((block) => {
    if (block.type === "text" || block.type === "foreign")
      return encodeBlock(block, blockPath(block, path), context);
    context.reportLoss("dropped", blockPath(block, path), "a system prompt can contain only text");
    return [];
  });
}

/** A system turn within the conversation becomes text of the user at its place. */
function reminder(parts: readonly JsonObject[]): JsonObject[] {
  const text = parts.map((part) => String(part.text ?? "")).join("\n\n");
  return text === "" ? [] : [{ text: `<system-reminder>\n${text}\n</system-reminder>` }];
}

/** The conversation must end with the user: Google's models do not continue a content of their own. */
function settle(contents: Contents, request: ChatRequest, context: EncodeContext): Contents {
  const last = request.turns.at(-1);
  if (last && contents.list.at(-1)?.role === "model")
    addContinuation(contents, turnPath(last, request), context);
  return contents;
}

function addContinuation(contents: Contents, path: string, { reportLoss }: EncodeContext): void {
  reportLoss("synthesized", path, "weir added a user message, which the provider wants there");
  contents.add("user", [{ text: CONTINUE }]);
}

/** Models without a system instruction read it at the beginning of the first text of the user. */
function placeSystem({ list }: Contents, system: JsonObject[], { facts }: EncodeContext): EncodedTurns {
  const [first] = list;
  if (!facts.system && first && system.length > 0) {
    const text = system.map((part) => String(part.text ?? "")).join("\n\n");
    first.parts.unshift(...textParts(text));
    return { contents: list.map(wire), system: [] };
  }
  return { contents: list.map(wire), system };
}

function wire({ role, parts }: { role: string; parts: JsonObject[] }): JsonObject {
  return { role, parts };
}
