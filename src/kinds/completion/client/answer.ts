/** Writes canonical events as completions, streamed or whole. */
import type { CodecContext } from "../../../core/context.ts";
import type { ChatEvent, FinishReason } from "../../../core/events.ts";
import type { AnswerWriter, Frame } from "../../../core/format.ts";
import { incompleteStream } from "../../../core/incomplete.ts";
import type { JsonObject } from "../../../core/json.ts";
import { encodeUsage } from "../usage.ts";

/** What differs between the answers of the formats. */
export interface AnswerShape {
  /** Beginning of the id of an answer. */
  readonly id: string;
  readonly object: string;
  readonly event: string;
  /** The text of a whole answer, and of one event. */
  choice(text: string): JsonObject;
  piece(text: string): JsonObject;
}

export const completionShape: AnswerShape = {
  ...{ id: "cmpl-", object: "text_completion", event: "text_completion" },
  choice: (text) => ({ text, logprobs: null }),
  piece: (text) => ({ text, logprobs: null }),
};

export const fimShape: AnswerShape = {
  ...{ id: "", object: "chat.completion", event: "chat.completion.chunk" },
  choice: (content) => ({ message: { role: "assistant", content, tool_calls: null } }),
  piece: (content) => ({ delta: { content } }),
};

export function answerWriter(shape: AnswerShape) {
  return (events: readonly ChatEvent[], context: CodecContext): JsonObject => {
    const texts = new Texts();
    let id = "";
    for (const event of events) {
      if (event.type === "message-start") id = event.id;
      texts.add(event);
      if (event.type !== "message-end") continue;
      const choice = { index: 0, ...shape.choice(texts.take()), finish_reason: wordOf(event.reason) };
      return {
        ...headOf(shape, shape.object, id, context),
        choices: [choice],
        usage: encodeUsage(event.usage),
      };
    }
    throw incompleteStream();
  };
}

export function streamWriter(shape: AnswerShape) {
  return (context: CodecContext): AnswerWriter => new StreamWriter(shape, context);
}

class StreamWriter implements AnswerWriter {
  readonly #shape: AnswerShape;
  readonly #context: CodecContext;
  readonly #texts = new Texts();
  #head: JsonObject;
  #isEnded = false;

  constructor(shape: AnswerShape, context: CodecContext) {
    this.#shape = shape;
    this.#context = context;
    this.#head = headOf(shape, shape.event, "", context);
  }

  push(event: ChatEvent): Frame[] {
    if (event.type === "message-start")
      this.#head = headOf(this.#shape, this.#shape.event, event.id, this.#context);
    this.#texts.add(event);
    const text = this.#texts.take();
    const frames = text === "" ? [] : [this.#frame(text, null)];
    return event.type === "message-end" ? [...frames, ...this.#finish(event)] : frames;
  }

  end(): Frame[] {
    if (!this.#isEnded) throw incompleteStream();
    return [{ data: "[DONE]" }];
  }

  #finish({ reason, usage }: ChatEvent & { type: "message-end" }): Frame[] {
    this.#isEnded = true;
    const finish = this.#frame("", wordOf(reason));
    if (!this.#context.request?.style.includeUsage) return [finish];
    return [finish, frameOf({ ...this.#head, choices: [], usage: encodeUsage(usage) })];
  }

  #frame(text: string, finish: string | null): Frame {
    return frameOf({
      ...this.#head,
      choices: [{ index: 0, ...this.#shape.piece(text), finish_reason: finish }],
    });
  }
}

const frameOf = (chunk: JsonObject): Frame => ({ data: JSON.stringify(chunk) });

/** The text of an answer: a refusal is text too, as completions have no other place for it. */
class Texts {
  readonly #shown = new Set<number>();
  #pieces: string[] = [];

  add(event: ChatEvent): void {
    if (event.type === "block-start" && (event.block.type === "text" || event.block.type === "refusal"))
      this.#shown.add(event.index);
    if (event.type === "block-delta" && this.#shown.has(event.index)) this.#pieces.push(event.delta);
  }

  take(): string {
    const text = this.#pieces.join("");
    this.#pieces = [];
    return text;
  }
}

function headOf(shape: AnswerShape, object: string, id: string, context: CodecContext): JsonObject {
  const bare = (id || context.id).replace(/^(?:msg_|req_|cmpl-|chatcmpl-)/, "");
  return { id: shape.id + bare, object, created: Math.floor(Date.now() / 1000), model: context.model };
}

function wordOf({ kind }: FinishReason): string {
  return kind === "length" ? "length" : kind === "content-filter" ? "content_filter" : "stop";
}
