/** Parts that the writers of all blocks share. */
import type { HostedResult } from "../../../core/events.ts";
import type { JsonObject } from "../../../core/json.ts";

/** Writes one block: `open` is called when its turn comes, then `write` for each fragment, then `close` once. */
export interface BlockWriter {
  open(): void;
  write(fragment: string): void;
  close(signature?: string, result?: HostedResult): void;
  /** The arguments of a hosted tool are complete. */
  run?(): void;
  /** Whether the block is complete before its end: the arguments of a call are one JSON object. */
  isComplete(): boolean;
  /** Name of a closed tool call whose arguments are not JSON. */
  brokenCall?: string;
}

/** Output of a writer; it claims an index when it writes the first event of its block. */
export interface Out {
  emit(event: JsonObject): void;
  claimIndex(): number;
}

export abstract class Writer {
  readonly out: Out;
  #index = -1;

  constructor(out: Out) {
    this.out = out;
  }

  get opened(): boolean {
    return this.#index >= 0;
  }

  /** Index of the block in the answer; -1 until it is open. */
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
