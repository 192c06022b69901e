/** Writes canonical events as an answer, streamed or whole. */
import type { CodecContext } from "../../../core/context.ts";
import type { ChatEvent } from "../../../core/events.ts";
import type { AnswerWriter, Frame } from "../../../core/format.ts";
import { incompleteStream } from "../../../core/incomplete.ts";
import type { JsonObject } from "../../../core/json.ts";
import { checkCalls } from "../../shared/tool-input.ts";
import { PartWriter } from "./answer-writer.ts";
import { encodeFinish } from "../finish.ts";
import { encodeUsage } from "../usage.ts";

/** Begins a streamed answer: a record for each part, the last one with the finish reason and the token counts. */
export function writeStream(context: CodecContext): AnswerWriter {
  return new StreamWriter(context);
}

type MessageEnd = ChatEvent & { type: "message-end" };

class StreamWriter implements AnswerWriter {
  readonly #context: CodecContext;
  readonly #parts: PartWriter;
  /** The end of each record, serialised once. */
  #tail = "";
  #ended = false;

  constructor(context: CodecContext) {
    this.#context = context;
    this.#parts = new PartWriter(context);
    this.#tail = this.#tailOf("");
  }

  push(event: ChatEvent): Frame[] {
    if (event.type === "message-start") this.#tail = this.#tailOf(event.id);
    if (event.type === "message-end") return [this.#finish(event)];
    return this.#parts.write(event).map((part) => this.#record(part, ""));
  }

  end(): Frame[] {
    if (!this.#ended) throw incompleteStream();
    return [];
  }

  #finish({ reason, usage }: MessageEnd): Frame {
    checkCalls(
      this.#parts.broken.map(({ name }) => name),
      reason,
    );
    this.#ended = true;
    const end = { ...encodeFinish(reason, this.#parts.refusal), ...this.#parts.grounding.metadata };
    const candidate = JSON.stringify(end).slice(1, -1);
    return this.#record(
      this.#parts.last(),
      `,${candidate}`,
      `,"usageMetadata":${JSON.stringify(encodeUsage(usage))}`,
    );
  }

  #record(part: JsonObject, candidate: string, record = ""): Frame {
    const content = `{"parts":[${JSON.stringify(part)}],"role":"model"}`;
    return {
      data: `{"candidates":[{"content":${content}${candidate},"index":0}]${record}${this.#tail}`,
    };
  }

  #tailOf(id: string): string {
    return `,${JSON.stringify(identity(id, this.#context)).slice(1)}`;
  }
}

function identity(id: string, context: CodecContext): JsonObject {
  return { modelVersion: context.model, responseId: id || context.id };
}

/** Writes a JSON answer. @throws GatewayError if `message-end` is missing */
export function writeAnswer(events: readonly ChatEvent[], context: CodecContext): JsonObject {
  const writer = new PartWriter(context);
  const parts: GrowingPart[] = [];
  let id = "";
  for (const event of events) {
    if (event.type === "message-start") id = event.id;
    if (event.type !== "message-end") {
      for (const part of writer.write(event)) addPart(parts, part);
      continue;
    }
    const { reason, usage } = event;
    // A call that the output limit cut off is left out: the client must not run it.
    if (reason.kind !== "length") addRepaired(writer, parts, context);
    const last = writer.last();
    if (parts.length === 0 || last.thoughtSignature !== undefined) addPart(parts, last);
    const end = encodeFinish(reason, writer.refusal);
    return {
      candidates: [
        {
          content: { parts: parts.map(joined), role: "model" },
          ...end,
          ...writer.grounding.metadata,
          index: 0,
        },
      ],
      usageMetadata: encodeUsage(usage),
      ...identity(id, context),
    };
  }
  throw incompleteStream();
}

function addRepaired({ broken }: PartWriter, parts: GrowingPart[], context: CodecContext): void {
  for (const { part, repair } of broken) {
    context.reportLoss("repaired", "candidates[0].content", repair);
    addPart(parts, part);
  }
}

/** A part, and the pieces of its text, joined once at the end. */
interface GrowingPart {
  part: JsonObject;
  texts: string[];
}

/** Adds a part; a piece of text grows the part before it if that is of the same kind. */
function addPart(parts: GrowingPart[], part: JsonObject): void {
  const last = parts.at(-1);
  const isText = typeof part.text === "string";
  const grows =
    isText &&
    part.thoughtSignature === undefined &&
    last !== undefined &&
    last.texts.length > 0 &&
    last.part.text !== "" &&
    last.part.thought === part.thought;
  if (grows) last.texts.push(part.text as string);
  else parts.push({ part, texts: isText ? [part.text as string] : [] });
}

function joined({ part, texts }: GrowingPart): JsonObject {
  return texts.length > 1 ? { ...part, text: texts.join("") } : part;
}
