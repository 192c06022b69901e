/** Reads answers, streamed or whole, as canonical events. */
import type { CodecContext } from "../../../core/context.ts";
import type { ChatEvent } from "../../../core/events.ts";
import type { AnswerReader, Frame } from "../../../core/format.ts";
import { isObject, type Json, type JsonObject, parseJson } from "../../../core/json.ts";
import { watchedReader } from "../../shared/stop-watcher.ts";
import { EventReader } from "./answer-reader.ts";
import { decodeAwsException } from "../../shared/aws-error.ts";
import { createStopWatcher } from "./stop-sequences.ts";
import { list, malformed } from "../../shared/read.ts";

/** Begins a streamed answer. */
export function readStream(context: CodecContext): AnswerReader {
  return watchedReader(new StreamReader(context), createStopWatcher(context));
}

/** Reads a JSON answer like a stream. @throws GatewayError `upstream` if the body is an error, or no answer of this format */
export function readAnswer(body: JsonObject, context: CodecContext): ChatEvent[] {
  const message = isObject(body.output) ? body.output.message : undefined;
  if (!isObject(message) || !Array.isArray(message.content)) {
    const said = body.message ?? body.Message;
    throw typeof said === "string"
      ? decodeAwsException({ type: body.__type, message: said })
      : malformed("the answer has no message");
  }
  const reader = new EventReader(context);
  const events = message.content
    .filter(isObject)
    .flatMap((block, index) => partsOf(block, index))
    .flatMap(([event, data]) => reader.read(event, data));
  events.push(...reader.read("messageStop", body), ...reader.read("metadata", body), ...reader.end());
  return createStopWatcher(context)?.watch(events) ?? events;
}

class StreamReader implements AnswerReader {
  readonly #events: EventReader;

  constructor(context: CodecContext) {
    this.#events = new EventReader(context);
  }

  push(frame: Frame): ChatEvent[] {
    const data = parseJson(frame.data);
    if (frame.event === "exception" || frame.event === "error") throw decodeAwsException(data);
    if (!isObject(data)) throw malformed("a frame is not JSON");
    return this.#events.read(frame.event, data);
  }

  end(): ChatEvent[] {
    return this.#events.end();
  }
}

type Part = readonly [event: string, data: JsonObject];

/**
 * Returns a block of a JSON answer as the events in which a stream would send it: some blocks have other shapes there.
 * @param index position of the block in the content
 */
function partsOf(block: JsonObject, index: number): Part[] {
  const start = (value: JsonObject): Part => [
    "contentBlockStart",
    { contentBlockIndex: index, start: value },
  ];
  const delta = (value: JsonObject): Part => [
    "contentBlockDelta",
    { contentBlockIndex: index, delta: value },
  ];
  const stop: Part = ["contentBlockStop", { contentBlockIndex: index }];
  if (typeof block.text === "string") return [delta({ text: block.text }), stop];
  if (isObject(block.toolUse)) {
    const { input, ...call } = block.toolUse;
    return [start({ toolUse: call }), delta({ toolUse: { input: JSON.stringify(input ?? {}) } }), stop];
  }
  if (isObject(block.toolResult)) {
    const { content, ...result } = block.toolResult;
    return [start({ toolResult: result }), delta({ toolResult: content ?? [] }), stop];
  }
  if (isObject(block.reasoningContent))
    return [
      ...reasoningIn(block.reasoningContent).map((reasoningContent) => delta({ reasoningContent })),
      stop,
    ];
  if (isObject(block.citationsContent)) {
    const { content, citations } = block.citationsContent;
    return [
      ...textsIn(content).map((text) => delta({ text })),
      ...list(citations).map((citation) => delta({ citation })),
      stop,
    ];
  }
  return [start(block), stop];
}

/** A stream has no `reasoningText` around text and signature. */
function reasoningIn({ reasoningText, redactedContent }: JsonObject): JsonObject[] {
  if (!isObject(reasoningText)) return redactedContent === undefined ? [] : [{ redactedContent }];
  const { text, signature } = reasoningText;
  return [...(text === undefined ? [] : [{ text }]), ...(signature === undefined ? [] : [{ signature }])];
}

function textsIn(content: Json | undefined): string[] {
  return list(content).flatMap((piece) =>
    isObject(piece) && typeof piece.text === "string" ? [piece.text] : [],
  );
}
