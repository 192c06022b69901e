/** Decodes messages into canonical turns. */
import type { Block, ToolCallBlock, ToolResultBlock, Turn } from "../../../core/chat.ts";
import { legacyCallId } from "../../../core/ids.ts";
import type { Json, JsonObject } from "../../../core/json.ts";
import { isObject } from "../../../core/json.ts";
import { OpenCalls } from "../../shared/open-calls.ts";
import { list, text } from "../../shared/read.ts";
import { decodeThinking } from "../reasoning.ts";
import { decodeContent } from "./content.ts";

/** Decodes a conversation; consecutive tool results share one user turn. @throws GatewayError for images that are none */
export function decodeTurns(messages: Json | undefined): Turn[] {
  const history = new History();
  for (const [index, message] of list(messages).entries()) if (isObject(message)) history.add(message, index);
  return history.turns;
}

/** Collects turns and finds the call of each result. Most clients keep no ids of calls: they name the function, or nothing. */
class History {
  readonly turns: Turn[] = [];
  /** Calls of the last message of the assistant without a result. */
  #open = new OpenCalls([]);
  /** Blocks of the user turn that collects consecutive results. */
  #results: ToolResultBlock[] | undefined;

  add(message: JsonObject, index: number): void {
    const path = `messages[${index}]`;
    if (message.role === "tool") return this.#addResult(message, path);
    this.#results = undefined;
    if (message.role !== "assistant") {
      const role = message.role === "system" ? "system" : "user";
      this.turns.push({ role, blocks: decodeContent(message, "content", `${path}.`), path });
      return;
    }
    const calls = decodeCalls(message.tool_calls, index);
    this.#open = new OpenCalls(calls);
    const thinking = decodeThinking(message.thinking, `${path}.thinking`);
    const blocks: Block[] = [...thinking, ...decodeContent(message, "content", `${path}.`), ...calls];
    this.turns.push({ role: "assistant", blocks, path });
  }

  #addResult(message: JsonObject, path: string): void {
    // Clients of older versions write `name`.
    const name = text(message.tool_name) || text(message.name) || undefined;
    const result: ToolResultBlock = {
      type: "tool-result",
      id: this.#answer(text(message.tool_call_id), name),
      ...(name !== undefined && { name }),
      blocks: decodeContent(message, "content", `${path}.`),
      path,
    };
    if (this.#results) {
      this.#results.push(result);
      return;
    }
    this.#results = [result];
    this.turns.push({ role: "user", blocks: this.#results, path });
  }

  /** The id of the answered call: the call with that id, else the first open call of that name, else the first open call. */
  #answer(id: string | undefined, name: string | undefined): string {
    const known = id ? this.#open.takeById(id) : undefined;
    return (known ?? this.#open.takeByName(name))?.id ?? id ?? "";
  }
}

function decodeCalls(calls: Json | undefined, turn: number): ToolCallBlock[] {
  return list(calls).flatMap((call, place) => {
    if (!isObject(call) || !isObject(call.function)) return [];
    const path = `messages[${turn}].tool_calls[${place}]`;
    const name = String(call.function.name);
    const input = call.function.arguments ?? {};
    return {
      type: "tool-call" as const,
      id: text(call.id) || legacyCallId(turn, `${place}:${name}`),
      name,
      input: typeof input === "string" ? input : JSON.stringify(input),
      inputPath: `${path}.function.arguments`,
      kind: "function" as const,
      path,
    };
  });
}
