/**
 * Encodes turns as input items. Results directly follow their calls, in the order of the calls; all else keeps its position.
 */
import type { Block, ChatRequest, ToolCallBlock } from "../../../core/chat.ts";
import { type IdRule, ToolIds } from "../../../core/ids.ts";
import type { JsonObject } from "../../../core/json.ts";
import { isObject } from "../../../core/json.ts";
import { encodePart } from "../../shared/openai-parts.ts";
import { blockPath } from "../../shared/paths.ts";
import { list } from "../../shared/read.ts";
import { toolInputText } from "../../shared/tool-input.ts";
import {
  type AnsweredCall,
  type Group,
  groupTurns,
  pairResults,
  type PlacedTurn,
} from "../../shared/turn-groups.ts";
import { FORMAT } from "../own-fields.ts";
import { contentOf, encodeInput, type EncodeContext, inputText, isBlank } from "./content.ts";
import { encodeReasoningItem } from "./reasoning.ts";
import { encodeResult } from "./tool-results.ts";
import { takesCustomTools } from "./tools.ts";

/** `call_id` has at most 64 characters. */
const CALL_IDS: IdRule = { legal: /^[a-zA-Z0-9_-]{1,64}$/, length: 64 };

export interface EncodedTurns {
  /** System messages at the beginning. */
  instructions: string[];
  input: JsonObject[];
}

export function encodeTurns(request: ChatRequest, context: EncodeContext): EncodedTurns {
  const head = request.turns.findIndex(({ role }) => role !== "system");
  const leading = head < 0 ? request.turns : request.turns.slice(0, head);
  const writer = new ItemWriter({ ...request, turns: request.turns.slice(leading.length) }, context);
  for (const group of groupTurns(writer.request)) writer.write(group);
  const instructions = leading.map((turn) => textOf(turn.blocks, context)).filter((text) => text !== "");
  return { instructions, input: limitMarks(writer.items) };
}

function textOf(blocks: readonly Block[], context: EncodeContext): string {
  return blocks
    .flatMap((block) => encodePart(block, blockPath(block, "system"), context))
    .map(({ text }) => text)
    .filter((text) => typeof text === "string")
    .join("\n\n");
}

class ItemWriter {
  readonly items: JsonObject[] = [];
  readonly request: ChatRequest;
  readonly #context: EncodeContext;
  readonly #ids = new ToolIds(CALL_IDS);

  constructor(request: ChatRequest, context: EncodeContext) {
    this.request = request;
    this.#context = context;
  }

  write(group: Group): void {
    const { calls, orphans } = pairResults(group, this.#ids, this.request, this.#context);
    const ids = new Map(calls.map(({ id, call }) => [call, id]));
    for (const placed of group.assistant) this.#writeAssistant(placed, ids);
    for (const call of calls) this.items.push(encodeResult(call, this.#isCustom(call.call), this.#context));
    for (const placed of group.others) this.#writeOther(placed, orphans);
  }

  /** The items of a turn, in the order of its blocks; neighbouring texts of one phase are one message. */
  #writeAssistant({ turn, path }: PlacedTurn, ids: ReadonlyMap<ToolCallBlock, string>): void {
    let message: { phase: string | undefined; content: JsonObject[] } | undefined;
    for (const block of turn.blocks) {
      const place = blockPath(block, path);
      const part = this.#textPart(block, place);
      if (part) {
        const phase = block.type === "text" ? block.phase : message?.phase;
        if (!message || message.phase !== phase) {
          message = { phase, content: [] };
          this.items.push({
            type: "message",
            role: "assistant",
            content: message.content,
            ...(phase !== undefined && { phase }),
          });
        }
        message.content.push(part);
        continue;
      }
      const item = this.#item(block, place, ids);
      if (!item) continue;
      message = undefined;
      this.items.push(item);
    }
  }

  #textPart(block: Block, path: string): JsonObject | undefined {
    switch (block.type) {
      case "text":
        return isBlank(block.text) ? undefined : outputText(block.text);
      case "refusal":
        return isBlank(block.text) ? undefined : { type: "refusal", refusal: block.text };
      case "foreign": {
        if (block.format === FORMAT) return undefined;
        const isText = block.text !== undefined && !isBlank(block.text);
        this.#context.reportLoss(
          isText ? "converted" : "dropped",
          path,
          "the format has no such content block",
        );
        return isText ? outputText(block.text!) : undefined;
      }
      case "image":
      case "document":
      case "audio":
        this.#context.reportLoss(
          "dropped",
          path,
          "an assistant message can contain only text and tool calls",
        );
        return undefined;
      default:
        return undefined;
    }
  }

  #item(block: Block, path: string, ids: ReadonlyMap<ToolCallBlock, string>): JsonObject | undefined {
    if (block.type === "reasoning") return encodeReasoningItem(block, path, this.#context);
    if (block.type === "tool-call") return this.#call(block, ids.get(block)!, path);
    const isOwn = block.type === "foreign" && block.format === FORMAT && isObject(block.value);
    return isOwn ? (block.value as JsonObject) : undefined;
  }

  #call(block: ToolCallBlock, id: string, path: string): JsonObject {
    const name = this.#context.names.send(block.name);
    if (this.#isCustom(block)) return { type: "custom_tool_call", call_id: id, name, input: block.input };
    if (block.kind === "custom")
      return { type: "function_call", call_id: id, name, arguments: JSON.stringify({ input: block.input }) };
    const { text, repair } = toolInputText(block.input);
    if (repair !== undefined) this.#context.reportLoss("repaired", block.inputPath ?? path, repair);
    return { type: "function_call", call_id: id, name, arguments: text };
  }

  /** Providers refuse a call of a custom tool that the request does not declare as one. */
  #isCustom({ kind, name }: ToolCallBlock): boolean {
    const isDeclared = this.request.tools.some((tool) => tool.kind === "custom" && tool.name === name);
    return kind === "custom" && isDeclared && takesCustomTools(this.#context);
  }

  #writeOther({ turn, path }: PlacedTurn, orphans: ReadonlySet<Block>): void {
    const parts = turn.blocks.flatMap((block) => {
      if (block.type !== "tool-result") return encodeInput(block, blockPath(block, path), this.#context);
      return orphans.has(block) ? this.#orphan(block, path) : [];
    });
    if (parts.length === 0) return;
    if (turn.role !== "system") return void this.items.push(message("user", contentOf(parts, "\n\n")));
    const text = contentOf(parts, "\n\n");
    const isReminder = this.#context.traits.systemPlacement === "first-only" && typeof text === "string";
    this.items.push(
      isReminder
        ? message("user", `<system-reminder>\n${text}\n</system-reminder>`)
        : message("developer", text),
    );
  }

  #orphan(result: AnsweredCall["result"], path: string): JsonObject[] {
    this.#context.reportLoss(
      "repaired",
      blockPath(result, path),
      "the result has no tool call; sent as text",
    );
    const parts = result.blocks.flatMap((block) => encodeInput(block, blockPath(block, path), this.#context));
    return [inputText(`[result of tool ${result.name ?? result.id}]`), ...parts];
  }
}

export function message(role: string, content: JsonObject["content"] = ""): JsonObject {
  return { type: "message", role, content };
}

function outputText(text: string): JsonObject {
  return { type: "output_text", text, annotations: [] };
}

/** Maximum number of cache marks; the last ones are kept (src/formats/README.md#cache-marks). */
const MAX_MARKS = 4;

function limitMarks(items: JsonObject[]): JsonObject[] {
  const marked = items
    .flatMap(({ content, output }) => [...list(content), ...list(output)])
    .filter(isObject)
    .filter((part) => part.prompt_cache_breakpoint !== undefined);
  for (const part of marked.slice(0, -MAX_MARKS)) delete part.prompt_cache_breakpoint;
  return items;
}
