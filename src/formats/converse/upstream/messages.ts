/**
 * Encodes turns as `system` and `messages`. Roles alternate, the first message is the user's, and the results of a message
 * begin the next one, in the order of the calls.
 */
import type { Block, ChatRequest, ToolCallBlock, ToolResultBlock } from "../../../core/chat.ts";
import { invalidRequest } from "../../../core/error.ts";
import type { ToolIds } from "../../../core/ids.ts";
import type { JsonObject } from "../../../core/json.ts";
import { blockPath, fieldPath, turnPath } from "../../shared/paths.ts";
import { readToolInput } from "../../shared/tool-input.ts";
import {
  type AnsweredCall,
  type Group,
  groupTurns,
  pairResults,
  type PlacedTurn,
} from "../../shared/turn-groups.ts";
import { toolIds } from "../call-ids.ts";
import { addMarked } from "./caching.ts";
import { encodeBlock, encodeReasoning } from "./content.ts";
import type { EncodeContext } from "./context.ts";
import { textBlock } from "./media.ts";
import { encodeResult } from "./tool-results.ts";

/** A message of the request. */
export interface Message {
  role: "user" | "assistant";
  content: JsonObject[];
  path: string;
}

export interface EncodedTurns {
  system: JsonObject[];
  messages: Message[];
}

/** Text of a user message that the format requires and the client did not send. */
const CONTINUE = "(continue)";
/** Text of a blank user message. */
const EMPTY = "(empty)";
/** The provider requires a text beside a document. */
const SEE_DOCUMENT = "(see document)";

/** @throws GatewayError `invalid-request` if the request contains only a system prompt */
export function encodeTurns(request: ChatRequest, context: EncodeContext): EncodedTurns {
  const { turns } = request;
  const head = turns.findIndex(({ role }) => role !== "system");
  if (head < 0) throw systemOnly(fieldPath(request, "turns"));
  const system: JsonObject[] = [];
  for (const turn of turns.slice(0, head))
    for (const block of turn.blocks) {
      const path = blockPath(block, turnPath(turn, request));
      addMarked(system, systemText(block, path, context), block, "system", path, context);
    }
  const writer = new MessageWriter({ ...request, turns: turns.slice(head) }, context);
  return { system, messages: writer.write() };
}

function systemOnly(path: string) {
  return invalidRequest(`${path}: at least one non-system message is required.`, path, "invalid_value");
}

function systemText(block: Block, path: string, context: EncodeContext): JsonObject[] {
  if (block.type === "text" || block.type === "refusal" || block.type === "foreign")
    return encodeBlock(block, path, context);
  context.reportLoss("dropped", path, "a system prompt can contain only text");
  return [];
}

class MessageWriter {
  readonly #request: ChatRequest;
  readonly #context: EncodeContext;
  readonly #ids: ToolIds;
  readonly #messages: Message[] = [];

  constructor(request: ChatRequest, context: EncodeContext) {
    this.#request = request;
    this.#context = context;
    this.#ids = toolIds(context.facts.toolIds, context.facts.escapesIds);
  }

  write(): Message[] {
    for (const group of groupTurns(this.#request)) this.#writeGroup(group);
    const { path } = this.#messages[0] ?? { path: fieldPath(this.#request, "turns") };
    if (this.#messages.length === 0) this.#messages.push(userText(EMPTY, path));
    if (this.#messages[0]!.role === "assistant") {
      this.#context.reportLoss("synthesized", path, "weir added a user message before it");
      this.#messages.unshift(userText(CONTINUE, path));
    }
    for (const message of this.#messages) this.#addTextToDocuments(message);
    return this.#messages;
  }

  #writeGroup(group: Group): void {
    const { calls, orphans } = pairResults(group, this.#ids, this.#request, this.#context);
    const ids = new Map(calls.map(({ id, call }) => [call, id]));
    for (const { turn, path } of group.assistant)
      this.#add("assistant", path, (content) => {
        for (const block of turn.blocks) this.#addAssistant(content, block, blockPath(block, path), ids);
      });
    const [first] = group.others;
    if (!first && calls.length === 0) return;
    this.#add("user", first?.path ?? calls[0]!.path, (content) => {
      for (const call of calls) this.#addResult(content, call);
      for (const placed of group.others) this.#addOther(content, placed, orphans);
    });
  }

  /** Appends to the last message if it has the same role. A blank user message after one of the assistant is kept as `(empty)`. */
  #add(role: Message["role"], path: string, write: (content: JsonObject[]) => void): void {
    const last = this.#messages.at(-1);
    const message = last?.role === role ? last : { role, content: [], path };
    write(message.content);
    if (message === last) return;
    if (message.content.length > 0) this.#messages.push(message);
    else if (role === "user" && last) this.#messages.push(userText(EMPTY, path));
  }

  #addAssistant(
    content: JsonObject[],
    block: Block,
    path: string,
    ids: ReadonlyMap<ToolCallBlock, string>,
  ): void {
    const blocks = this.#assistantBlock(block, path, ids);
    addMarked(content, blocks, block, "content", path, this.#context);
  }

  #assistantBlock(block: Block, path: string, ids: ReadonlyMap<ToolCallBlock, string>): JsonObject[] {
    switch (block.type) {
      case "text":
      case "refusal":
        return encodeBlock(block, path, this.#context);
      case "reasoning":
        return encodeReasoning(block, path, this.#context);
      case "tool-call":
        return [
          {
            toolUse: {
              toolUseId: ids.get(block)!,
              name: this.#context.names.send(block.name),
              input: this.#input(block, path),
            },
          },
        ];
      case "foreign": {
        if (block.text || block.instead?.type === "text") return encodeBlock(block, path, this.#context);
      }
    }
    this.#context.reportLoss(
      "dropped",
      path,
      "an assistant message can contain only text, reasoning and tool calls",
    );
    return [];
  }

  /** The arguments as an object. */
  #input({ input, inputPath, kind }: ToolCallBlock, path: string): JsonObject {
    if (kind === "custom") return { input };
    const { value, repair } = readToolInput(input);
    if (repair !== undefined) this.#context.reportLoss("repaired", inputPath ?? path, repair);
    return value;
  }

  /** A mark inside a result moves behind it, because a result cannot contain one. */
  #addResult(content: JsonObject[], call: AnsweredCall): void {
    const { result, path } = call;
    const inner = result.blocks.findLast((block) => "cache" in block && block.cache);
    const marked = result.cache ? result : (inner ?? result);
    addMarked(content, [encodeResult(call, this.#context)], marked, "content", path, this.#context);
  }

  #addOther(content: JsonObject[], { turn, path }: PlacedTurn, orphans: ReadonlySet<Block>): void {
    if (turn.role === "system") return this.#addReminder(content, turn.blocks, path);
    for (const block of turn.blocks) {
      const place = blockPath(block, path);
      const isOrphan = block.type === "tool-result" && orphans.has(block);
      const blocks = isOrphan ? this.#orphan(block, place) : encodeBlock(block, place, this.#context);
      addMarked(content, blocks, block, "content", place, this.#context);
    }
  }

  /** System messages are only at the head; a later one becomes user text at its place. */
  #addReminder(content: JsonObject[], blocks: readonly Block[], path: string): void {
    const text = blocks
      .flatMap((block) => systemText(block, blockPath(block, path), this.#context))
      .map((block) => block.text)
      .filter((part) => typeof part === "string")
      .join("\n\n");
    if (text === "") return;
    const marked = blocks.findLast((block) => "cache" in block && block.cache) ?? blocks[0]!;
    const reminder = { text: `<system-reminder>\n${text}\n</system-reminder>` };
    addMarked(content, [reminder], marked, "content", path, this.#context);
  }

  #orphan(result: ToolResultBlock, path: string): JsonObject[] {
    this.#context.reportLoss("repaired", path, "the result has no tool call; sent as text");
    const parts = result.blocks.flatMap((block) => encodeBlock(block, blockPath(block, path), this.#context));
    return [{ text: `[result of tool ${result.name ?? result.id}]` }, ...parts];
  }

  #addTextToDocuments({ content, path }: Message): void {
    if (
      !content.some((block) => block.document !== undefined) ||
      content.some((block) => block.text !== undefined)
    )
      return;
    this.#context.reportLoss(
      "synthesized",
      path,
      "weir added a text, because the provider refuses a document without one",
    );
    const at = content.findIndex((block) => block.document !== undefined);
    content.splice(at, 0, { text: SEE_DOCUMENT });
  }
}

function userText(text: string, path: string): Message {
  return { role: "user", content: textBlock(text), path };
}

/** Keeps a last assistant message (prefill) for models that continue it; otherwise adds a user message. */
export function endWithUser(
  messages: Message[],
  keepPrefill: boolean,
  { reportLoss }: EncodeContext,
): Message[] {
  const last = messages.at(-1);
  if (last?.role !== "assistant") return messages;
  if (!keepPrefill) {
    reportLoss(
      "synthesized",
      last.path,
      "weir added a user message after it; the model does not continue an assistant message",
    );
    return [...messages, userText(CONTINUE, last.path)];
  }
  const end = last.content.at(-1);
  if (typeof end?.text === "string") end.text = end.text.trimEnd();
  return messages;
}
