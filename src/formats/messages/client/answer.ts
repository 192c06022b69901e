/** Encodes canonical events as an answer, streamed or whole. */
import type { Call } from "../../../core/call.ts";
import { GatewayError } from "../../../core/error.ts";
import type { ChatEvent } from "../../../core/events.ts";
import type { Frame } from "../../../core/format.ts";
import type { Json, JsonObject } from "../../../core/json.ts";
import { checkCalls, readToolInput } from "../../shared/tool-input.ts";
import { AnswerWriter } from "./writer.ts";

/** Encodes a stream. Throws what `events` throws, and a GatewayError if they end without `message-end`. */
export async function* encodeStream(events: AsyncIterable<ChatEvent>, call: Call): AsyncGenerator<Frame> {
  const writer = new AnswerWriter(call);
  for await (const event of events) {
    const written = writer.push(event);
    if (event.type === "message-end") checkCalls(writer.brokenCalls, event.reason);
    for (const data of written) yield { event: data.type as string, data: JSON.stringify(data) };
  }
  if (!writer.ended) throw incomplete();
}

/** Encodes one JSON answer, assembled from the events of its stream. */
export function encodeAnswer(events: readonly ChatEvent[], call: Call): JsonObject {
  const writer = new AnswerWriter(call);
  const assembler = new MessageAssembler();
  for (const event of events) for (const data of writer.push(event)) assembler.add(data);
  if (!writer.ended) throw incomplete();
  return assembler.message(call);
}

function incomplete(): GatewayError {
  return new GatewayError("upstream", "The answer ended before it was complete.", {
    code: "stream_incomplete",
  });
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

  message(call: Call): JsonObject {
    const cut =
      this.#message.stop_reason === "max_tokens" ||
      this.#message.stop_reason === "model_context_window_exceeded";
    const content: JsonObject[] = [];
    for (const [index, block] of this.#blocks.entries()) {
      const text = this.#inputs.get(index);
      const input = text === undefined ? block.input : readInput(text, cut, `content[${index}].input`, call);
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
function readInput(text: string, cut: boolean, path: string, call: Call): Json | undefined {
  const { value, repair, broken } = readToolInput(text);
  if (broken && cut) return undefined;
  if (repair !== undefined) call.reportLoss("repaired", path, repair);
  return value;
}
