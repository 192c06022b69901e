/** Decodes messages into canonical turns. */
import type { Block, ToolCallBlock, ToolResultBlock, Turn } from "../../../core/chat.ts";
import { legacyCallId } from "../../../core/ids.ts";
import type { Json, JsonObject } from "../../../core/json.ts";
import { isObject } from "../../../core/json.ts";
import { OpenCalls } from "../../shared/open-calls.ts";
import { list } from "../../shared/read.ts";
import { decodeReasoning, GOOGLE, thoughtSignature } from "../reasoning.ts";
import { FORMAT } from "../own-fields.ts";
import { decodeCache } from "../../shared/prompt-cache.ts";
import { decodeContent, decodeImage } from "./content.ts";
import { missing } from "../../shared/request-fault.ts";

/** Decodes a conversation; consecutive tool results share one user turn. */
export function decodeMessages(messages: readonly JsonObject[]): Turn[] {
  const history = new History();
  messages.forEach((message, index) => history.add(message, index));
  return history.turns;
}

/** Collects turns and finds the call of each result, which names it by id, by function name, or not at all. */
class History {
  readonly turns: Turn[] = [];
  /** Calls of the last assistant message without a result. */
  #open = new OpenCalls([]);
  /** Blocks of the user turn that collects consecutive results. */
  #results: ToolResultBlock[] | undefined;

  add(message: JsonObject, index: number): void {
    const path = `messages[${index}]`;
    if (message.role === "tool" || message.role === "function") return this.#addResult(message, path);
    this.#results = undefined;
    const turn = this.#turnOf(message, index, path);
    if (typeof message.name === "string" && message.name !== "") turn.name = message.name;
    this.turns.push(turn);
  }

  #turnOf(message: JsonObject, index: number, path: string): Turn {
    if (message.role === "assistant") {
      const blocks = decodeAssistant(message, index);
      this.#open = new OpenCalls(blocks.filter((block) => block.type === "tool-call"));
      return { role: "assistant", blocks, path };
    }
    const role = message.role === "user" ? "user" : "system";
    return { role, blocks: decodeContent(message.content, `${path}.content`), path };
  }

  #addResult(message: JsonObject, path: string): void {
    const name = typeof message.name === "string" && message.name !== "" ? message.name : undefined;
    const result: ToolResultBlock = {
      type: "tool-result",
      id: this.#answer(message.tool_call_id, name),
      ...(name !== undefined && { name }),
      blocks: decodeContent(message.content, `${path}.content`),
      ...(message.is_error === true && { error: true }),
      path,
      ...decodeCache(message),
    };
    if (this.#results) {
      this.#results.push(result);
      return;
    }
    this.#results = [result];
    this.turns.push({ role: "user", blocks: this.#results, path });
  }

  /** Returns the id of the answered call: the given id, else the first open call of that name, else the first open call. */
  #answer(id: Json | undefined, name: string | undefined): string {
    if (typeof id === "string" && id !== "") {
      this.#open.takeById(id);
      return id;
    }
    return this.#open.takeByName(name)?.id ?? "";
  }
}

/** Decodes members in a fixed order: reasoning, text, refusal, images, calls. */
function decodeAssistant(message: JsonObject, index: number): Block[] {
  const path = `messages[${index}]`;
  const blocks: Block[] = decodeReasoning(message, path);
  blocks.push(...decodeContent(message.content, `${path}.content`));
  const said = blocks.some((block) => block.type === "refusal");
  if (typeof message.refusal === "string" && message.refusal !== "" && !said)
    blocks.push({ type: "refusal", text: message.refusal, path: `${path}.refusal` });
  list(message.images).forEach((image, at) => {
    const place = `${path}.images[${at}]`;
    if (isObject(image)) blocks.push({ ...decodeImage(image, place), path: place });
  });
  if (isObject(message.audio))
    blocks.push({
      type: "foreign",
      format: FORMAT,
      value: { type: "audio", audio: message.audio },
      path: `${path}.audio`,
    });
  const calls = list(message.tool_calls);
  calls.forEach((call, at) => {
    blocks.push(...decodeCall(call, `${path}.tool_calls[${at}]`, { turn: index, place: at }));
  });
  // Clients send answers of llama-cpp-python back, which have a call in both forms.
  if (calls.length === 0 && isObject(message.function_call))
    blocks.push(decodeLegacyCall(message.function_call, `${path}.function_call`, index));
  return blocks;
}

/** Decodes a call, preceded by Gemini's thought signature if the client kept it. */
function decodeCall(call: Json, path: string, at: { turn: number; place: number }): Block[] {
  if (!isObject(call)) return [];
  const custom = isObject(call.custom) && !isObject(call.function);
  const body = custom ? call.custom : call.function;
  if (!isObject(body) || typeof body.name !== "string")
    throw missing(`${path}.${custom ? "custom" : "function"}.name`);
  const block: ToolCallBlock = {
    type: "tool-call",
    id:
      typeof call.id === "string" && call.id !== ""
        ? call.id
        : legacyCallId(at.turn, `${at.place}:${body.name}`),
    name: body.name,
    input: inputText(custom ? body.input : body.arguments),
    kind: custom ? "custom" : "function",
    path,
    inputPath: custom ? `${path}.custom.input` : `${path}.function.arguments`,
    ...decodeCache(call),
  };
  const signature = thoughtSignature(call);
  return signature === undefined
    ? [block]
    : [{ type: "reasoning", text: "", signature, origin: GOOGLE, path: `${path}.extra_content` }, block];
}

function decodeLegacyCall(call: JsonObject, path: string, turn: number): ToolCallBlock {
  const name = String(call.name);
  return {
    type: "tool-call",
    id: legacyCallId(turn, name),
    name,
    input: inputText(call.arguments),
    kind: "function",
    path,
    inputPath: `${path}.arguments`,
  };
}

/** Returns the arguments as JSON text; some clients send an object. */
function inputText(value: Json | undefined): string {
  if (typeof value === "string") return value;
  return value == null ? "" : JSON.stringify(value);
}
