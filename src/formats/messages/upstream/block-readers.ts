/** Readers for the kinds of blocks of a Messages stream. */
import type { CodecContext } from "../../../core/context.ts";
import type { BlockStart, ChatEvent } from "../../../core/events.ts";
import type { JsonObject } from "../../../core/json.ts";
import { isObject } from "../../../core/json.ts";
import { malformed, text } from "../../shared/read.ts";
import { readToolInput } from "../../shared/tool-input.ts";
import { WrappedInput } from "../../shared/wrapped-input.ts";
import { factsFor, modelFacts } from "../models.ts";
import { isAnswerTool } from "../../shared/answer-tool.ts";
import { ANSWER_SHAPES } from "./answer-format.ts";
import { FORMAT } from "../own-fields.ts";
import { reasoningOrigin } from "./content.ts";

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

/** @param value the block in its start event: empty in a stream, complete in a JSON answer */
export function createBlockReader(value: JsonObject, context: CodecContext, emit: Emit): BlockReader {
  switch (value.type) {
    case "text":
      return new TextReader(value, emit);
    case "thinking":
    case "redacted_thinking":
      return new ReasoningReader(value, context, emit);
    case "tool_use":
      return isProgrammatic(value) ? new ForeignReader(value, emit) : createToolReader(value, context, emit);
    default:
      return new ForeignReader(value, emit);
  }
}

/** Whether the vendor's code execution made a call; only a client of this format can request that. */
export function isProgrammatic({ type, caller }: JsonObject): boolean {
  return type === "tool_use" && isObject(caller) && caller.type !== "direct";
}

/** Returns the text of a delta of the expected type; empty for unknown types. */
function fragmentOf(delta: JsonObject, type: string, field: string): string {
  if (delta.type === type) return typeof delta[field] === "string" ? delta[field] : "";
  if (KNOWN_DELTAS.has(String(delta.type)))
    throw malformed(`${String(delta.type)} in a block of another kind`);
  return "";
}

const KNOWN_DELTAS = new Set(["text_delta", "thinking_delta", "input_json_delta"]);

class Reader {
  readonly emit: Emit;
  readonly index: number;

  constructor(block: BlockStart, emit: Emit) {
    this.emit = emit;
    this.index = emit.start(block);
  }

  fragment(delta: string): void {
    if (delta !== "") this.emit.push({ type: "block-delta", index: this.index, delta });
  }

  end(): void {
    this.emit.push({ type: "block-end", index: this.index });
  }
}

class TextReader extends Reader implements BlockReader {
  constructor(value: JsonObject, emit: Emit) {
    super({ type: "text" }, emit);
    this.fragment(text(value.text) ?? "");
    if (Array.isArray(value.citations)) for (const citation of value.citations) this.#cite(citation);
  }

  grow(delta: JsonObject): void {
    if (delta.type === "citations_delta") this.#cite(delta.citation);
    else this.fragment(fragmentOf(delta, "text_delta", "text"));
  }

  /** Only citations of web search results have a URL that other formats can use. */
  #cite(citation: unknown): void {
    if (
      !isObject(citation) ||
      citation.type !== "web_search_result_location" ||
      typeof citation.url !== "string"
    )
      return;
    this.emit.push({
      type: "citation",
      index: this.index,
      citation: {
        url: citation.url,
        ...(typeof citation.title === "string" && { title: citation.title }),
        ...(typeof citation.cited_text === "string" && { text: citation.cited_text }),
      },
    });
  }
}

class ReasoningReader extends Reader implements BlockReader {
  /** Of several signatures the last one counts, as in the SDK of Anthropic. */
  #signature: string;

  constructor(value: JsonObject, context: CodecContext, emit: Emit) {
    const origin = reasoningOrigin(context.target.provider, modelFacts(context.target.model));
    const redacted = value.type === "redacted_thinking" ? { redacted: text(value.data) ?? "" } : {};
    super({ type: "reasoning", ...redacted, origin }, emit);
    this.#signature = text(value.signature) ?? "";
    this.fragment(text(value.thinking) ?? "");
  }

  grow(delta: JsonObject): void {
    if (delta.type === "signature_delta") this.#signature = text(delta.signature) || this.#signature;
    else this.fragment(fragmentOf(delta, "thinking_delta", "thinking"));
  }

  override end(): void {
    const signature = this.#signature === "" ? {} : { signature: this.#signature };
    this.emit.push({ type: "block-end", index: this.index, ...signature });
  }
}

function createToolReader(value: JsonObject, context: CodecContext, emit: Emit): BlockReader {
  const sent = text(value.name) ?? "";
  if (sent === "") throw malformed("a tool call without a name");
  if (isAnswerTool(sent, context, factsFor(context.target), ANSWER_SHAPES))
    return new ToolReader({ type: "text" }, value, emit);
  const name = context.toolNames.get(sent) ?? sent;
  const custom = context.request?.tools.some((tool) => tool.kind === "custom" && tool.name === name) === true;
  const start: BlockStart = {
    type: "tool-call",
    id: emit.callId(text(value.id) ?? ""),
    name,
    kind: custom ? "custom" : "function",
  };
  return custom ? new CustomToolReader(start, value, emit) : new ToolReader(start, value, emit);
}

export class ToolReader extends Reader implements BlockReader {
  /** Some hosts send the whole input in the start event; it counts only if no deltas follow. */
  readonly #whole: string;
  #grown = false;

  constructor(start: BlockStart, value: JsonObject, emit: Emit) {
    super(start, emit);
    const { input } = value;
    const isEmpty = input == null || (isObject(input) && Object.keys(input).length === 0);
    this.#whole = isEmpty ? "" : JSON.stringify(input);
  }

  grow(delta: JsonObject): void {
    const fragment = fragmentOf(delta, "input_json_delta", "partial_json");
    if (fragment === "") return;
    this.#grown = true;
    this.input(fragment);
  }

  override end(): void {
    if (!this.#grown && this.#whole !== "") this.input(this.#whole);
    this.finish();
    super.end();
  }

  /** Writes buffered text before the end. */
  finish(): void {}

  /** Takes a fragment of the input. */
  input(fragment: string): void {
    this.fragment(fragment);
  }
}

/** Unwraps the text of a custom tool, which is sent in an object. */
class CustomToolReader extends ToolReader {
  readonly #text = new WrappedInput();

  override input(fragment: string): void {
    this.fragment(this.#text.push(fragment));
  }

  override finish(): void {
    this.fragment(this.#text.end());
  }
}

/** Collects a block that only this format knows and passes it on in one event. */
class ForeignReader implements BlockReader {
  readonly #value: JsonObject;
  readonly #emit: Emit;
  #input = "";

  constructor(value: JsonObject, emit: Emit) {
    this.#value = { ...value };
    this.#emit = emit;
  }

  grow(delta: JsonObject): void {
    if (delta.type === "input_json_delta") this.#input += text(delta.partial_json) ?? "";
    else if (delta.type === "compaction_delta") this.#value.content = delta.content;
  }

  end(): void {
    if (this.#input !== "") this.#value.input = readToolInput(this.#input).value;
    const index = this.#emit.start({ type: "foreign", format: FORMAT, value: this.#value });
    this.#emit.push({ type: "block-end", index });
  }
}
