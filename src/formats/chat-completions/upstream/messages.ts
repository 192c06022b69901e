/**
 * Encodes turns as messages. Results directly follow their calls, in the order of the calls; all else keeps its position.
 * weir adds no message between a tool and the user (src/formats/README.md#tool-results).
 */
import type { Block, ChatRequest, ToolResultBlock } from "../../../core/chat.ts";
import { type IdRule, ToolIds } from "../../../core/ids.ts";
import type { JsonObject } from "../../../core/json.ts";
import type { Traits } from "../../../core/provider.ts";
import { blockPath, fieldPath } from "../../shared/paths.ts";
import {
  type AnsweredCall,
  type Group,
  groupTurns,
  pairResults,
  type PlacedTurn,
} from "../../shared/turn-groups.ts";
import { encodeAssistant } from "./assistant.ts";
import { contentOf, type EncodeContext, encodePart, isBlank, textPart } from "./content.ts";
import { encodeResult } from "./tool-results.ts";
import { toolsAsText } from "./tools-as-text.ts";

/** OpenAI's older API versions refuse a `tool_calls[].id` of more than 40 characters. */
export const TOOL_IDS: IdRule = { legal: /^[a-zA-Z0-9_-]{1,40}$/, length: 40 };
/** Mistral: "Tool call id has to be defined and a string of length 9 of a-z, A-Z, 0-9". */
export const MISTRAL_IDS: IdRule = { legal: /^[a-zA-Z0-9]{9}$/, length: 9, exact: true };

/** @param instruction a sentence of weir for the system prompt */
export function encodeMessages(
  request: ChatRequest,
  instruction: string | undefined,
  context: EncodeContext,
): JsonObject[] {
  const writer = new MessageWriter(request, context);
  for (const group of groupTurns(request)) writer.write(group);
  const messages = withoutRefusedCalls(writer.messages, request, context);
  return limitMarks(placeSystem(withInstruction(messages, instruction), context.traits));
}

/** Writes calls as text that the host would refuse: all of them, or those whose reasoning it requires and weir does not have. */
function withoutRefusedCalls(
  messages: JsonObject[],
  request: ChatRequest,
  { traits, fitsNative, reportLoss }: EncodeContext,
): JsonObject[] {
  const report = () =>
    reportLoss("converted", fieldPath(request, "turns"), "calls and results of tools were sent as text");
  if (traits.tools === false) return toolsAsText(messages, report);
  if (!fitsNative || traits.reasoningReplay !== "required") return messages;
  return toolsAsText(messages, report, ({ reasoning_content: reasoning }) => reasoning === undefined);
}

class MessageWriter {
  readonly messages: JsonObject[] = [];
  readonly #request: ChatRequest;
  readonly #context: EncodeContext;
  readonly #ids: ToolIds;

  constructor(request: ChatRequest, context: EncodeContext) {
    this.#request = request;
    this.#context = context;
    this.#ids = new ToolIds(context.traits.toolIds === "mistral" ? MISTRAL_IDS : TOOL_IDS);
  }

  write(group: Group): void {
    const { calls, orphans } = pairResults(group, this.#ids, this.#request, this.#context);
    const ids = new Map(calls.map(({ id, call }) => [call, id]));
    const message = encodeAssistant(group.assistant, ids, this.#context);
    if (message) this.messages.push(message);
    this.#writeResults(calls);
    for (const placed of group.others) this.#writeOther(placed, orphans);
  }

  /** Writes one tool message for each call, then attachments. */
  #writeResults(calls: readonly AnsweredCall[]): void {
    const attachments: JsonObject[] = [];
    for (const { id, result, path } of calls) {
      const { message, attached } = encodeResult(result, id, path, this.#context);
      this.messages.push(message);
      attachments.push(...attached);
    }
    if (attachments.length > 0) this.messages.push({ role: "user", content: attachments });
  }

  #writeOther({ turn, path }: PlacedTurn, orphans: ReadonlySet<Block>): void {
    const parts: JsonObject[] = [];
    for (const block of turn.blocks) {
      if (block.type !== "tool-result")
        parts.push(...encodePart(block, blockPath(block, path), this.#context));
      else if (orphans.has(block)) parts.push(...this.#orphan(block, path));
    }
    const content = contentOf(parts);
    if (content === undefined) return;
    const message: JsonObject = { role: turn.role, content };
    if (turn.name !== undefined) message.name = turn.name;
    this.messages.push(message);
  }

  #orphan(result: ToolResultBlock, path: string): JsonObject[] {
    this.#context.reportLoss("repaired", path, "the result has no tool call; sent as text");
    const parts = result.blocks.flatMap((block) => encodePart(block, blockPath(block, path), this.#context));
    return [textPart(`[result of tool ${result.name ?? result.id}]`), ...parts];
  }
}

export function withInstruction(messages: JsonObject[], instruction: string | undefined): JsonObject[] {
  if (instruction === undefined) return messages;
  const first = messages[0];
  if (first?.role !== "system" || typeof first.content !== "string")
    return [{ role: "system", content: instruction }, ...messages];
  return [{ ...first, content: `${first.content}\n\n${instruction}` }, ...messages.slice(1)];
}

/**
 * Strict chat templates accept a system message only at the start: weir joins leading ones and turns later ones into user
 * text at their position. Moving them to the start would change the cached prefix in every turn.
 */
export function placeSystem(messages: JsonObject[], traits: Traits): JsonObject[] {
  if (traits.systemPlacement !== "first-only") return messages;
  const placed: JsonObject[] = [];
  for (const message of messages) {
    const before = placed.at(-1);
    if (message.role !== "system") placed.push(message);
    else if (!before) placed.push({ role: "system", content: plainText(message) });
    else if (placed.length === 1 && before.role === "system")
      placed[0] = { role: "system", content: `${plainText(before)}\n\n${plainText(message)}` };
    else
      placed.push({ role: "user", content: `<system-reminder>\n${plainText(message)}\n</system-reminder>` });
  }
  return placed;
}

function plainText({ content }: JsonObject): string {
  if (!Array.isArray(content)) return String(content);
  const texts = content.map((part) => (part as JsonObject).text).filter((text) => typeof text === "string");
  return texts.filter((text) => !isBlank(text)).join("\n\n");
}

/** Maximum number of cache marks; the last ones are kept (src/formats/README.md#cache-marks). */
const MAX_MARKS = 4;

function limitMarks(messages: JsonObject[]): JsonObject[] {
  const marked: JsonObject[] = [];
  for (const { content } of messages)
    if (Array.isArray(content))
      for (const part of content as JsonObject[])
        if (part.prompt_cache_breakpoint !== undefined) marked.push(part);
  for (const part of marked.slice(0, -MAX_MARKS)) delete part.prompt_cache_breakpoint;
  return messages;
}
