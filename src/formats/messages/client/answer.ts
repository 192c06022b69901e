/** Writes canonical events as an answer, streamed or whole. */
import type { CodecContext } from "../../../core/context.ts";
import { type ChatEvent, NO_USAGE } from "../../../core/events.ts";
import type { AnswerWriter, Frame } from "../../../core/format.ts";
import type { Json, JsonObject } from "../../../core/json.ts";
import { incompleteStream } from "../../../core/incomplete.ts";
import { checkCalls, readToolInput } from "../../shared/tool-input.ts";
import { EventWriter } from "./answer-writer.ts";

/** Begins a streamed answer. */
export function writeStream(context: CodecContext): AnswerWriter {
  return new StreamWriter(context);
}

/** Writes a JSON answer, assembled from the events of its stream. @throws GatewayError if `message-end` is missing */
export function writeAnswer(events: readonly ChatEvent[], context: CodecContext): JsonObject {
  // The message has the final counts alone.
  const writer = new EventWriter(context, NO_USAGE);
  const assembler = new MessageAssembler();
  for (const event of events) for (const data of writer.write(event)) assembler.add(data);
  if (!writer.ended) throw incompleteStream();
  return assembler.message(context);
}

class StreamWriter implements AnswerWriter {
  readonly #events: EventWriter;

  constructor(context: CodecContext) {
    this.#events = new EventWriter(context);
  }

  push(event: ChatEvent): Frame[] {
    const written = this.#events.write(event);
    if (event.type === "message-end") checkCalls(this.#events.brokenCalls, event.reason);
    return written.map(frameOf);
  }

  end(): Frame[] {
    if (!this.#events.ended) throw incompleteStream();
    return [frameOf({ type: "message_stop" })];
  }
}

function frameOf(event: JsonObject): Frame {
  return { event: event.type as string, data: JSON.stringify(event) };
}

/** Assembles a message from the events of a stream, as the SDK of Anthropic does. */
class MessageAssembler {
  #message: JsonObject = {};
  readonly #blocks: JsonObject[] = [];
  /** Arguments of calls, by block index. */
  readonly #inputs = new Map<number, string>();

  add(event: JsonObject): void {
    const index = event.index as number;
    switch (event.type) {
      case "message_start":
        this.#message = { ...(event.message as JsonObject) };
        break;
      case "content_block_start":
        this.#blocks[index] = { ...(event.content_block as JsonObject) };
        break;
      case "content_block_delta":
        this.#grow(index, event.delta as JsonObject);
        break;
      case "message_delta":
        Object.assign(this.#message, event.delta);
        this.#message.usage = { ...(this.#message.usage as JsonObject), ...(event.usage as JsonObject) };
        break;
    }
  }

  #grow(index: number, delta: JsonObject): void {
    const block = this.#blocks[index]!;
    for (const field of ["text", "thinking", "signature"])
      if (delta[field] !== undefined) block[field] = `${block[field]}${delta[field]}`;
    if (delta.partial_json !== undefined)
      this.#inputs.set(index, (this.#inputs.get(index) ?? "") + (delta.partial_json as string));
  }

  message(context: CodecContext): JsonObject {
    const cut =
      this.#message.stop_reason === "max_tokens" ||
      this.#message.stop_reason === "model_context_window_exceeded";
    const content: JsonObject[] = [];
    for (const [index, block] of this.#blocks.entries()) {
      const text = this.#inputs.get(index);
      const input =
        text === undefined ? block.input : readInput(text, cut, `content[${index}].input`, context);
      if ("input" in block && input === undefined) continue;
      content.push(text === undefined ? block : { ...block, input });
    }
    return { ...this.#message, content };
  }
}

/**
 * Reads the arguments of a call as an object; `undefined` for a call whose arguments were cut off with the answer, because
 * the client must not run it.
 */
function readInput(text: string, cut: boolean, path: string, context: CodecContext): Json | undefined {
  const { value, repair, broken } = readToolInput(text);
  if (broken && cut) return undefined;
  if (repair !== undefined) context.reportLoss("repaired", path, repair);
  return value;
}
