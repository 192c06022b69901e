/**
 * Encodes canonical events as items and the events about them. A JSON answer consists of the same items, so that both have
 * the same content.
 */
import type { Tool } from "../../../core/chat.ts";
import type { CodecContext } from "../../../core/context.ts";
import type { BlockStart, ChatEvent, FinishReason, HostedResult, Usage } from "../../../core/events.ts";
import { AnswerIds } from "../../../core/ids.ts";
import type { JsonObject } from "../../../core/json.ts";
import { encodeFinish, refusalOf, type Ending } from "../finish.ts";
import { itemId } from "../ids.ts";
import { createItemWriter, MessageWriter } from "./item-writers.ts";
import { BEGINNING, ResponseBuilder } from "./response.ts";
import type { ItemWriter, Output } from "./writer.ts";

/** Takes one event of the stream, without its sequence number. */
export type Emit = (type: string, members: JsonObject) => void;

export class EventWriter {
  readonly #context: CodecContext;
  readonly #builder: ResponseBuilder;
  readonly #emit: Emit;
  readonly #output: Output;
  /** All writers that may have an item, in the order of their blocks. */
  readonly #writers: ItemWriter[] = [];
  readonly #blocks = new Map<number, ItemWriter>();
  /** Writers whose block has ended; whether the last item is complete shows only what follows. */
  #ended: ItemWriter[] = [];
  /** Finished items by writer. */
  readonly #closed = new Map<ItemWriter, JsonObject>();
  #count = 0;
  #refused = false;
  #usage: Usage | undefined;
  #ending: Ending | undefined;
  #tools: Map<string, Tool> | undefined;

  constructor(context: CodecContext, emit: Emit) {
    this.#context = context;
    this.#builder = new ResponseBuilder(context);
    this.#emit = emit;
    this.#output = {
      emit,
      claim: (type) => {
        const index = this.#count++;
        return { index, id: itemId(type, this.#builder.id, "output", index) };
      },
      ids: new AnswerIds(context.id),
      context,
      tool: (name) => this.#tool(name),
    };
  }

  /** `message-end` has come, and all items are finished. */
  get ended(): boolean {
    return this.#ending !== undefined;
  }

  /** Takes any event but `message-end`, which {@link finish} takes. */
  write(event: Exclude<ChatEvent, { type: "message-end" }>): void {
    switch (event.type) {
      case "message-start":
        return this.begin();
      case "block-start":
        return this.#startBlock(event.index, event.block);
      case "block-delta":
        if (event.delta !== "") this.#blocks.get(event.index)?.write(event.delta, event.part ?? 0);
        return;
      case "citation":
        return this.#blocks.get(event.index)?.cite?.(event.citation);
      case "block-end":
        return this.#endBlock(event.index, event.signature, event.result);
      case "block-run":
        return this.#blocks.get(event.index)?.run?.();
      case "usage":
        // `message-end` has the final counts.
        return;
    }
  }

  /** Names of calls whose arguments are not JSON. */
  get brokenCalls(): string[] {
    return this.#ended.flatMap(({ brokenCall }) => (brokenCall === undefined ? [] : [brokenCall]));
  }

  /** Makes the arguments of these calls objects. */
  repairCalls(): void {
    for (const writer of this.#ended) if (writer.brokenCall !== undefined) writer.repair?.();
  }

  /** Finishes the items after `message-end`. */
  finish({ reason, usage }: ChatEvent & { type: "message-end" }): void {
    const ending = encodeFinish(reason);
    this.#addRefusal(reason);
    const last = this.#writers.findLast(({ index }) => index !== undefined);
    for (const writer of this.#ended) {
      const isCut = ending.status === "incomplete" && (writer === last || writer.brokenCall !== undefined);
      this.#close(writer, isCut ? "incomplete" : "completed");
    }
    this.#ended = [];
    this.#usage = usage;
    this.#ending = ending;
  }

  /** Emits the beginning of the answer. */
  begin(): void {
    const response = this.#builder.begun(this.#stores());
    for (const type of BEGINNING) this.#emit(type, { response });
  }

  /** The response object at the end. @param isStored `false`: weir could not store the answer */
  response(isStored = true): JsonObject {
    const { status, incomplete } = this.#ending!;
    const store = this.#stores() && isStored;
    return this.#builder.build({ status, incomplete, output: this.#items(), store, usage: this.#usage });
  }

  /** The response object of an answer that failed, with what has come of it. */
  failed(error: JsonObject): JsonObject {
    return this.#builder.failed(error, this.#items(), this.#usage);
  }

  #stores(): boolean {
    return this.#context.storesAnswer === true;
  }

  #startBlock(index: number, block: BlockStart): void {
    const last = this.#writers.at(-1);
    if (continues(last, block) && this.#ended.includes(last)) {
      this.#ended = this.#ended.filter((writer) => writer !== last);
      this.#closeComplete();
      last.resume();
      this.#blocks.set(index, last);
      return;
    }
    this.#closeComplete();
    if (block.type === "refusal") this.#refused = true;
    const writer = createItemWriter(block, this.#output);
    if (!writer) return;
    this.#writers.push(writer);
    this.#blocks.set(index, writer);
  }

  #endBlock(index: number, signature: string | undefined, result: HostedResult | undefined): void {
    const writer = this.#blocks.get(index);
    if (!writer) return;
    this.#blocks.delete(index);
    writer.end(signature, result);
    this.#ended.push(writer);
  }

  /** Closes the items before a new one. A call with broken arguments stays open: the client must not run it. */
  #closeComplete(): void {
    const broken = this.#ended.filter(({ brokenCall }) => brokenCall !== undefined);
    for (const writer of this.#ended) if (writer.brokenCall === undefined) this.#close(writer, "completed");
    this.#ended = broken;
  }

  #close(writer: ItemWriter, status: "completed" | "incomplete"): void {
    if (writer.index === undefined) return;
    writer.close(status);
    this.#closed.set(writer, writer.value(status));
  }

  /** A vendor may say only in the finish reason that the model refused, and why. */
  #addRefusal(reason: FinishReason): void {
    const refusal = this.#refused ? undefined : refusalOf(reason);
    if (refusal === undefined) return;
    this.#closeComplete();
    const writer = new MessageWriter(this.#output, "refusal");
    this.#writers.push(writer);
    writer.write(refusal);
    writer.end();
    this.#ended.push(writer);
  }

  #items(): JsonObject[] {
    return this.#writers
      .filter(({ index }) => index !== undefined)
      .sort((a, b) => a.index! - b.index!)
      .map((writer) => this.#closed.get(writer) ?? writer.value("incomplete"));
  }

  #tool(name: string): Tool | undefined {
    this.#tools ??= new Map(this.#context.request?.tools.map((tool) => [tool.name, tool]));
    return this.#tools.get(name);
  }
}

/** Whether the text of a block follows directly on that of the item before it. */
function continues(last: ItemWriter | undefined, block: BlockStart): last is MessageWriter {
  return (
    last instanceof MessageWriter && last.continues && block.type === "text" && block.phase === undefined
  );
}
