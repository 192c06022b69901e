/** Writers for the kinds of blocks of a Messages stream. */
import type { CodecContext } from "../../../core/context.ts";
import type { BlockStart } from "../../../core/events.ts";
import type { AnswerIds } from "../../../core/ids.ts";
import type { JsonObject } from "../../../core/json.ts";
import { isObject } from "../../../core/json.ts";
import { reportHosted } from "../../shared/hosted.ts";
import { ToolInputStream } from "../../shared/tool-input.ts";
import { NATIVE_ORIGIN, encodeRedactedData, encodeSignature } from "../reasoning.ts";
import { FORMAT } from "../own-fields.ts";
import { showsLists } from "./hosted.ts";
import { HostedCallWriter, HostedListWriter } from "./hosted-writer.ts";
import { type BlockWriter, type Out, Writer } from "./writer.ts";

/** State that the blocks of an answer share. */
export interface AnswerState {
  toolCalls: number;
  foreignCalls: number;
  refusal: string;
  texts: number;
  /** Buffered blank text, written before the next text that is not blank. */
  blank: string;
  ids: AnswerIds;
}

/** Creates the writer of a block; `undefined` for a block that the format cannot express. */
export function createBlockWriter(
  start: BlockStart,
  context: CodecContext,
  state: AnswerState,
  out: Out,
): BlockWriter | undefined {
  switch (start.type) {
    case "text":
      return new TextWriter(state, out);
    case "refusal":
      return new RefusalWriter(state, out);
    case "reasoning":
      return new ReasoningWriter(start, context, out);
    case "tool-call":
      return start.name.trim() === "" ? undefined : new ToolCallWriter(start, context, state, out);
    case "image":
      return new ImageWriter(start, context, state, out);
    case "hosted-tool":
      if (start.kind === "call") return new HostedCallWriter(start, context, out);
      if (start.kind === "list" && showsLists(context.headers)) return new HostedListWriter(start, out);
      return void reportHosted(start, context);
    case "foreign":
      return start.format === FORMAT && isObject(start.value)
        ? new ForeignWriter(start.value, state, out)
        : undefined;
  }
}

/** Buffers blank text until other text follows: Anthropic refuses a blank block in the history. */
class TextWriter extends Writer implements BlockWriter {
  readonly #state: AnswerState;

  constructor(state: AnswerState, out: Out) {
    super(out);
    this.#state = state;
  }

  open(): void {}

  write(fragment: string): void {
    if (this.opened) return this.delta({ type: "text_delta", text: fragment });
    const text = this.#state.blank + fragment;
    this.#state.blank = text.trim() === "" ? text : "";
    if (this.#state.blank !== "") return;
    this.#state.texts++;
    this.start({ type: "text", text: "" });
    this.delta({ type: "text_delta", text });
  }

  close(): void {
    this.stop();
  }
}

/** Names an image in a text: no answer of this format contains one. */
class ImageWriter implements BlockWriter {
  readonly #text: TextWriter;
  readonly #line: string;
  readonly #context: CodecContext;

  constructor(
    { mediaType, data }: BlockStart & { type: "image" },
    context: CodecContext,
    state: AnswerState,
    out: Out,
  ) {
    this.#text = new TextWriter(state, out);
    this.#line = `[image: ${mediaType}, ${Buffer.byteLength(data, "base64")} bytes]`;
    this.#context = context;
  }

  open(): void {
    this.#text.write(this.#line);
    const path = `content[${this.#text.index}]`;
    this.#context.reportLoss("converted", path, "an answer of this format cannot contain an image");
  }

  write(): void {}

  close(): void {
    this.#text.close();
  }

  isComplete(): boolean {
    return true;
  }
}

/** Writes a refusal to `stop_details`, and as text if the answer has no other content. */
class RefusalWriter implements BlockWriter {
  readonly #text: TextWriter | undefined;
  readonly #state: AnswerState;

  constructor(state: AnswerState, out: Out) {
    this.#state = state;
    this.#text = state.texts === 0 && state.toolCalls === 0 ? new TextWriter(state, out) : undefined;
  }

  open(): void {}

  write(fragment: string): void {
    this.#state.refusal += fragment;
    this.#text?.write(fragment);
  }

  close(): void {
    this.#text?.close();
  }

  isComplete(): boolean {
    return false;
  }
}

/** Opens a block at the first text or signature and ends it with exactly one signature, never an empty one. */
class ReasoningWriter extends Writer implements BlockWriter {
  readonly #redacted: string | undefined;
  readonly #origin: string;
  readonly #hidden: boolean;
  #text = "";

  constructor(start: BlockStart & { type: "reasoning" }, context: CodecContext, out: Out) {
    super(out);
    this.#redacted = start.redacted;
    this.#origin = start.origin ?? context.target.provider;
    this.#hidden = this.#origin !== NATIVE_ORIGIN && context.request?.style.hideReasoning === true;
  }

  open(): void {
    if (this.#redacted !== undefined)
      this.start({ type: "redacted_thinking", data: encodeRedactedData(this.#redacted, this.#origin) });
  }

  write(fragment: string): void {
    if (this.#redacted !== undefined) return;
    this.#text += fragment;
    this.#begin();
    if (!this.#hidden) this.delta({ type: "thinking_delta", thinking: fragment });
  }

  close(signature?: string): void {
    if (this.#redacted === undefined && (this.#text !== "" || signature)) {
      this.#begin();
      const sealed = encodeSignature(this.#text, signature, this.#origin, this.#hidden);
      this.delta({ type: "signature_delta", signature: sealed });
    }
    this.stop();
  }

  #begin(): void {
    if (!this.opened) this.start({ type: "thinking", thinking: "", signature: "" });
  }
}

class ToolCallWriter extends Writer implements BlockWriter {
  readonly #start: BlockStart & { type: "tool-call" };
  readonly #context: CodecContext;
  readonly #state: AnswerState;
  readonly #input = new ToolInputStream();
  brokenCall?: string;

  constructor(
    start: BlockStart & { type: "tool-call" },
    context: CodecContext,
    state: AnswerState,
    out: Out,
  ) {
    super(out);
    this.#start = start;
    this.#context = context;
    this.#state = state;
  }

  open(): void {
    this.#state.toolCalls++;
    const id = this.#state.ids.take(this.#start.id);
    this.start({ type: "tool_use", id, name: this.#start.name, input: {} });
    if (this.#isCustom) this.#write('{"input":"');
  }

  write(fragment: string): void {
    this.#write(this.#isCustom ? JSON.stringify(fragment).slice(1, -1) : fragment);
  }

  close(): void {
    if (this.#isCustom) this.#write('"}');
    const { rest, repair, broken } = this.#input.end();
    this.#emit(rest);
    if (repair !== undefined) this.#context.reportLoss("repaired", `content[${this.index}].input`, repair);
    if (broken) this.brokenCall = this.#start.name;
    this.stop();
  }

  override isComplete(): boolean {
    return !this.#isCustom && this.#input.isComplete;
  }

  /** The input of a custom tool is text; this format has only objects, so that weir puts it into the member `input`. */
  get #isCustom(): boolean {
    return this.#start.kind === "custom";
  }

  #write(json: string): void {
    this.#emit(this.#input.push(json));
  }

  #emit(json: string): void {
    if (json !== "") this.delta({ type: "input_json_delta", partial_json: json });
  }
}

/** Writes a block of this format in one event; the input of a call follows as a delta, where clients read it. */
class ForeignWriter extends Writer implements BlockWriter {
  readonly #value: JsonObject;

  constructor(value: JsonObject, state: AnswerState, out: Out) {
    super(out);
    this.#value = value;
    if (value.type === "tool_use") state.foreignCalls++;
  }

  open(): void {
    const { input } = this.#value;
    if (!isObject(input)) return this.start(this.#value);
    this.start({ ...this.#value, input: {} });
    this.delta({ type: "input_json_delta", partial_json: JSON.stringify(input) });
  }

  write(): void {}

  close(): void {
    this.stop();
  }
}
