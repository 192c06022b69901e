/**
 * Decodes items into canonical turns. Items of the assistant that are together are one turn, as reasoning belongs to the
 * text and calls behind it; upstream codecs join the other turns of one role.
 */
import type { Block, ImageBlock, ReasoningBlock, Role, ToolCallBlock, Turn } from "../../../core/chat.ts";
import type { CodecContext } from "../../../core/context.ts";
import { invalidRequest } from "../../../core/error.ts";
import { legacyCallId } from "../../../core/ids.ts";
import { isObject, type Json, type JsonObject } from "../../../core/json.ts";
import { getOwn } from "../../../core/own.ts";
import { list, text } from "../../shared/read.ts";
import { OWN_MARK } from "../ids.ts";
import { readImageCall } from "../image-call.ts";
import { FORMAT } from "../own-fields.ts";
import { decodeEncrypted } from "../reasoning.ts";
import { TOOL_KINDS, toolOfCall } from "../tool-kinds.ts";
import { isTrigger, openSummary, summaryText, unreadable } from "../compaction.ts";
import { decodeContent } from "./content.ts";
import { fault, missing } from "../../shared/request-fault.ts";
import { itemPath } from "./item-path.ts";
import { decodeResult, isResult } from "./results.ts";
import { joinName } from "./tools.ts";

/** Decodes `instructions` and `input`. @throws GatewayError for items that lack members of their type */
export function decodeTurns({ instructions, input }: JsonObject, context: CodecContext): Turn[] {
  const system: Turn[] =
    typeof instructions === "string" && instructions !== ""
      ? [
          {
            role: "system",
            blocks: [{ type: "text", text: instructions, path: "instructions" }],
            path: "instructions",
          },
        ]
      : [];
  if (typeof input === "string")
    return [
      ...system,
      { role: "user", blocks: [{ type: "text", text: input, path: "input" }], path: "input" },
    ];
  const items = list(input);
  checkTrigger(items);
  const history = new History(items, context);
  for (const [index, item] of items.entries()) history.add(item, itemPath(items, index), index);
  return [...system, ...history.end()];
}

/** A request to compact the conversation is the last item, and there is only one. */
function checkTrigger(items: readonly Json[]): void {
  const index = items.findIndex(isTrigger);
  if (index < 0 || index === items.length - 1) return;
  const path = itemPath(items, index);
  throw invalidRequest(
    `${path}: a compaction_trigger must be the last item, and there can be only one.`,
    path,
    "invalid_value",
  );
}

/**
 * Collects turns. A message between calls and their results comes behind the results, and an item of the assistant before
 * them, because other formats require each result directly behind its call.
 */
class History {
  readonly #turns: Turn[] = [];
  readonly #context: CodecContext;
  /** Results and messages, held back until all open calls have their results. */
  #results: Turn[] = [];
  #messages: Turn[] = [];
  /** Results that are still to come, by id of the call. */
  readonly #ahead = new Map<string, number>();
  /** Calls that wait for a result, by id. */
  readonly #waiting = new Map<string, number>();
  #open = 0;
  /** Ids of calls by id of their item, for results that name the item. */
  readonly #callsByItem = new Map<string, string>();

  constructor(items: readonly Json[], context: CodecContext) {
    this.#context = context;
    for (const item of items) {
      if (!isObject(item)) continue;
      const call = text(item.call_id);
      if (toolOfCall(String(item.type)) && call !== undefined && typeof item.id === "string")
        this.#callsByItem.set(item.id, call);
    }
    for (const item of items)
      if (isObject(item) && isResult(item)) bump(this.#ahead, this.#callIdOf(item), 1);
  }

  /** The turns, after the last item. */
  end(): Turn[] {
    this.#release();
    return this.#turns;
  }

  add(item: Json, path: string, index: number): void {
    if (!isObject(item)) throw fault(path, "an object");
    const type =
      text(item.type) ?? (item.role == null && typeof item.id === "string" ? "item_reference" : "message");
    switch (type) {
      case "message":
        return this.#addMessage(item, path);
      case "reasoning":
        return this.#addAssistant(decodeReasoning(item, path), path);
      case "function_call":
      case "custom_tool_call":
        return this.#addCall(decodeCall(item, type, path, index), path);
      case "compaction":
        return this.#addCompaction(item, path);
      case "item_reference":
        return this.#addReference(item, path);
      case "additional_tools":
      case "configuration_update":
      case "compaction_trigger":
        return;
    }
    if (isResult(item)) return this.#addResult(item, path);
    const tool = item.execution === "server" ? undefined : toolOfCall(type);
    if (tool !== undefined) return this.#addCall(decodeOwnCall(item, tool, path, index), path);
    this.#addAssistant([foreignBlock(item, path)], path);
  }

  #addMessage({ role, content, phase }: JsonObject, path: string): void {
    if (role == null) throw missing(`${path}.role`);
    const known = getOwn(ROLES, String(role));
    if (!known) throw fault(`${path}.role`, "one of 'user', 'assistant', 'system', 'developer'");
    const blocks = decodeContent(content, `${path}.content`);
    if (known !== "assistant")
      return this.#push(this.#open > 0 ? this.#messages : this.#turns, known, blocks, path);
    if (typeof phase === "string") for (const block of blocks) if (block.type === "text") block.phase = phase;
    // Codex sends blank messages beside turns of tool calls alone.
    this.#addAssistant(
      blocks.filter((block) => block.type !== "text" || /\S/.test(block.text)),
      path,
    );
  }

  #addAssistant(blocks: Block[], path: string): void {
    if (blocks.length === 0) return;
    const last = this.#turns.at(-1);
    // Two texts in one turn would be one text.
    const isApart = blocks[0]?.type === "text" && last?.blocks.at(-1)?.type === "text";
    if (last?.role === "assistant" && !isApart) last.blocks.push(...blocks);
    else this.#push(this.#turns, "assistant", blocks, path);
  }

  #addCall(call: ToolCallBlock, path: string): void {
    this.#addAssistant([call], path);
    const waiting = this.#waiting.get(call.id) ?? 0;
    if (waiting >= (this.#ahead.get(call.id) ?? 0)) return;
    this.#waiting.set(call.id, waiting + 1);
    this.#open++;
  }

  #addResult(item: JsonObject, path: string): void {
    const id = this.#callIdOf(item);
    const failed = item.status === "incomplete" || item.status === "failed";
    const blocks: Block[] = [
      {
        type: "tool-result",
        id,
        blocks: decodeResult(item, path) ?? [],
        ...(failed && { error: true }),
        path,
      },
    ];
    bump(this.#ahead, id, -1);
    const isAwaited = (this.#waiting.get(id) ?? 0) > 0;
    this.#push(this.#open > 0 ? this.#results : this.#turns, "user", blocks, path);
    if (!isAwaited) return;
    bump(this.#waiting, id, -1);
    this.#open--;
    if (this.#open === 0) this.#release();
  }

  #addCompaction(item: JsonObject, path: string): void {
    const summary = openSummary(item);
    if (summary === undefined) {
      const { sameFormat, target, model } = this.#context;
      if (!sameFormat || !target.traits.compacts) throw unreadable(path, model);
      return this.#addAssistant([foreignBlock(item, path)], path);
    }
    const blocks: Block[] = [{ type: "text", text: summaryText(summary), path }];
    this.#push(this.#open > 0 ? this.#messages : this.#turns, "user", blocks, path);
  }

  /**
   * A reference that the store did not resolve. The AI SDK refers to all earlier texts and reasoning unless it is set
   * otherwise; an error would end each of its conversations at the second turn where weir stores nothing.
   */
  #addReference({ id }: JsonObject, path: string): void {
    if (typeof id !== "string") throw missing(`${path}.id`);
    this.#context.reportLoss("dropped", path, `weir does not have the item ${id.slice(0, 200)}`);
  }

  #push(turns: Turn[], role: Role, blocks: Block[], path: string): void {
    turns.push({ role, blocks, path });
  }

  #release(): void {
    this.#turns.push(...this.#results, ...this.#messages);
    this.#results = [];
    this.#messages = [];
  }

  /** Results of a local shell name the item of the call by `id`. */
  #callIdOf({ type, call_id, id }: JsonObject): string {
    const call = text(call_id);
    if (call !== undefined) return call;
    const item = type === "local_shell_call_output" ? text(id) : undefined;
    return item === undefined ? "" : (this.#callsByItem.get(item) ?? item);
  }
}

const ROLES: Readonly<Record<string, Role>> = {
  user: "user",
  assistant: "assistant",
  system: "system",
  developer: "system",
};

function bump(counts: Map<string, number>, key: string, by: number): void {
  counts.set(key, (counts.get(key) ?? 0) + by);
}

/** Returns no block for an item of which nothing is left. */
function decodeReasoning(item: JsonObject, path: string): Block[] {
  const parts = textsOf(item.summary);
  const shown = parts.length > 0 ? parts : textsOf(item.content);
  const sealed = text(item.encrypted_content);
  const block: ReasoningBlock = {
    type: "reasoning",
    text: shown.join("\n\n"),
    ...(parts.length > 1 && { parts }),
    ...(sealed && decodeEncrypted(sealed)),
    path,
  };
  return block.text === "" && block.signature === undefined && block.redacted === undefined ? [] : [block];
}

function textsOf(parts: Json | undefined): string[] {
  return list(parts).flatMap((part) => (isObject(part) && typeof part.text === "string" ? [part.text] : []));
}

function decodeCall(item: JsonObject, type: string, path: string, index: number): ToolCallBlock {
  const isCustom = type === "custom_tool_call";
  const member = isCustom ? "input" : "arguments";
  const name = joinName(text(item.namespace), String(item.name));
  return {
    type: "tool-call",
    id: idOfCall(item, name, index),
    name,
    input: inputText(item[member]),
    kind: isCustom ? "custom" : "function",
    path,
    inputPath: `${path}.${member}`,
  };
}

/** Decodes the call of a tool with items of its own. */
function decodeOwnCall(item: JsonObject, name: string, path: string, index: number): ToolCallBlock {
  return {
    type: "tool-call",
    id: idOfCall(item, name, index),
    name,
    input: JSON.stringify(TOOL_KINDS[name]!.decode(item)),
    kind: "function",
    path,
  };
}

function idOfCall(item: JsonObject, name: string, index: number): string {
  return text(item.call_id) || legacyCallId(index, name);
}

/** Returns the arguments as JSON text; some clients send an object. */
function inputText(value: Json | undefined): string {
  if (typeof value === "string") return value;
  return value == null ? "" : JSON.stringify(value);
}

/** Whether weir wrote the item for a tool that a plugin ran. */
function isOwnCall({ type, id }: JsonObject): boolean {
  return type === "mcp_call" && text(id)?.startsWith(`mcp${OWN_MARK}`) === true;
}

/** A call and its result, for providers of other formats. */
function callText({ name, arguments: input, output, error }: JsonObject): string {
  const result = error == null ? `result: ${inputText(output)}` : `failed: ${inputText(error)}`;
  return `[${text(name) ?? "tool"}: ${inputText(input)}]\n[tool ${result}]`;
}

/** An item that only providers of this format understand. */
function foreignBlock(item: JsonObject, path: string): Block {
  const query =
    item.type === "web_search_call" && isObject(item.action) ? text(item.action.query) : undefined;
  const image = item.type === "image_generation_call" ? decodeImage(item, path) : undefined;
  return {
    type: "foreign",
    format: FORMAT,
    value: item,
    ...(query !== undefined && { text: `[web search: ${query}]` }),
    ...(isOwnCall(item) && { text: callText(item) }),
    ...(image && { instead: image }),
    path,
  };
}

/** The image of a call, for providers of other formats; `undefined` for a call without a result. */
function decodeImage(item: JsonObject, path: string): ImageBlock | undefined {
  const image = readImageCall(item);
  return image && { type: "image", source: { type: "base64", ...image }, path };
}
