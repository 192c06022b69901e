/**
 * Encodes canonical events as pieces of an answer. A JSON answer is assembled from the same pieces, so that both have the same
 * content. A tool call is one piece, written when it is complete.
 */
import type { CodecContext } from "../../../core/context.ts";
import type { BlockStart, ChatEvent, FinishReason } from "../../../core/events.ts";
import { AnswerIds } from "../../../core/ids.ts";
import type { JsonObject } from "../../../core/json.ts";
import { reportHosted } from "../../shared/hosted.ts";
import { readToolInput } from "../../shared/tool-input.ts";

/** The addition of one record to the answer. */
export interface Piece {
  content?: string;
  thinking?: string;
  /** A complete call, as the format writes it. */
  call?: JsonObject;
  /** Base64. */
  image?: string;
}

interface OpenCall {
  start: BlockStart & { type: "tool-call" };
  pieces: string[];
  ended: boolean;
}

/** A call whose arguments are not JSON, with what remains of them. */
interface BrokenCall {
  name: string;
  piece: Piece;
  repair: string;
}

export class PieceWriter {
  readonly #context: CodecContext;
  readonly #ids: AnswerIds;
  /** Kinds of the open blocks, by index. */
  readonly #kinds = new Map<number, BlockStart["type"]>();
  readonly #callByIndex = new Map<number, OpenCall>();
  /** Calls in the order of their starts; pieces keep that order. */
  readonly #waiting: OpenCall[] = [];
  #calls = 0;
  #hasText = false;
  /** A citation came, and the format has no place for it. */
  #hasCitation = false;
  readonly broken: BrokenCall[] = [];

  constructor(context: CodecContext) {
    this.#context = context;
    this.#ids = new AnswerIds(context.id);
  }

  /** Takes one event and returns the pieces that it completes. */
  write(event: ChatEvent): Piece[] {
    switch (event.type) {
      case "block-start":
        return this.#start(event.index, event.block);
      case "block-delta":
        return this.#grow(event.index, event.delta);
      case "block-end":
        return this.#end(event.index);
      case "citation":
        this.#dropCitation();
        return [];
      case "message-end":
        return this.#explain(event.reason);
      default:
        return [];
    }
  }

  #start(index: number, block: BlockStart): Piece[] {
    this.#kinds.set(index, block.type);
    switch (block.type) {
      case "tool-call": {
        const call: OpenCall = { start: block, pieces: [], ended: false };
        this.#callByIndex.set(index, call);
        this.#waiting.push(call);
        return [];
      }
      case "hosted-tool":
        reportHosted(block, this.#context);
        return [];
      case "image":
        return [{ image: block.data }];
      case "text":
        return block.apart && this.#hasText ? [{ content: "\n\n" }] : [];
      default:
        return [];
    }
  }

  #grow(index: number, delta: string): Piece[] {
    if (delta === "") return [];
    switch (this.#kinds.get(index)) {
      case "text":
      case "refusal":
        this.#hasText = true;
        return [{ content: delta }];
      case "reasoning":
        return this.#hidesReasoning ? [] : [{ thinking: delta }];
      case "tool-call":
        this.#callByIndex.get(index)!.pieces.push(delta);
        return [];
      default:
        return [];
    }
  }

  get #hidesReasoning(): boolean {
    return this.#context.request?.style.hideReasoning === true;
  }

  #end(index: number): Piece[] {
    this.#kinds.delete(index);
    const call = this.#callByIndex.get(index);
    if (!call) return [];
    this.#callByIndex.delete(index);
    call.ended = true;
    const pieces: Piece[] = [];
    while (this.#waiting[0]?.ended) pieces.push(...this.#callPiece(this.#waiting.shift()!));
    return pieces;
  }

  #callPiece({ start: { id, name, kind }, pieces }: OpenCall): Piece[] {
    if (name.trim() === "") return [];
    const input = pieces.join("");
    const { value, repair, broken } =
      kind === "custom" ? { value: { input }, broken: false } : readToolInput(input);
    const called = { index: this.#calls++, name, arguments: value };
    const piece: Piece = { call: { id: this.#ids.take(id), function: called } };
    if (broken) {
      this.broken.push({ name, piece, repair: repair ?? "" });
      return [];
    }
    if (repair !== undefined) this.#context.reportLoss("repaired", `tool_calls ${name}`, repair);
    return [piece];
  }

  #dropCitation(): void {
    if (this.#hasCitation) return;
    this.#hasCitation = true;
    this.#context.reportLoss("dropped", "citations", "the format has no place for the sources of the text");
  }

  /** The vendor's explanation of a refusal stands for the text that is absent. */
  #explain({ kind, explanation }: FinishReason): Piece[] {
    const isSilent = kind === "content-filter" && !this.#hasText && this.#calls === 0;
    return isSilent && explanation ? [{ content: explanation }] : [];
  }
}
