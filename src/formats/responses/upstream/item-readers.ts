/**
 * Readers for the kinds of output items. A part of an item is found by its position, never by an id: some vendors send other
 * ids with each event, and some count positions from 1.
 */
import type { BlockStart, Citation } from "../../../core/events.ts";
import type { Json, JsonObject } from "../../../core/json.ts";
import { isObject, parseJson } from "../../../core/json.ts";
import { list, number, text } from "../../shared/read.ts";
import { WrappedInput } from "../../shared/wrapped-input.ts";
import { FORMAT } from "../own-fields.ts";
import type { OrderedBlock } from "./block-order.ts";
import { ImageReader } from "./image-reader.ts";
import type { AnswerState, ItemReader } from "./reader.ts";

export function createItemReader(item: JsonObject, state: AnswerState): ItemReader {
  switch (item.type) {
    case "message":
      return new MessageReader(item, state);
    case "reasoning":
      return new ReasoningReader(state);
    case "function_call":
    case "custom_tool_call":
      return new CallReader(item, state);
    case "image_generation_call":
      return new ImageReader(state);
    default:
      return new ForeignReader(state);
  }
}

/** Text that comes in deltas and once more as a whole. */
class Passage {
  #text = "";
  readonly #pass: (delta: string) => void;

  constructor(pass: (delta: string) => void) {
    this.#pass = pass;
  }

  add(delta: string): void {
    if (delta === "") return;
    this.#text += delta;
    this.#pass(delta);
  }

  /** Passes on what the deltas lack of the whole text. */
  complete(whole: string): void {
    if (whole.length > this.#text.length && whole.startsWith(this.#text))
      this.add(whole.slice(this.#text.length));
  }

  get isEmpty(): boolean {
    return this.#text === "";
  }

  get text(): string {
    return this.#text;
  }
}

/** A text or a refusal within a message. */
class MessagePart {
  readonly passage: Passage;
  #block: OrderedBlock | undefined;
  #cited = 0;

  constructor(open: () => OrderedBlock) {
    this.passage = new Passage((delta) => (this.#block ??= open()).delta(delta));
  }

  cite(annotation: Json | undefined): void {
    this.#cited++;
    const citation = citationOf(annotation);
    if (citation) this.#block?.cite(citation);
  }

  settle(part: JsonObject): void {
    this.passage.complete(text(part.text) ?? text(part.refusal) ?? "");
    for (const annotation of list(part.annotations).slice(this.#cited)) this.cite(annotation);
    this.end();
  }

  end(): void {
    this.#block?.end();
  }
}

class MessageReader implements ItemReader {
  readonly #state: AnswerState;
  readonly #phase: string | undefined;
  /** By the provider's index, in the order of their first event. */
  readonly #parts = new Map<number, MessagePart>();
  /** An earlier message of the answer has text. */
  readonly #isLater: boolean;
  #hasText = false;

  constructor(item: JsonObject, state: AnswerState) {
    this.#state = state;
    this.#phase = text(item.phase);
    this.#isLater = state.hasText;
  }

  take(event: JsonObject): void {
    switch (event.type) {
      case "response.output_text.delta":
        return this.#part(event, false).passage.add(text(event.delta) ?? "");
      case "response.refusal.delta":
        return this.#part(event, true).passage.add(text(event.delta) ?? "");
      case "response.output_text.done":
        return this.#part(event, false).passage.complete(text(event.text) ?? "");
      case "response.refusal.done":
        return this.#part(event, true).passage.complete(text(event.refusal) ?? "");
      case "response.output_text.annotation.added":
        return this.#part(event, false).cite(event.annotation);
      case "response.content_part.done":
        return this.#parts.get(indexIn(event))?.end();
    }
  }

  settle(item: JsonObject): void {
    const known = [...this.#parts.values()];
    for (const [index, part] of list(item.content).filter(isPart).entries())
      (known[index] ?? this.#open(part.type === "refusal")).settle(part);
    this.end();
  }

  end(): void {
    for (const part of this.#parts.values()) part.end();
  }

  #part(event: JsonObject, isRefusal: boolean): MessagePart {
    const index = indexIn(event);
    const part = this.#parts.get(index) ?? this.#open(isRefusal);
    this.#parts.set(index, part);
    return part;
  }

  #open(isRefusal: boolean): MessagePart {
    return new MessagePart(() => {
      if (isRefusal) this.#state.hasRefused = true;
      return this.#state.blocks.open(isRefusal ? { type: "refusal" } : this.#textStart());
    });
  }

  #textStart(): BlockStart {
    const isApart = this.#isLater && !this.#hasText;
    this.#hasText = this.#state.hasText = true;
    return {
      type: "text",
      ...(this.#phase !== undefined && { phase: this.#phase }),
      ...(isApart && { apart: true }),
    };
  }
}

function isPart(value: Json): value is JsonObject {
  return isObject(value) && (value.type === "output_text" || value.type === "refusal");
}

function indexIn(event: JsonObject): number {
  return number(event.content_index) ?? number(event.summary_index) ?? 0;
}

function citationOf(annotation: Json | undefined): Citation | undefined {
  if (!isObject(annotation) || annotation.type !== "url_citation" || typeof annotation.url !== "string")
    return undefined;
  return { url: annotation.url, ...(typeof annotation.title === "string" && { title: annotation.title }) };
}

/** The kind of the deltas of reasoning: a summary, or the reasoning itself. Of an item with both, weir reads what comes first. */
type ReasoningKind = "summary" | "content";

class ReasoningReader implements ItemReader {
  readonly #state: AnswerState;
  #kind: ReasoningKind | undefined;
  #block: OrderedBlock | undefined;
  /** By the provider's index, in the order of their first event. */
  readonly #parts = new Map<number, Passage>();
  #written = 0;

  constructor(state: AnswerState) {
    this.#state = state;
  }

  take(event: JsonObject): void {
    switch (event.type) {
      case "response.reasoning_summary_text.delta":
        return this.#part("summary", indexIn(event))?.add(text(event.delta) ?? "");
      case "response.reasoning_text.delta":
        return this.#part("content", indexIn(event))?.add(text(event.delta) ?? "");
      case "response.reasoning_summary_text.done":
        return this.#part("summary", indexIn(event))?.complete(text(event.text) ?? "");
      case "response.reasoning_text.done":
        return this.#part("content", indexIn(event))?.complete(text(event.text) ?? "");
    }
  }

  settle(item: JsonObject): void {
    this.#complete("summary", item.summary);
    this.#complete("content", item.content);
    const signature = text(item.encrypted_content) || undefined;
    if (signature !== undefined) this.#open();
    this.#block?.end(signature);
  }

  end(): void {
    this.#block?.end();
  }

  #complete(kind: ReasoningKind, value: Json | undefined): void {
    const known = [...this.#parts.keys()];
    for (const [position, part] of list(value).filter(isObject).entries()) {
      const whole = text(part.text) ?? "";
      if (whole !== "") this.#part(kind, known[position] ?? position)?.complete(whole);
    }
  }

  #part(kind: ReasoningKind, index: number): Passage | undefined {
    this.#kind ??= kind;
    if (kind !== this.#kind) return undefined;
    let part = this.#parts.get(index);
    if (part) return part;
    let position: number | undefined;
    part = new Passage((delta) => {
      const isFirst = position === undefined;
      position ??= this.#written++;
      this.#open().delta(isFirst && position > 0 ? `\n\n${delta}` : delta, position);
    });
    this.#parts.set(index, part);
    return part;
  }

  #open(): OrderedBlock {
    const origin = this.#state.context.target.provider;
    return (this.#block ??= this.#state.blocks.open({ type: "reasoning", origin }));
  }
}

class CallReader implements ItemReader {
  readonly #state: AnswerState;
  readonly #input: Passage;
  /** Unwraps the text of a custom tool that the provider got as a function. */
  #wrapped: WrappedInput | undefined;
  #item: JsonObject;
  #block: OrderedBlock | undefined;

  constructor(item: JsonObject, state: AnswerState) {
    this.#state = state;
    this.#item = item;
    this.#input = new Passage((delta) => this.#write(delta));
    this.#open();
  }

  take(event: JsonObject): void {
    switch (event.type) {
      case "response.function_call_arguments.delta":
      case "response.custom_tool_call_input.delta":
        return this.#input.add(text(event.delta) ?? "");
      case "response.function_call_arguments.done":
        return this.#input.complete(text(event.arguments) ?? "");
      case "response.custom_tool_call_input.done":
        return this.#input.complete(text(event.input) ?? "");
    }
  }

  settle(item: JsonObject): void {
    this.#item = { ...this.#item, ...item };
    this.#open();
    this.#input.complete(text(item.arguments) ?? text(item.input) ?? "");
    this.end();
  }

  end(): void {
    if (!this.#block || this.#block.hasEnded) return;
    const { name } = this.#item;
    if (this.#item.type === "function_call" && !isUsable(this.#input.text))
      this.#state.brokenCall ??= text(name);
    this.#block.delta(this.#wrapped?.end() ?? "");
    this.#block.end();
  }

  /** Opens the block once the name is known, with what came before. */
  #open(): void {
    if (this.#block) return;
    const sent = nameOf(this.#item);
    if (sent === undefined) return;
    const { context, blocks } = this.#state;
    const name = context.toolNames.get(sent) ?? sent;
    const isFunction = this.#item.type === "function_call";
    const isWrapped =
      isFunction &&
      context.request?.tools.some((tool) => tool.kind === "custom" && tool.name === name) === true;
    if (isWrapped) this.#wrapped = new WrappedInput();
    this.#state.toolCalls++;
    this.#block = blocks.open({
      type: "tool-call",
      id: this.#state.callId(text(this.#item.call_id) || text(this.#item.id)),
      name,
      kind: isFunction && !isWrapped ? "function" : "custom",
    });
    if (!this.#input.isEmpty) this.#write(this.#input.text);
  }

  #write(delta: string): void {
    this.#block?.delta(this.#wrapped ? this.#wrapped.push(delta) : delta);
  }
}

/** The name of a called tool; that of a tool in a namespace begins with the namespace. */
function nameOf({ name, namespace }: JsonObject): string | undefined {
  if (typeof name !== "string" || name.trim() === "") return undefined;
  return typeof namespace === "string" && namespace !== "" ? `${namespace}__${name}` : name.trim();
}

function isUsable(input: string): boolean {
  return input.trim() === "" || parseJson(input) !== undefined;
}

/** An item that only this format knows. Clients of other formats do not get it. */
class ForeignReader implements ItemReader {
  readonly #state: AnswerState;
  #isSettled = false;

  constructor(state: AnswerState) {
    this.#state = state;
  }

  take(): void {}

  settle(item: JsonObject): void {
    if (this.#isSettled || !this.#state.context.sameFormat) return;
    this.#isSettled = true;
    this.#state.blocks.open({ type: "foreign", format: FORMAT, value: item }).end();
  }

  end(): void {}
}
