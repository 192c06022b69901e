/**
 * Encodes canonical events as events of the Messages stream. A JSON answer is assembled from the same events, so that both
 * have the same content.
 *
 * Blocks of this format never overlap; parallel tool calls in the canonical events may. weir queues the blocks: it writes
 * the first one as it grows and buffers the others.
 */
import type { CodecContext } from "../../../core/context.ts";
import type { BlockStart, ChatEvent, HostedResult, Usage } from "../../../core/events.ts";
import { NO_USAGE } from "../../../core/events.ts";
import { estimateTokens } from "../../../core/estimate.ts";
import { AnswerIds, sha256 } from "../../../core/ids.ts";
import type { JsonObject } from "../../../core/json.ts";
import { encodeStopReason } from "../finish.ts";
import { encodeTotals, encodeUsage } from "../usage.ts";
import { type AnswerState, createBlockWriter } from "./block-writers.ts";
import type { BlockWriter } from "./writer.ts";

interface QueuedBlock {
  writer: BlockWriter;
  /** Fragments that arrived before the block was first in the queue. */
  fragments: string[];
  ended: boolean;
  signature?: string;
  result?: HostedResult;
}

interface Seal {
  index: number;
  start: BlockStart & { type: "reasoning" };
  ended: boolean;
  signature?: string;
}

export class EventWriter {
  readonly #context: CodecContext;
  readonly #first: Usage | undefined;
  readonly #blocks = new Map<number, QueuedBlock>();
  #queue: QueuedBlock[] = [];
  #nextIndex = 0;
  #out: JsonObject[] = [];
  /** Reasoning behind a text that has no text itself so far. */
  #seal: Seal | undefined;
  readonly #state: AnswerState;
  /** `message-end` has come. */
  ended = false;
  /** Names of calls whose arguments are not JSON. */
  readonly brokenCalls: string[] = [];

  /** @param first the counts of an answer whose provider has not counted yet; absent: an estimate of the request */
  constructor(context: CodecContext, first?: Usage) {
    this.#context = context;
    this.#first = first;
    this.#state = {
      toolCalls: 0,
      foreignCalls: 0,
      texts: 0,
      blank: "",
      refusal: "",
      ids: new AnswerIds(context.id),
    };
  }

  /** Takes one canonical event and returns the stream events for it, without `message_stop`. */
  write(event: ChatEvent): JsonObject[] {
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
        this.#endBlock(event.index, event.signature, event.result);
        break;
      case "block-run": {
        const block = this.#blocks.get(event.index);
        // A block that waits for an earlier one is written whole when its turn comes.
        if (block && block === this.#queue[0]) block.writer.run?.();
        break;
      }
      case "message-end":
        this.#end(event);
        break;
      case "usage":
        // `message-end` has the final counts.
        break;
      case "citation":
        // Anthropic would refuse a citation of another vendor in the history.
        break;
    }
  }

  #start(id: string, model: string, usage: Usage | undefined): void {
    // The exact counts come with message_delta.
    const first = usage ?? this.#first ?? this.#estimate();
    this.#out.push({
      type: "message_start",
      message: {
        id: messageId(id || this.#context.id),
        type: "message",
        role: "assistant",
        model: this.#context.model || model,
        content: [],
        stop_reason: null,
        stop_sequence: null,
        stop_details: null,
        container: null,
        usage: encodeUsage(first),
      },
    });
  }

  #estimate(): Usage {
    const { request } = this.#context;
    return { ...NO_USAGE, input: request ? estimateTokens(request) : 1, output: 1 };
  }

  /**
   * Reasoning behind a text waits until it has a text or another block follows. Google signs an answer at its end, and
   * programs take the last block for the answer: Claude Code would print nothing.
   */
  #startBlock(index: number, start: BlockStart): void {
    this.#releaseSeal();
    if (start.type === "reasoning" && this.#state.texts > 0) this.#seal = { index, start, ended: false };
    else this.#openBlock(index, start);
  }

  #releaseSeal(): void {
    const seal = this.#seal;
    if (!seal) return;
    this.#seal = undefined;
    this.#openBlock(seal.index, seal.start);
    if (seal.ended) this.#endBlock(seal.index, seal.signature);
  }

  #openBlock(index: number, start: BlockStart): void {
    const writer = createBlockWriter(start, this.#context, this.#state, {
      emit: (event) => this.#out.push(event),
      claimIndex: () => this.#nextIndex++,
    });
    if (!writer) return;
    const block: QueuedBlock = { writer, fragments: [], ended: false };
    this.#blocks.set(index, block);
    this.#queue.push(block);
    if (this.#queue.length === 1) writer.open();
    else this.#advance();
  }

  #grow(index: number, delta: string): void {
    if (this.#seal?.index === index && delta !== "") this.#releaseSeal();
    const block = this.#blocks.get(index);
    if (!block || delta === "") return;
    if (this.#queue[0] !== block) block.fragments.push(delta);
    else {
      block.writer.write(delta);
      if (this.#queue.length > 1) this.#advance();
    }
  }

  #endBlock(index: number, signature: string | undefined, result?: HostedResult): void {
    if (this.#seal?.index === index) {
      this.#seal = { ...this.#seal, ended: true, signature };
      return;
    }
    const block = this.#blocks.get(index);
    if (!block) return;
    this.#blocks.delete(index);
    block.ended = true;
    block.signature = signature;
    block.result = result;
    this.#advance();
  }

  /**
   * Closes the first block if it has ended and opens the next one, repeatedly. A call with complete arguments is closed
   * early if another block waits, because some providers end all calls together.
   */
  #advance(): void {
    for (;;) {
      const first = this.#queue[0];
      if (!first || !(first.ended || (this.#queue.length > 1 && first.writer.isComplete()))) return;
      this.#close(first);
      this.#queue.shift();
      const next = this.#queue[0];
      if (!next) return;
      next.writer.open();
      for (const fragment of next.fragments.splice(0)) next.writer.write(fragment);
    }
  }

  #close(block: QueuedBlock): void {
    block.writer.close(block.signature, block.result);
    if (block.writer.brokenCall !== undefined) this.brokenCalls.push(block.writer.brokenCall);
    for (const [index, open] of this.#blocks) if (open === block) this.#blocks.delete(index);
  }

  #end(event: ChatEvent & { type: "message-end" }): void {
    if (this.#seal?.signature !== undefined || this.#seal?.start.redacted !== undefined)
      this.#context.reportLoss("dropped", `content[${this.#nextIndex}]`, "a signature behind the answer");
    for (const block of this.#queue) block.ended = true;
    this.#advance();
    this.ended = true;
    this.#out.push({
      type: "message_delta",
      delta: { ...encodeStopReason(event.reason, this.#state), container: null },
      usage: encodeTotals(event.usage),
    });
  }
}

/** Returns the provider's id if it is one of this format, else an id derived from it. */
function messageId(upstreamId: string): string {
  return /^msg_[a-zA-Z0-9_-]{1,60}$/.test(upstreamId) ? upstreamId : `msg_${sha256(upstreamId).slice(0, 24)}`;
}
