/** Readers for the kinds of blocks of an answer. */
import type { CodecContext } from "../../../core/context.ts";
import type { BlockStart, ChatEvent, Citation } from "../../../core/events.ts";
import type { JsonObject } from "../../../core/json.ts";
import { isObject } from "../../../core/json.ts";
import { list, malformed, text } from "../../shared/read.ts";
import { readToolInput } from "../../shared/tool-input.ts";
import { WrappedInput } from "../../shared/wrapped-input.ts";
import { type ModelFacts, modelFacts } from "../models.ts";
import { FORMAT } from "./context.ts";
import { decodeRedacted, reasoningOrigin } from "../reasoning.ts";
import { isAnswerTool } from "../../shared/answer-tool.ts";
import { ANSWER_SHAPES } from "./answer-format.ts";

/** Reads one block: `grow` takes a delta, `end` is called once. */
export interface BlockReader {
  grow(delta: JsonObject): void;
  end(): void;
}

export interface Emit {
  /** Starts a canonical block and returns its index. */
  start(block: BlockStart): number;
  /** Returns a unique id for a call. */
  callId(id: string): string;
  push(event: ChatEvent): void;
}

export class TextReader {
  readonly #emit: Emit;
  readonly #index: number;

  constructor(emit: Emit) {
    this.#emit = emit;
    this.#index = emit.start({ type: "text" });
  }

  grow(delta: string): void {
    this.#emit.push({ type: "block-delta", index: this.#index, delta });
  }

  cite({ url, title }: Citation): void {
    const citation = { url, ...(title !== undefined && { title }) };
    this.#emit.push({ type: "citation", index: this.#index, citation });
  }

  end(): void {
    this.#emit.push({ type: "block-end", index: this.#index });
  }
}

/** Reads text with a signature, or encrypted reasoning: the block starts when the first part shows which of both it is. */
export class ReasoningReader {
  readonly #facts: ModelFacts;
  readonly #origin: string;
  readonly #emit: Emit;
  #index: number | undefined;
  #signature = "";
  readonly #redacted: string[] = [];

  constructor({ target }: CodecContext, emit: Emit) {
    this.#facts = modelFacts(target.model);
    this.#origin = reasoningOrigin(target.provider, this.#facts);
    this.#emit = emit;
  }

  grow({ text: piece, signature, redactedContent }: JsonObject): void {
    if (typeof piece === "string" && piece !== "")
      this.#emit.push({ type: "block-delta", index: this.#start(), delta: piece });
    if (typeof signature === "string") this.#signature += signature;
    if (typeof redactedContent === "string") this.#redacted.push(redactedContent);
  }

  end(): void {
    const signature = this.#signature;
    if (signature !== "") this.#start();
    if (this.#index !== undefined)
      this.#emit.push({ type: "block-end", index: this.#index, ...(signature !== "" && { signature }) });
    if (this.#redacted.length > 0) this.#pushRedacted(decodeRedacted(this.#redacted, this.#facts));
  }

  #start(): number {
    return (this.#index ??= this.#emit.start({ type: "reasoning", origin: this.#origin }));
  }

  #pushRedacted(redacted: string): void {
    const index = this.#emit.start({ type: "reasoning", redacted, origin: this.#origin });
    this.#emit.push({ type: "block-end", index });
  }
}

/** @param call `toolUse` of the start event */
export function createCallReader(call: JsonObject, context: CodecContext, emit: Emit): BlockReader {
  const sent = text(call.name) ?? "";
  if (sent === "") throw malformed("a tool call without a name");
  if (isAnswerTool(sent, context, modelFacts(context.target.model), ANSWER_SHAPES))
    return new CallReader({ type: "text" }, emit);
  const name = context.toolNames.get(sent) ?? sent;
  const isCustom =
    context.request?.tools.some((tool) => tool.kind === "custom" && tool.name === name) === true;
  const id = emit.callId(text(call.toolUseId) ?? "");
  const start: BlockStart = { type: "tool-call", id, name, kind: isCustom ? "custom" : "function" };
  return isCustom ? new CustomCallReader(start, emit) : new CallReader(start, emit);
}

class CallReader implements BlockReader {
  readonly #emit: Emit;
  readonly #index: number;

  constructor(start: BlockStart, emit: Emit) {
    this.#emit = emit;
    this.#index = emit.start(start);
  }

  grow({ toolUse }: JsonObject): void {
    const input = isObject(toolUse) ? text(toolUse.input) : undefined;
    if (input) this.push(input);
  }

  end(): void {
    this.#emit.push({ type: "block-end", index: this.#index });
  }

  push(delta: string): void {
    if (delta !== "") this.#emit.push({ type: "block-delta", index: this.#index, delta });
  }
}

/** Unwraps the text of a custom tool, which is sent in an object. */
class CustomCallReader extends CallReader {
  readonly #text = new WrappedInput();

  override push(delta: string): void {
    super.push(this.#text.push(delta));
  }

  override end(): void {
    super.push(this.#text.end());
    super.end();
  }
}

/**
 * Collects a block that only this format knows, such as a call of a tool that the provider runs itself and the result of that
 * call, and passes it on in one event.
 */
export class ForeignReader implements BlockReader {
  readonly #value: JsonObject;
  readonly #emit: Emit;
  #input = "";

  constructor(start: JsonObject, emit: Emit) {
    this.#value = structuredClone(start);
    this.#emit = emit;
  }

  grow({ toolUse, toolResult }: JsonObject): void {
    if (isObject(toolUse)) this.#input += text(toolUse.input) ?? "";
    const result = this.#value.toolResult;
    if (isObject(result) && toolResult !== undefined)
      result.content = [...list(result.content), ...list(toolResult)];
  }

  end(): void {
    const call = this.#value.toolUse;
    if (isObject(call) && this.#input !== "") call.input = readToolInput(this.#input).value;
    const index = this.#emit.start({ type: "foreign", format: FORMAT, value: this.#value });
    this.#emit.push({ type: "block-end", index });
  }
}
