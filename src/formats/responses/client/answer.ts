/** Writes canonical events as an answer, streamed or whole. */
import type { CodecContext } from "../../../core/context.ts";
import type { GatewayError } from "../../../core/error.ts";
import type { ChatEvent } from "../../../core/events.ts";
import type { AnswerOutcome, AnswerWriter, Frame } from "../../../core/format.ts";
import type { JsonObject } from "../../../core/json.ts";
import { incompleteStream } from "../../../core/incomplete.ts";
import { checkCalls } from "../../shared/tool-input.ts";
import { EventWriter } from "./answer-writer.ts";
import { addFailure, encodeFailure } from "./errors.ts";
import { FrameWriter } from "./frames.ts";

/** Begins a streamed answer. */
export function writeStream(context: CodecContext): AnswerWriter {
  return new StreamWriter(context);
}

/** Writes a JSON answer. @throws GatewayError if `message-end` is missing */
export function writeAnswer(events: readonly ChatEvent[], context: CodecContext): JsonObject {
  const writer = new EventWriter(context, () => {});
  for (const event of events) {
    if (event.type !== "message-end") writer.write(event);
    else {
      if (event.reason.kind !== "length") writer.repairCalls();
      writer.finish(event);
      return writer.response();
    }
  }
  throw incompleteStream();
}

class StreamWriter implements AnswerWriter {
  readonly #events: EventWriter;
  readonly #frames = new FrameWriter();

  constructor(context: CodecContext) {
    this.#events = new EventWriter(context, (type, members) => this.#frames.add(type, members));
  }

  push(event: ChatEvent): Frame[] {
    if (event.type !== "message-end") this.#events.write(event);
    else {
      checkCalls(this.#events.brokenCalls, event.reason);
      this.#events.finish(event);
    }
    return this.#frames.take();
  }

  end(outcome?: AnswerOutcome): Frame[] {
    const response = this.#response(outcome?.isStored);
    this.#frames.add(`response.${String(response.status)}`, { response });
    return this.#frames.take();
  }

  answer(): JsonObject {
    return this.#response();
  }

  fail(error: GatewayError): Frame[] {
    if (!this.#frames.hasBegun) this.#events.begin();
    addFailure(this.#frames, error, this.#events.failed(encodeFailure(error)));
    return this.#frames.take();
  }

  #response(isStored?: boolean): JsonObject {
    if (!this.#events.ended) throw incompleteStream();
    return this.#events.response(isStored);
  }
}
