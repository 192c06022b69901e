/** Reads answers that weir wrote, streamed or whole: a tape may have to convert them for a client of another format. */
import type { CodecContext } from "../../../core/context.ts";
import type { BlockStart, ChatEvent, Usage } from "../../../core/events.ts";
import { NO_USAGE } from "../../../core/events.ts";
import { GatewayError } from "../../../core/error.ts";
import type { AnswerReader, Frame } from "../../../core/format.ts";
import { incompleteStream } from "../../../core/incomplete.ts";
import type { JsonObject } from "../../../core/json.ts";
import { isObject, parseJson } from "../../../core/json.ts";
import { list, number, text } from "../../shared/read.ts";
import { decodeFinish } from "../finish.ts";

export function readStream(context: CodecContext): AnswerReader {
  return new RecordReader(context);
}

/** @throws GatewayError for an answer that is not done */
export function readAnswer(body: JsonObject, context: CodecContext): ChatEvent[] {
  const reader = new RecordReader(context);
  const events = reader.read(body);
  return body.done === true ? events : [...events, ...reader.end()];
}

/** Kinds of blocks of which pieces follow each other. */
type Texts = "text" | "reasoning";

class RecordReader implements AnswerReader {
  readonly #context: CodecContext;
  #events: ChatEvent[] = [];
  #begun = false;
  /** The block that the next piece may continue. */
  #open: Texts | undefined;
  #index = -1;
  #calls = 0;

  constructor(context: CodecContext) {
    this.#context = context;
  }

  push({ data }: Frame): ChatEvent[] {
    const record = parseJson(data);
    if (!isObject(record)) throw new GatewayError("upstream", "A record of the answer is no object.");
    return this.read(record);
  }

  end(): never {
    throw incompleteStream();
  }

  read(record: JsonObject): ChatEvent[] {
    if (typeof record.error === "string") throw new GatewayError("upstream", record.error);
    this.#events = [];
    if (!this.#begun)
      this.#events.push({ type: "message-start", id: this.#context.id, model: text(record.model) ?? "" });
    this.#begun = true;
    const message = isObject(record.message) ? record.message : record;
    this.#grow("reasoning", text(message.thinking));
    this.#grow("text", text(message.content) ?? text(message.response));
    for (const image of [...list(message.images), message.image ?? ""])
      if (typeof image === "string" && image !== "")
        this.#add({ type: "image", mediaType: "image/png", data: image });
    for (const call of list(message.tool_calls)) if (isObject(call)) this.#call(call);
    if (record.done === true) this.#finish(record);
    return this.#events;
  }

  #grow(kind: Texts, delta: string | undefined): void {
    if (!delta) return;
    if (this.#open !== kind) {
      this.#close();
      this.#events.push({ type: "block-start", index: ++this.#index, block: { type: kind } });
      this.#open = kind;
    }
    this.#events.push({ type: "block-delta", index: this.#index, delta });
  }

  #call({ id, function: called }: JsonObject): void {
    if (!isObject(called)) return;
    const block: BlockStart = {
      type: "tool-call",
      id: text(id) ?? "",
      name: text(called.name) ?? "",
      kind: "function",
    };
    this.#calls++;
    this.#add(block, JSON.stringify(called.arguments ?? {}));
  }

  /** Adds a whole block. */
  #add(block: BlockStart, delta?: string): void {
    this.#close();
    const index = ++this.#index;
    this.#events.push({ type: "block-start", index, block });
    if (delta !== undefined) this.#events.push({ type: "block-delta", index, delta });
    this.#events.push({ type: "block-end", index });
  }

  #close(): void {
    if (this.#open) this.#events.push({ type: "block-end", index: this.#index });
    this.#open = undefined;
  }

  #finish(record: JsonObject): void {
    this.#close();
    const usage: Usage = {
      ...NO_USAGE,
      input: number(record.prompt_eval_count) ?? 0,
      output: number(record.eval_count) ?? 0,
    };
    this.#events.push({
      type: "message-end",
      reason: decodeFinish(text(record.done_reason), this.#calls),
      usage,
    });
  }
}
