/** Writes canonical events as an answer, streamed (a record for each piece) or whole. */
import type { CodecContext } from "../../../core/context.ts";
import type { ChatEvent, Usage } from "../../../core/events.ts";
import type { AnswerWriter, Frame } from "../../../core/format.ts";
import { incompleteStream } from "../../../core/incomplete.ts";
import type { JsonObject } from "../../../core/json.ts";
import { checkCalls } from "../../shared/tool-input.ts";
import { encodeFinish } from "../finish.ts";
import { type Piece, PieceWriter } from "./answer-writer.ts";

/** The members of a record that hold its part of the answer. */
export type Shape = (part: WholePart) => JsonObject;

/** Pieces, joined. */
export interface WholePart {
  content: string;
  thinking: string;
  calls: JsonObject[];
  images: string[];
}

/** Of `POST /api/chat`. */
export const chatShape: Shape = ({ content, thinking, calls, images }) => ({
  message: {
    role: "assistant",
    content,
    ...(thinking !== "" && { thinking }),
    ...(images.length > 0 && { images }),
    ...(calls.length > 0 && { tool_calls: calls }),
  },
});

/** Of `POST /api/generate`, which has no tools. */
export const generateShape: Shape = ({ content, thinking, images }) => ({
  response: content,
  ...(thinking !== "" && { thinking }),
  ...(images.length > 0 && { image: images.at(-1)! }),
});

/** Begins a streamed answer. */
export function streamWriter(shape: Shape) {
  return (context: CodecContext): AnswerWriter => new StreamWriter(shape, context);
}

/** Writes a JSON answer. @throws GatewayError if `message-end` is missing */
export function answerWriter(shape: Shape) {
  return (events: readonly ChatEvent[], context: CodecContext): JsonObject => {
    const writer = new PieceWriter(context);
    const pieces: Piece[] = [];
    for (const event of events) {
      pieces.push(...writer.write(event));
      if (event.type !== "message-end") continue;
      // A call that the output limit cut off is left out: the client must not run it.
      if (event.reason.kind !== "length") pieces.push(...repaired(writer, context));
      const took = nanoseconds(performance.now() - context.startedAt);
      return {
        ...head(context),
        ...shape(joined(pieces)),
        ...ending(event, { total_duration: took, load_duration: 0, eval_duration: took }),
      };
    }
    throw incompleteStream();
  };
}

/** The answer to a request without content: clients load and unload a model by it. weir has nothing to load. */
export function loadAnswer(shape: Shape, isEmpty: (body: JsonObject) => boolean) {
  return (body: JsonObject): JsonObject | undefined => {
    if (!isEmpty(body)) return undefined;
    const isUnload = /^0+(?:\.0*)?[a-zµ]*$/.test(String(body.keep_alive ?? ""));
    return {
      model: body.model!,
      created_at: new Date().toISOString(),
      ...shape(NOTHING),
      done: true,
      done_reason: isUnload ? "unload" : "load",
    };
  };
}

const NOTHING: WholePart = { content: "", thinking: "", calls: [], images: [] };

class StreamWriter implements AnswerWriter {
  readonly #shape: Shape;
  readonly #context: CodecContext;
  readonly #pieces: PieceWriter;
  /** When the first piece came. Milliseconds of the monotonic clock. */
  #firstAt: number | undefined;
  #ended = false;

  constructor(shape: Shape, context: CodecContext) {
    this.#shape = shape;
    this.#context = context;
    this.#pieces = new PieceWriter(context);
  }

  push(event: ChatEvent): Frame[] {
    if (event.type === "block-start") this.#firstAt ??= performance.now();
    const frames = this.#pieces
      .write(event)
      .map((piece) => frame({ ...head(this.#context), ...this.#shape(joined([piece])), done: false }));
    return event.type === "message-end" ? [...frames, this.#finish(event)] : frames;
  }

  end(): Frame[] {
    if (!this.#ended) throw incompleteStream();
    return [];
  }

  #finish(event: MessageEnd): Frame {
    checkCalls(
      this.#pieces.broken.map(({ name }) => name),
      event.reason,
    );
    this.#ended = true;
    const { startedAt } = this.#context;
    const now = performance.now();
    const firstAt = this.#firstAt ?? now;
    const durations = {
      total_duration: nanoseconds(now - startedAt),
      load_duration: 0,
      prompt_eval_duration: nanoseconds(firstAt - startedAt),
      eval_duration: nanoseconds(now - firstAt),
    };
    return frame({ ...head(this.#context), ...this.#shape(NOTHING), ...ending(event, durations) });
  }
}

type MessageEnd = ChatEvent & { type: "message-end" };

function head({ model }: CodecContext): JsonObject {
  return { model, created_at: new Date().toISOString() };
}

function ending({ reason, usage }: MessageEnd, durations: JsonObject): JsonObject {
  return { done: true, done_reason: encodeFinish(reason), ...durations, ...encodeUsage(usage) };
}

function nanoseconds(milliseconds: number): number {
  return Math.round(milliseconds * 1e6);
}

function frame(record: JsonObject): Frame {
  return { data: JSON.stringify(record) };
}

/** Joins texts once. */
function joined(pieces: readonly Piece[]): WholePart {
  return {
    content: pieces.map(({ content }) => content ?? "").join(""),
    thinking: pieces.map(({ thinking }) => thinking ?? "").join(""),
    calls: pieces.map(({ call }) => call).filter((call) => call !== undefined),
    images: pieces.map(({ image }) => image).filter((image) => image !== undefined),
  };
}

function repaired({ broken }: PieceWriter, context: CodecContext): Piece[] {
  return broken.map(({ piece, repair }) => {
    context.reportLoss("repaired", "message.tool_calls", repair);
    return piece;
  });
}

/** Token counts: the input in one sum, whether or not a cache held it. */
function encodeUsage({ input, cacheRead, cacheWrite, output }: Usage): JsonObject {
  return { prompt_eval_count: input + cacheRead + cacheWrite, eval_count: output };
}
