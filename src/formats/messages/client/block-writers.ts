/** How each kind of block is written into a Messages stream. */
import type { Call } from "../../../core/call.ts";
import type { BlockStart } from "../../../core/events.ts";
import type { AnswerIds } from "../../../core/ids.ts";
import type { JsonObject } from "../../../core/json.ts";
import { isObject } from "../../../core/json.ts";
import { ToolInputStream } from "../../shared/tool-input.ts";
import { NATIVE_ORIGIN, sealRedacted, sealSignature } from "../reasoning.ts";
import { FORMAT } from "./content.ts";

/** Writes one block. `open` is called when it becomes live, `write` for each piece, `close` once. */
export interface BlockWriter {
  open(): void;
  write(piece: string): void;
  close(signature?: string): void;
  /** Nothing more can come: the arguments of a call are one whole JSON object. */
  isComplete(): boolean;
  /** Of a tool call that is closed: its name, if its arguments are not JSON. */
  brokenCall?: string;
}

/** Where a writer puts its events; an index is claimed when the block is really written. */
export interface Out {
  emit(event: JsonObject): void;
  claimIndex(): number;
}

/** What the whole answer has to know of its blocks. */
export interface Tally {
  toolCalls: number;
  foreignCalls: number;
  refusal: string;
  texts: number;
  /** Blank text that waits for real text to stand in front of. */
  blank: string;
  ids: AnswerIds;
}

/** The writer of a block; nothing for one the format cannot show. */
export function createBlockWriter(
  start: BlockStart,
  call: Call,
  tally: Tally,
  out: Out,
): BlockWriter | undefined {
  switch (start.type) {
    case "text":
      return new TextWriter(tally, out);
    case "refusal":
      return new RefusalWriter(tally, out);
    case "reasoning":
      return new ReasoningWriter(start, call, out);
    case "tool-call":
      return start.name.trim() === "" ? undefined : new ToolCallWriter(start, call, tally, out);
    case "foreign":
      return start.format === FORMAT && isObject(start.value)
        ? new ForeignWriter(start.value, tally, out)
        : undefined;
  }
}

class Writer {
  readonly out: Out;
  #index = -1;

  constructor(out: Out) {
    this.out = out;
  }

  get opened(): boolean {
    return this.#index >= 0;
  }

  /** Of the block in the answer; -1 until it is opened. */
  get index(): number {
    return this.#index;
  }

  start(block: JsonObject): void {
    this.#index = this.out.claimIndex();
    this.out.emit({ type: "content_block_start", index: this.#index, content_block: block });
  }

  delta(delta: JsonObject): void {
    this.out.emit({ type: "content_block_delta", index: this.#index, delta });
  }

  stop(): void {
    if (this.opened) this.out.emit({ type: "content_block_stop", index: this.#index });
  }

  isComplete(): boolean {
    return false;
  }
}

/** Blank text is held back until real text follows: a blank block is refused when it is replayed. */
class TextWriter extends Writer implements BlockWriter {
  readonly #tally: Tally;

  constructor(tally: Tally, out: Out) {
    super(out);
    this.#tally = tally;
  }

  open(): void {}

  write(piece: string): void {
    if (this.opened) return this.delta({ type: "text_delta", text: piece });
    const text = this.#tally.blank + piece;
    this.#tally.blank = text.trim() === "" ? text : "";
    if (this.#tally.blank !== "") return;
    this.#tally.texts++;
    this.start({ type: "text", text: "" });
    this.delta({ type: "text_delta", text });
  }

  close(): void {
    this.stop();
  }
}

/** A refusal is the text of the answer when it is all there is to read; its words go to `stop_details` as well. */
class RefusalWriter implements BlockWriter {
  readonly #text: TextWriter | undefined;
  readonly #tally: Tally;

  constructor(tally: Tally, out: Out) {
    this.#tally = tally;
    this.#text = tally.texts === 0 && tally.toolCalls === 0 ? new TextWriter(tally, out) : undefined;
  }

  open(): void {}

  write(piece: string): void {
    this.#tally.refusal += piece;
    this.#text?.write(piece);
  }

  close(): void {
    this.#text?.close();
  }

  isComplete(): boolean {
    return false;
  }
}

/** Opens with its first text or its signature; ends with exactly one signature, never an empty one. */
class ReasoningWriter extends Writer implements BlockWriter {
  readonly #redacted: string | undefined;
  readonly #origin: string;
  readonly #hidden: boolean;
  #text = "";

  constructor(start: BlockStart & { type: "reasoning" }, call: Call, out: Out) {
    super(out);
    this.#redacted = start.redacted;
    this.#origin = start.origin ?? call.target?.provider.name ?? "weir";
    this.#hidden = this.#origin !== NATIVE_ORIGIN && call.request?.style.hideReasoning === true;
  }

  open(): void {
    if (this.#redacted !== undefined)
      this.start({ type: "redacted_thinking", data: sealRedacted(this.#redacted, this.#origin) });
  }

  write(piece: string): void {
    if (this.#redacted !== undefined) return;
    this.#text += piece;
    this.#begin();
    if (!this.#hidden) this.delta({ type: "thinking_delta", thinking: piece });
  }

  close(signature?: string): void {
    if (this.#redacted === undefined && (this.#text !== "" || signature)) {
      this.#begin();
      const sealed = sealSignature(this.#text, signature, this.#origin, this.#hidden);
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
  readonly #call: Call;
  readonly #tally: Tally;
  readonly #input = new ToolInputStream();
  brokenCall?: string;

  constructor(start: BlockStart & { type: "tool-call" }, call: Call, tally: Tally, out: Out) {
    super(out);
    this.#start = start;
    this.#call = call;
    this.#tally = tally;
  }

  open(): void {
    this.#tally.toolCalls++;
    const id = this.#tally.ids.take(this.#start.id);
    this.start({ type: "tool_use", id, name: this.#start.name, input: {} });
    if (this.#isCustom) this.#fragment('{"input":"');
  }

  write(piece: string): void {
    this.#fragment(this.#isCustom ? JSON.stringify(piece).slice(1, -1) : piece);
  }

  close(): void {
    if (this.#isCustom) this.#fragment('"}');
    const { rest, repair, broken } = this.#input.end();
    this.#emit(rest);
    if (repair !== undefined) this.#call.reportLoss("repaired", `content[${this.index}].input`, repair);
    if (broken) this.brokenCall = this.#start.name;
    this.stop();
  }

  override isComplete(): boolean {
    return !this.#isCustom && this.#input.isComplete;
  }

  /** A free-form tool has text for input; this format has only objects, so that it stands in the member `input`. */
  get #isCustom(): boolean {
    return this.#start.kind === "custom";
  }

  #fragment(json: string): void {
    this.#emit(this.#input.push(json));
  }

  #emit(json: string): void {
    if (json !== "") this.delta({ type: "input_json_delta", partial_json: json });
  }
}

/** A block of this very format comes whole; only the input of a call is a delta, where every client reads it from. */
class ForeignWriter extends Writer implements BlockWriter {
  readonly #value: JsonObject;

  constructor(value: JsonObject, tally: Tally, out: Out) {
    super(out);
    this.#value = value;
    if (value.type === "tool_use") tally.foreignCalls++;
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
