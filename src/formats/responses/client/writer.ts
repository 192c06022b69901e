/** Parts that the writers of all items share. */
import type { Tool } from "../../../core/chat.ts";
import type { CodecContext } from "../../../core/context.ts";
import type { Citation, HostedResult } from "../../../core/events.ts";
import type { AnswerIds } from "../../../core/ids.ts";
import type { JsonObject } from "../../../core/json.ts";

export type Status = "in_progress" | "completed" | "incomplete";

/** The answer that the items belong to. */
export interface Output {
  emit(type: string, members: JsonObject): void;
  /** Takes the next place in the answer. @param type of the item */
  claim(type: string): Place;
  readonly ids: AnswerIds;
  readonly context: CodecContext;
  /** The tool of the request with this name. */
  tool(name: string): Tool | undefined;
}

interface Place {
  index: number;
  id: string;
}

/**
 * Writes one item. weir calls `write` for each fragment, `end` when the block ends, and `close` when it knows whether the item
 * is complete.
 */
export interface ItemWriter {
  /** Index in the output; `undefined` before the first content. An item without content has none. */
  readonly index: number | undefined;
  write(fragment: string, part: number): void;
  cite?(citation: Citation): void;
  end(signature: string | undefined, result?: HostedResult): void;
  /** The arguments of a hosted tool are complete. */
  run?(): void;
  close(status: Status): void;
  /** The item as far as it has been written. */
  value(status: Status): JsonObject;
  /** Name of a tool whose arguments are not JSON. */
  readonly brokenCall?: string;
  /** Makes arguments that are not JSON an object, for an answer that the client has not seen yet. */
  repair?(): void;
}

export abstract class Writer {
  readonly output: Output;
  #place: Place | undefined;

  constructor(output: Output) {
    this.output = output;
  }

  get index(): number | undefined {
    return this.#place?.index;
  }

  get id(): string {
    return this.#place?.id ?? "";
  }

  abstract value(status: Status): JsonObject;

  /** Takes a place and announces the item. */
  open(type: string): void {
    this.#place = this.output.claim(type);
    this.output.emit("response.output_item.added", {
      output_index: this.index!,
      item: this.value("in_progress"),
    });
  }

  /** Emits an event of the item. */
  emit(type: string, members: JsonObject): void {
    this.output.emit(type, { item_id: this.id, output_index: this.index!, ...members });
  }

  done(status: Status): void {
    this.output.emit("response.output_item.done", { output_index: this.index!, item: this.value(status) });
  }
}
