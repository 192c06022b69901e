/**
 * Reads chunks of an answer into canonical events. A JSON answer is read as one chunk, so that the client's answer does
 * not depend on whether the provider streams.
 *
 * Blocks of text, reasoning and refusal never overlap: a change of kind closes the open block. Tool calls may overlap.
 * Within one delta the order is fixed: reasoning, content, images, refusal, calls.
 */
import type { CodecContext } from "../../../core/context.ts";
import { GatewayError } from "../../../core/error.ts";
import type { BlockStart, ChatEvent, Citation, FinishReason, Usage } from "../../../core/events.ts";
import { mergeUsage, NO_USAGE } from "../../../core/events.ts";
import { AnswerIds } from "../../../core/ids.ts";
import type { Json, JsonObject } from "../../../core/json.ts";
import { isObject } from "../../../core/json.ts";
import { decodeFinishReason, isFailure, readFinishReason } from "../finish.ts";
import { GOOGLE, packMembers } from "../reasoning.ts";
import { readUsage, settleUsage } from "../usage.ts";
import {
  type ContentPiece,
  readCitations,
  readContent,
  readImages,
  readReasoning,
  readSources,
  type ReasoningSeal,
} from "./delta.ts";
import { decodeErrorBody } from "../../shared/upstream-error.ts";
import { ThinkTags } from "./think-tags.ts";
import { isUsable, isComplete, type ReadCall, ToolCalls } from "./tool-calls.ts";

type TextKind = "text" | "reasoning" | "refusal";

export class ChunkReader {
  readonly #context: CodecContext;
  readonly #ids: AnswerIds;
  readonly #calls = new ToolCalls();
  readonly #think: ThinkTags | undefined;
  #events: ChatEvent[] = [];
  #started = false;
  #blocks = 0;
  #open: { kind: TextKind; index: number; signature?: string } | undefined;
  /** Buffered text: it arrived while a call was incomplete, or is only white space so far. */
  #buffered: { kind: TextKind; text: string }[] = [];
  readonly #images: BlockStart[] = [];
  /** Citations that wait for the text. */
  readonly #citations: Citation[] = [];
  #raw: string | undefined;
  #stopReason: Json | undefined;
  #refused = false;
  #usage: Usage = NO_USAGE;
  /** The list of sources that Perplexity repeats in its chunks. */
  #sources: Json | undefined;

  constructor(context: CodecContext) {
    this.#context = context;
    this.#ids = new AnswerIds(context.id);
    this.#think = context.target.traits.thinkTags ? new ThinkTags() : undefined;
  }

  /** Whether a finish reason has arrived; only the terminator is missing. */
  get finished(): boolean {
    return this.#raw !== undefined;
  }

  /** Whether the answer has no content so far. */
  get isEmpty(): boolean {
    return this.#blocks === 0 && this.#buffered.length === 0 && this.#images.length === 0;
  }

  /** Reads a chunk. @throws GatewayError if a choice reports a failure */
  read(chunk: JsonObject): ChatEvent[] {
    const choices = Array.isArray(chunk.choices) ? chunk.choices.filter(isObject) : [];
    if (choices.length > 0) this.#start(chunk);
    for (const [position, choice] of choices.entries()) this.#readChoice(choice, position);
    this.#readUsage(chunk);
    if (chunk.search_results !== undefined) this.#sources = chunk.search_results;
    return this.#flush();
  }

  /**
   * Ends the answer, with or without `[DONE]`.
   * @throws GatewayError if arguments of a call are not JSON and the answer did not reach the output limit
   */
  end(): ChatEvent[] {
    this.#start({});
    for (const piece of this.#think?.rest() ?? []) this.#addText(piece.kind, piece.text);
    const reason = this.#reason();
    if (
      reason.kind !== "length" &&
      !this.#calls.all.every((call) => call.block === undefined || isUsable(call))
    )
      throw new GatewayError(
        "upstream",
        "The provider ended its answer inside the arguments of a tool call.",
        {
          code: "invalid_tool_arguments",
        },
      );
    this.#closeCalls();
    this.#flushBuffered();
    this.#citeSources();
    this.#writeImages();
    this.#closeOpen();
    this.#events.push({ type: "message-end", reason, usage: settleUsage(this.#usage) });
    return this.#flush();
  }

  /** Citations that come before their text are at its end, and so are about all of it. */
  #cite(): void {
    if (this.#open?.kind !== "text") return;
    const { index } = this.#open;
    for (const citation of this.#citations.splice(0))
      this.#events.push({ type: "citation", index, citation });
  }

  #citeSources(): void {
    if (this.#open?.kind !== "text") return;
    for (const citation of readSources(this.#sources))
      this.#events.push({ type: "citation", index: this.#open.index, citation });
  }

  #reason(): FinishReason {
    const toolCalls = this.#calls.all.filter((call) => call.block !== undefined).length;
    return decodeFinishReason(this.#raw, { toolCalls, refused: this.#refused, stopReason: this.#stopReason });
  }

  #flush(): ChatEvent[] {
    const events = this.#events;
    this.#events = [];
    return events;
  }

  #start({ id, model }: JsonObject): void {
    if (this.#started) return;
    this.#started = true;
    this.#events.push({
      type: "message-start",
      id: typeof id === "string" && id !== "" ? id : this.#context.id,
      model: typeof model === "string" && model !== "" ? model : this.#context.target.model,
    });
  }

  #readUsage(chunk: JsonObject): void {
    const usage = readUsage(chunk, this.finished, this.#usage);
    if (!usage) return;
    this.#usage = mergeUsage(this.#usage, usage);
    if (this.#started) this.#events.push({ type: "usage", usage });
  }

  #readChoice(choice: JsonObject, position: number): void {
    if (choice.error != null && choice.error !== "") throw decodeErrorBody(choice);
    const raw = readFinishReason(choice);
    if (raw !== undefined && isFailure(raw))
      throw new GatewayError(
        "upstream",
        `The provider reported that generation failed (finish_reason: ${raw}).`,
        { code: "upstream_failed" },
      );
    if (choice.stop_reason != null) this.#stopReason = choice.stop_reason;
    const delta = isObject(choice.delta) ? choice.delta : choice.message;
    if (isObject(delta)) this.#readDelta(delta, typeof choice.index === "number" ? choice.index : position);
    this.#raw = raw ?? this.#raw;
  }

  #readDelta(delta: JsonObject, choice: number): void {
    const { text, seals } = readReasoning(delta);
    if (text !== "") this.#addText("reasoning", text);
    for (const seal of seals) this.#seal(seal);
    for (const piece of readContent(delta.content)) this.#addPiece(piece);
    if (delta.images !== undefined) for (const piece of readImages(delta.images)) this.#addPiece(piece);
    this.#citations.push(...readCitations(delta.annotations));
    this.#cite();
    if (typeof delta.refusal === "string" && delta.refusal !== "") this.#addText("refusal", delta.refusal);
    const items = Array.isArray(delta.tool_calls) ? delta.tool_calls.filter(isObject) : [];
    for (const item of items) this.#readCall(item, choice);
    // llama-cpp-python writes a call in both forms.
    if (items.length === 0 && isObject(delta.function_call))
      this.#readCall({ index: -1, function: delta.function_call }, choice);
  }

  #addPiece(piece: ContentPiece): void {
    if (piece.kind === "image") this.#addImage({ type: "image", ...piece.image });
    else if (piece.kind === "text" && this.#think)
      for (const part of this.#think.push(piece.text)) this.#addText(part.kind, part.text);
    else this.#addText(piece.kind, piece.text);
  }

  /** Keeps an image back while a call is incomplete, because only calls may overlap. */
  #addImage(image: BlockStart): void {
    this.#images.push(image);
    if (this.#hasIncompleteCall()) return;
    this.#closeCalls();
    this.#flushBuffered();
    this.#writeImages();
  }

  #writeImages(): void {
    for (const block of this.#images.splice(0)) {
      this.#closeOpen();
      const index = this.#blocks++;
      this.#events.push({ type: "block-start", index, block }, { type: "block-end", index });
    }
  }

  /** Buffers white space until other text follows: some servers send `\n` between calls. */
  #addText(kind: TextKind, text: string): void {
    if (text === "") return;
    if (this.#open?.kind === kind && this.#buffered.length === 0) {
      this.#events.push({ type: "block-delta", index: this.#open.index, delta: text });
      return;
    }
    this.#buffered.push({ kind, text });
    this.#writeBuffered();
  }

  /** Writes the buffered text when it is more than white space and no call is incomplete. */
  #writeBuffered(): void {
    if (!this.#buffered.some(({ text }) => /\S/.test(text)) || this.#hasIncompleteCall()) return;
    this.#closeCalls();
    this.#flushBuffered();
  }

  #hasIncompleteCall(): boolean {
    return this.#calls.all.some(
      (call) => call.block !== undefined && !call.closed && !isComplete(call.input),
    );
  }

  /** Writes the buffered text; drops blocks of only white space. */
  #flushBuffered(): void {
    const buffered = this.#buffered;
    this.#buffered = [];
    for (const { kind, text } of joinRuns(buffered)) {
      const continued = this.#open?.kind === kind;
      if (!continued && !/\S/.test(text)) continue;
      const open = continued ? this.#open! : this.#openBlock(kind);
      this.#events.push({ type: "block-delta", index: open.index, delta: text });
    }
  }

  #openBlock(kind: TextKind): { kind: TextKind; index: number; signature?: string } {
    this.#closeOpen();
    if (kind === "refusal") this.#refused = true;
    const index = this.#blocks++;
    this.#events.push({ type: "block-start", index, block: this.#blockStart(kind) });
    this.#open = { kind, index };
    return this.#open;
  }

  #blockStart(kind: TextKind): BlockStart {
    const origin = this.#context.target.provider;
    return kind === "reasoning" ? { type: "reasoning", origin } : { type: kind };
  }

  #closeOpen(): void {
    if (!this.#open) return;
    this.#cite();
    const { index, signature } = this.#open;
    this.#events.push({ type: "block-end", index, ...(signature !== undefined && { signature }) });
    this.#open = undefined;
  }

  /** A signature belongs to the open reasoning block; encrypted reasoning is a block of its own. */
  #seal({ kind, members }: ReasoningSeal): void {
    if (kind === "redacted") return this.#pushRedacted(members);
    if (this.#open?.kind !== "reasoning" && this.#hasIncompleteCall()) return;
    this.#closeCalls();
    const open = this.#open?.kind === "reasoning" ? this.#open : this.#openBlock("reasoning");
    open.signature = packMembers(members);
    this.#closeOpen();
  }

  /** Dropped between the fragments of a call, because only calls may overlap. */
  #pushRedacted(members: JsonObject): void {
    if (this.#hasIncompleteCall()) return;
    this.#closeCalls();
    this.#closeOpen();
    const origin = this.#context.target.provider;
    const index = this.#blocks++;
    const block: BlockStart = {
      type: "reasoning",
      redacted: packMembers(members),
      origin,
    };
    this.#events.push({ type: "block-start", index, block }, { type: "block-end", index });
  }

  /** Google's signature of the next call. */
  #pushSignature(signature: string): void {
    const index = this.#blocks++;
    this.#events.push(
      { type: "block-start", index, block: { type: "reasoning", origin: GOOGLE } },
      { type: "block-end", index, signature },
    );
  }

  #readCall(item: JsonObject, choice: number): void {
    const call = this.#calls.take(item, choice);
    if (call.closed || call.name === "") return;
    if (call.block === undefined) this.#openCall(call);
    if (call.passed === call.input.length) return;
    this.#events.push({ type: "block-delta", index: call.block!, delta: call.input.slice(call.passed) });
    call.passed = call.input.length;
    this.#writeBuffered();
  }

  #openCall(call: ReadCall): void {
    this.#writeBuffered();
    this.#closeOpen();
    for (const other of this.#calls.all) if (isComplete(other.input)) this.#closeCall(other);
    if (call.signature !== undefined) this.#pushSignature(call.signature);
    call.block = this.#blocks++;
    const name = this.#context.toolNames.get(call.name) ?? call.name;
    const block: BlockStart = { type: "tool-call", id: this.#ids.take(call.id), name, kind: call.kind };
    this.#events.push({ type: "block-start", index: call.block, block });
  }

  #closeCall(call: ReadCall): void {
    if (call.block === undefined || call.closed) return;
    call.closed = true;
    this.#events.push({ type: "block-end", index: call.block });
  }

  #closeCalls(): void {
    for (const call of this.#calls.all) this.#closeCall(call);
  }
}

/** Joins neighbours of the same kind. */
function joinRuns(buffered: readonly { kind: TextKind; text: string }[]): { kind: TextKind; text: string }[] {
  const runs: { kind: TextKind; text: string }[] = [];
  for (const { kind, text } of buffered) {
    const last = runs.at(-1);
    if (last?.kind === kind) last.text += text;
    else runs.push({ kind, text });
  }
  return runs;
}
