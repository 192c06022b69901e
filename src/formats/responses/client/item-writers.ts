/** Writers for the kinds of items of an answer. */
import type { BlockStart, Citation } from "../../../core/events.ts";
import type { JsonObject } from "../../../core/json.ts";
import { encodeEncrypted } from "../reasoning.ts";
import { createCallWriter } from "./call-writers.ts";
import { createHostedWriter } from "./hosted-writers.ts";
import { type ItemWriter, type Output, type Status, Writer } from "./writer.ts";

/** Creates the writer of a block; `undefined` for a block that the format cannot express. */
export function createItemWriter(block: BlockStart, output: Output): ItemWriter | undefined {
  switch (block.type) {
    case "text":
      return new MessageWriter(output, "output_text", block.phase);
    case "refusal":
      return new MessageWriter(output, "refusal");
    case "reasoning":
      return new ReasoningWriter(block, output);
    case "tool-call":
      return block.name.trim() === "" ? undefined : createCallWriter(block, output);
    case "image":
      return new ImageWriter(block, output);
    case "hosted-tool":
      return createHostedWriter(block, output);
    case "foreign":
      return undefined;
  }
}

/** Writes a message with one part; no message without text. */
export class MessageWriter extends Writer implements ItemWriter {
  readonly #kind: "output_text" | "refusal";
  readonly phase: string | undefined;
  #text = "";
  /** Where the text of the current block begins. */
  #start = 0;
  readonly #citations: Citation[] = [];
  readonly #annotations: JsonObject[] = [];

  constructor(output: Output, kind: "output_text" | "refusal", phase?: string) {
    super(output);
    this.#kind = kind;
    this.phase = phase;
  }

  /** Whether the text of a further block can follow in the same message. */
  get continues(): boolean {
    return this.#kind === "output_text" && this.phase === undefined;
  }

  /** Continues the message with the text of a further block. */
  resume(): void {
    this.#start = this.#text.length;
  }

  write(fragment: string): void {
    if (this.index === undefined) {
      this.open("message");
      this.emit("response.content_part.added", { content_index: 0, part: this.#part() });
    }
    this.#text += fragment;
    this.emit(`response.${this.#kind}.delta`, {
      content_index: 0,
      delta: fragment,
      ...(this.#kind === "output_text" && { logprobs: [] }),
    });
  }

  cite(citation: Citation): void {
    this.#citations.push(citation);
  }

  /** The citations of a block apply to all its text. Positions are UTF-16 units. */
  end(): void {
    const cited = this.#citations.splice(0);
    if (this.index === undefined) return;
    for (const { url, title } of cited) {
      const annotation = {
        type: "url_citation",
        start_index: this.#start,
        end_index: this.#text.length,
        title: title ?? "",
        url,
      };
      this.emit("response.output_text.annotation.added", {
        content_index: 0,
        annotation_index: this.#annotations.length,
        annotation,
      });
      this.#annotations.push(annotation);
    }
  }

  close(status: Status): void {
    if (this.index === undefined) return;
    this.emit(`response.${this.#kind}.done`, {
      content_index: 0,
      ...(this.#kind === "output_text" ? { text: this.#text, logprobs: [] } : { refusal: this.#text }),
    });
    this.emit("response.content_part.done", { content_index: 0, part: this.#part() });
    this.done(status);
  }

  value(status: Status): JsonObject {
    return {
      id: this.id,
      type: "message",
      status,
      role: "assistant",
      ...(this.phase !== undefined && { phase: this.phase }),
      content: this.#text === "" ? [] : [this.#part()],
    };
  }

  #part(): JsonObject {
    return this.#kind === "output_text"
      ? { type: "output_text", text: this.#text, annotations: [...this.#annotations], logprobs: [] }
      : { type: "refusal", refusal: this.#text };
  }
}

/** Writes reasoning as parts of a summary, because that is where clients look for it. */
class ReasoningWriter extends Writer implements ItemWriter {
  readonly #redacted: string | undefined;
  readonly #origin: string;
  readonly #parts: string[] = [];
  /** Number of the current part, as the events count. */
  #part = -1;
  #signature: string | undefined;
  #ended = false;

  constructor({ redacted, origin }: BlockStart & { type: "reasoning" }, output: Output) {
    super(output);
    this.#redacted = redacted;
    this.#origin = origin ?? output.context.target.provider;
    if (redacted !== undefined) this.open("reasoning");
  }

  write(fragment: string, part: number): void {
    if (this.index === undefined) this.open("reasoning");
    let delta = fragment;
    if (part !== this.#part) {
      this.#endPart();
      this.#part = part;
      // The blank line is for formats without parts.
      if (this.#parts.length > 0) delta = delta.replace(/^\n\n/, "");
      this.#parts.push("");
      this.emit("response.reasoning_summary_part.added", {
        ...this.#place(),
        part: this.#summary(this.#last),
      });
    }
    if (delta === "") return;
    this.#parts[this.#last] += delta;
    this.emit("response.reasoning_summary_text.delta", { ...this.#place(), delta });
  }

  end(signature: string | undefined): void {
    this.#signature = signature;
    if (this.index === undefined && signature) this.open("reasoning");
    this.#ended = true;
  }

  close(status: Status): void {
    if (this.index === undefined) return;
    this.#endPart();
    this.done(status);
  }

  value(status: Status): JsonObject {
    return {
      id: this.id,
      type: "reasoning",
      status,
      summary: this.#parts.map((_, index) => this.#summary(index)),
      ...(this.#ended && {
        encrypted_content: encodeEncrypted(
          { signature: this.#signature, redacted: this.#redacted },
          this.#origin,
        ),
      }),
    };
  }

  get #last(): number {
    return this.#parts.length - 1;
  }

  #endPart(): void {
    if (this.#parts.length === 0) return;
    this.emit("response.reasoning_summary_text.done", { ...this.#place(), text: this.#parts[this.#last]! });
    this.emit("response.reasoning_summary_part.done", { ...this.#place(), part: this.#summary(this.#last) });
  }

  #place(): JsonObject {
    return { summary_index: this.#last };
  }

  #summary(index: number): JsonObject {
    return { type: "summary_text", text: this.#parts[index]! };
  }
}

/**
 * Writes a whole image as the call of the tool that generates images, without the events about its progress: `stream()` of
 * OpenAI's SDK throws at those.
 */
class ImageWriter extends Writer implements ItemWriter {
  readonly #image: BlockStart & { type: "image" };

  constructor(image: BlockStart & { type: "image" }, output: Output) {
    super(output);
    this.#image = image;
    this.open("image_generation_call");
  }

  write(): void {}

  end(): void {}

  close(): void {
    this.done("completed");
  }

  value(status: Status): JsonObject {
    const { mediaType, data } = this.#image;
    const isOpen = status === "in_progress";
    return {
      id: this.id,
      type: "image_generation_call",
      status: isOpen ? status : "completed",
      output_format: mediaType.replace(/^image\//, ""),
      result: isOpen ? null : data,
    };
  }
}
