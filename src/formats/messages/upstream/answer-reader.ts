/** Reads events of a Messages stream into canonical events; a JSON answer is read as a stream. */
import type { CodecContext } from "../../../core/context.ts";
import type { ChatEvent, FinishReason, Usage } from "../../../core/events.ts";
import { mergeUsage, NO_USAGE } from "../../../core/events.ts";
import { AnswerIds } from "../../../core/ids.ts";
import type { Json, JsonObject } from "../../../core/json.ts";
import { isObject } from "../../../core/json.ts";
import { incompleteStream } from "../../../core/incomplete.ts";
import { malformed, text } from "../../shared/read.ts";
import { decodeStopReason } from "../finish.ts";
import { decodeUsage } from "../usage.ts";
import type { BlockReader, Emit } from "./block-readers.ts";
import { createBlockReader, isProgrammatic, ToolReader } from "./block-readers.ts";

export class EventReader {
  readonly #context: CodecContext;
  readonly #ids: AnswerIds;
  /** Open blocks by the provider's index. */
  readonly #open = new Map<number, BlockReader>();
  #events: ChatEvent[] = [];
  #started = false;
  #blocks = 0;
  #toolCalls = 0;
  #usage: Usage = NO_USAGE;
  #reason: FinishReason | undefined;

  constructor(context: CodecContext) {
    this.#context = context;
    this.#ids = new AnswerIds(context.id);
  }

  /** @throws GatewayError `upstream` for an event that is not allowed at its position */
  read(event: JsonObject): ChatEvent[] {
    this.#take(event);
    return this.#drain();
  }

  /** Ends the answer without `message_stop`. @throws GatewayError if the stop reason is missing or a block is open */
  end(): ChatEvent[] {
    if (this.#reason === undefined || this.#open.size > 0) throw incompleteStream();
    this.#end();
    return this.#drain();
  }

  #drain(): ChatEvent[] {
    const events = this.#events;
    this.#events = [];
    return events;
  }

  #take(event: JsonObject): void {
    if (event.type === "message_start") return this.#start(event.message);
    if (!READ.has(event.type)) return;
    if (!this.#started) throw malformed(`${String(event.type)} before message_start`);
    switch (event.type) {
      case "content_block_start":
        return this.#startBlock(indexOf(event), event.content_block);
      case "content_block_delta":
        return this.#grow(indexOf(event), event.delta);
      case "content_block_stop":
        return this.#endBlock(indexOf(event));
      case "message_delta":
        return this.#noteDelta(event);
      case "message_stop":
        return this.#end();
    }
  }

  #start(message: Json | undefined): void {
    if (this.#started || !isObject(message)) throw malformed("message_start");
    this.#started = true;
    this.#usage = mergeUsage(NO_USAGE, decodeUsage(message.usage, false));
    this.#events.push({
      type: "message-start",
      id: text(message.id) || this.#context.id,
      model: text(message.model) || this.#context.target.model,
      usage: this.#usage,
    });
  }

  #startBlock(index: number, value: Json | undefined): void {
    if (!isObject(value) || this.#open.has(index)) throw malformed("content_block_start");
    this.#openBlock(index, value);
  }

  #openBlock(index: number, value: JsonObject): BlockReader {
    this.#endBefore(value);
    const emit: Emit = {
      start: (block) => {
        if (block.type === "tool-call") this.#toolCalls++;
        else if (block.type === "foreign" && isObject(block.value) && isProgrammatic(block.value))
          this.#toolCalls++;
        this.#events.push({ type: "block-start", index: this.#blocks, block });
        return this.#blocks++;
      },
      callId: (id) => this.#ids.take(id),
      push: (event) => this.#events.push(event),
    };
    const reader = createBlockReader(value, this.#context, emit);
    this.#open.set(index, reader);
    return reader;
  }

  /** Ends open blocks before the next one starts: some hosts omit the end. Only calls may overlap. */
  #endBefore(next: JsonObject): void {
    const overlaps =
      next.type === "tool_use" && [...this.#open.values()].every((open) => open instanceof ToolReader);
    if (!overlaps) this.#endAll();
  }

  #endAll(): void {
    for (const reader of this.#open.values()) reader.end();
    this.#open.clear();
  }

  #grow(index: number, delta: Json | undefined): void {
    if (!isObject(delta)) throw malformed("content_block_delta");
    const reader = this.#open.get(index) ?? this.#openImplied(index, delta);
    reader.grow(delta);
  }

  /** Some hosts omit the start of a text or thinking block; the type of its first delta tells its kind. */
  #openImplied(index: number, delta: JsonObject): BlockReader {
    if (delta.type === "text_delta") return this.#openBlock(index, { type: "text", text: "" });
    if (delta.type === "thinking_delta") return this.#openBlock(index, { type: "thinking", thinking: "" });
    throw malformed(`${String(delta.type)} without a block`);
  }

  #endBlock(index: number): void {
    this.#open.get(index)?.end();
    this.#open.delete(index);
  }

  /** Usage is a running total: present counts replace earlier ones, even if the first count included the cache. */
  #noteDelta(event: JsonObject): void {
    const counted = decodeUsage(event.usage, true);
    this.#usage = mergeUsage(this.#usage, counted);
    this.#events.push({ type: "usage", usage: this.#usage });
    if (isObject(event.delta) && typeof event.delta.stop_reason === "string")
      this.#reason = decodeStopReason(event.delta);
  }

  #end(): void {
    this.#endAll();
    const { reasoning, output } = this.#usage;
    const usage = { ...this.#usage, reasoning: Math.min(reasoning, output) };
    this.#events.push({ type: "message-end", reason: this.#settleReason(), usage });
  }

  /** Providers have sent `tool_use` without a call, and a call that is the answer itself does not count. */
  #settleReason(): FinishReason {
    const reason = this.#reason ?? { kind: this.#toolCalls > 0 ? "tool-calls" : "stop" };
    return reason.kind === "tool-calls" && this.#toolCalls === 0 ? { ...reason, kind: "stop" } : reason;
  }
}

/** Event types that weir reads; it ignores all others, because vendors add new ones. */
const READ = new Set<Json | undefined>([
  "content_block_start",
  "content_block_delta",
  "content_block_stop",
  "message_delta",
  "message_stop",
]);

function indexOf({ index }: JsonObject): number {
  if (typeof index !== "number") throw malformed("an event without an index");
  return index;
}
