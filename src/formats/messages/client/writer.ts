/**
 * Canonical events → events of the Messages stream, of which a JSON answer is the sum: one renderer for both, so that they
 * cannot differ.
 *
 * The format never interleaves blocks, the canonical events may (parallel tool calls). So blocks stand in a queue: the
 * first is live and written as it grows, the others gather until it is done.
 */
import type { Call } from "../../../core/call.ts";
import type { BlockStart, ChatEvent, Usage } from "../../../core/events.ts";
import { mergeUsage, NO_USAGE } from "../../../core/events.ts";
import { estimateTokens } from "../../../core/estimate.ts";
import { AnswerIds, sha256 } from "../../../core/ids.ts";
import type { JsonObject } from "../../../core/json.ts";
import { encodeStopReason } from "../finish.ts";
import { encodeTotals, encodeUsage } from "../usage.ts";
import type { BlockWriter, Tally } from "./block-writers.ts";
import { createBlockWriter } from "./block-writers.ts";

interface QueuedBlock {
  writer: BlockWriter;
  /** Pieces that came while another block was live. */
  pieces: string[];
  ended: boolean;
  signature?: string;
}

export class AnswerWriter {
  readonly #call: Call;
  readonly #blocks = new Map<number, QueuedBlock>();
  #queue: QueuedBlock[] = [];
  #nextIndex = 0;
  #out: JsonObject[] = [];
  #usage: Usage = NO_USAGE;
  readonly #written: Tally;
  /** The answer has ended; what comes after counts for nothing. */
  ended = false;
  /** Names of calls whose arguments are not JSON. */
  readonly brokenCalls: string[] = [];

  constructor(call: Call) {
    this.#call = call;
    this.#written = {
      toolCalls: 0,
      foreignCalls: 0,
      texts: 0,
      blank: "",
      refusal: "",
      ids: new AnswerIds(call.id),
    };
  }

  /** Takes one event; gives the stream events it leads to. */
  push(event: ChatEvent): JsonObject[] {
    if (this.ended) return [];
    this.#take(event);
    const out = this.#out;
    this.#out = [];
    return out;
  }

  #take(event: ChatEvent): void {
    switch (event.type) {
      case "message-start":
        this.#start(event.id, event.model, event.usage);
        break;
      case "block-start":
        this.#startBlock(event.index, event.block);
        break;
      case "block-delta":
        this.#grow(event.index, event.delta);
        break;
      case "block-end":
        this.#endBlock(event.index, event.signature);
        break;
      case "usage":
        this.#usage = mergeUsage(this.#usage, event.usage);
        break;
      case "message-end":
        this.#end(event);
        break;
      case "citation":
        // Only its own vendor can make a citation that it takes back in the next turn.
        break;
    }
  }

  #start(id: string, model: string, usage: Usage | undefined): void {
    this.#usage = usage ?? NO_USAGE;
    const { request } = this.#call;
    // A first guess for the head of the stream; the counts come with its end.
    const first = usage ?? { ...NO_USAGE, input: request ? estimateTokens(request) : 1, output: 1 };
    this.#out.push({
      type: "message_start",
      message: {
        id: messageId(id || this.#call.id),
        type: "message",
        role: "assistant",
        model: this.#call.model || model,
        content: [],
        stop_reason: null,
        stop_sequence: null,
        stop_details: null,
        container: null,
        usage: encodeUsage(first),
      },
    });
  }

  #startBlock(index: number, start: BlockStart): void {
    const writer = createBlockWriter(start, this.#call, this.#written, {
      emit: (event) => this.#out.push(event),
      claimIndex: () => this.#nextIndex++,
    });
    if (!writer) return;
    const block: QueuedBlock = { writer, pieces: [], ended: false };
    this.#blocks.set(index, block);
    this.#queue.push(block);
    if (this.#queue.length === 1) writer.open();
    else this.#advance();
  }

  #grow(index: number, delta: string): void {
    const block = this.#blocks.get(index);
    if (!block || delta === "") return;
    if (this.#queue[0] !== block) block.pieces.push(delta);
    else {
      block.writer.write(delta);
      if (this.#queue.length > 1) this.#advance();
    }
  }

  #endBlock(index: number, signature: string | undefined): void {
    const block = this.#blocks.get(index);
    if (!block) return;
    this.#blocks.delete(index);
    block.ended = true;
    block.signature = signature;
    this.#advance();
  }

  /**
   * Closes the live block when it is done and makes the next one live, as long as there is one. A call whose arguments are
   * whole is done when another block waits, though its end has not come: some upstreams end all calls together.
   */
  #advance(): void {
    for (;;) {
      const live = this.#queue[0];
      if (!live || !(live.ended || (this.#queue.length > 1 && live.writer.isComplete()))) return;
      this.#close(live);
      this.#queue.shift();
      const next = this.#queue[0];
      if (!next) return;
      next.writer.open();
      for (const piece of next.pieces.splice(0)) next.writer.write(piece);
    }
  }

  #close(block: QueuedBlock): void {
    block.writer.close(block.signature);
    if (block.writer.brokenCall !== undefined) this.brokenCalls.push(block.writer.brokenCall);
    for (const [index, open] of this.#blocks) if (open === block) this.#blocks.delete(index);
  }

  #end(event: ChatEvent & { type: "message-end" }): void {
    for (const block of this.#queue) block.ended = true;
    this.#advance();
    this.ended = true;
    this.#usage = event.usage;
    this.#out.push(
      {
        type: "message_delta",
        delta: { ...encodeStopReason(event.reason, this.#written), container: null },
        usage: encodeTotals(this.#usage),
      },
      { type: "message_stop" },
    );
  }
}

/** The upstream's own id when it is one of this format, else one derived from it. */
function messageId(upstreamId: string): string {
  return /^msg_[a-zA-Z0-9_-]{1,60}$/.test(upstreamId) ? upstreamId : `msg_${sha256(upstreamId).slice(0, 24)}`;
}
