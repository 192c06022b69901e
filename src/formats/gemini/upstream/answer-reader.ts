/**
 * Reads the records of an answer into canonical events. A JSON answer is read as one record, so that the client's answer does
 * not depend on whether the provider streams.
 *
 * A thought signature is on the part that it belongs to. It becomes the signature of the reasoning block in front of that
 * part, which is empty if the model showed no thoughts. A signature on a last, empty part of text ends the answer as such a
 * block; if other parts follow, it becomes the encrypted content of a block, so that it is not taken for theirs.
 */
import type { CodecContext } from "../../../core/context.ts";
import type { BlockStart, ChatEvent, FinishReason, Usage } from "../../../core/events.ts";
import { mergeUsage, NO_USAGE } from "../../../core/events.ts";
import { incompleteStream } from "../../../core/incomplete.ts";
import type { Json, JsonObject } from "../../../core/json.ts";
import { isObject } from "../../../core/json.ts";
import { malformed, text } from "../../shared/read.ts";
import { decodeErrorBody } from "../../shared/upstream-error.ts";
import {
  blockedPrompt,
  decodeFinishReason,
  failedGeneration,
  isFailure,
  readFinishReason,
} from "../finish.ts";
import { FORMAT, SIGNER } from "../own-fields.ts";
import { UsageReader } from "../usage.ts";
import { CallReader } from "./calls.ts";
import { citationsOf } from "./grounding.ts";

/** The open block of text or thoughts. */
interface OpenBlock {
  kind: "text" | "reasoning";
  index: number;
  text: string;
}

export class RecordReader {
  readonly #context: CodecContext;
  readonly #calls: CallReader;
  readonly #usageReader = new UsageReader();
  #events: ChatEvent[] = [];
  #start: ChatEvent | undefined;
  #blocks = 0;
  #open: OpenBlock | undefined;
  /** The signature of an empty part of text, until it is known whether parts follow. */
  #held: string | undefined;
  #raw: string | undefined;
  #explanation: Json | undefined;
  #blocked: FinishReason | undefined;
  /** The counts so far: those of the last record that had any. */
  #usage: Partial<Usage> | undefined;

  constructor(context: CodecContext) {
    this.#context = context;
    this.#calls = new CallReader(context);
  }

  /** Reads a record. @throws GatewayError if it reports an error, or a call that the client cannot run */
  read(record: JsonObject): ChatEvent[] {
    if (record.error != null) throw decodeErrorBody(record);
    this.#start ??= this.#messageStart(record);
    const candidate = firstOf(record.candidates);
    if (candidate) this.#readCandidate(candidate);
    const { promptFeedback: feedback } = record;
    if (isObject(feedback) && typeof feedback.blockReason === "string")
      this.#blocked = blockedPrompt(feedback.blockReason, feedback.blockReasonMessage);
    this.#readUsage(record);
    return this.#flush();
  }

  /**
   * Ends the answer.
   * @param isWhole the body was one JSON answer, which is complete without a finish reason if it has content
   * @throws GatewayError if nothing says that the answer is complete
   */
  end(isWhole: boolean): ChatEvent[] {
    const reason = this.#reason(isWhole);
    this.#endCall();
    this.#closeOpen();
    if (this.#held !== undefined) this.#addBlock({ type: "reasoning", origin: SIGNER }, this.#held);
    const usage = this.#usage ? mergeUsage(NO_USAGE, { ...this.#usage, known: "final" }) : NO_USAGE;
    this.#begin();
    this.#events.push({ type: "message-end", reason, usage });
    return this.#flush();
  }

  #reason(isWhole: boolean): FinishReason {
    const toolCalls = this.#calls.count;
    const hasContent = this.#blocks > 0;
    if (this.#raw !== undefined)
      return isFailure(this.#raw)
        ? { kind: "tool-calls", raw: this.#raw }
        : decodeFinishReason(this.#raw, { toolCalls, hasContent, explanation: this.#explanation });
    if (this.#blocked) return this.#blocked;
    if (!isWhole) throw incompleteStream();
    if (!hasContent) throw malformed("an answer without candidates");
    return { kind: toolCalls > 0 ? "tool-calls" : "stop" };
  }

  #messageStart({ responseId, modelVersion }: JsonObject): ChatEvent {
    const { id, target } = this.#context;
    return { type: "message-start", id: text(responseId) || id, model: text(modelVersion) || target.model };
  }

  /** Puts `message-start` before the first block: a model that fails before it wrote anything can be asked again. */
  #begin(): void {
    if (this.#blocks > 0 || !this.#start) return;
    this.#events.push(this.#start);
  }

  #flush(): ChatEvent[] {
    const events = this.#events;
    this.#events = [];
    return events;
  }

  #readCandidate(candidate: JsonObject): void {
    const { content, groundingMetadata, finishMessage } = candidate;
    const parts = isObject(content) && Array.isArray(content.parts) ? content.parts : [];
    const raw = readFinishReason(candidate);
    if (raw !== undefined && isFailure(raw) && !this.#calls.areDeclared(parts)) throw failedGeneration(raw);
    for (const part of parts) if (isObject(part)) this.#readPart(part);
    if (groundingMetadata !== undefined) this.#cite(groundingMetadata);
    if (raw === undefined) return;
    this.#endCall();
    this.#raw = raw;
    this.#explanation = finishMessage;
  }

  #readPart(part: JsonObject): void {
    const signature = text(part.thoughtSignature) || undefined;
    if (typeof part.text === "string") this.#readText(part.text, part.thought === true, signature);
    else if (isObject(part.functionCall)) this.#readCall(part.functionCall, signature);
    else this.#readForeign(part);
  }

  #readText(delta: string, isThought: boolean, signature: string | undefined): void {
    this.#endCall();
    if (delta === "") {
      if (signature !== undefined) this.#hold(signature);
      return;
    }
    this.#releaseHeld();
    if (signature !== undefined && !isThought) this.#sign(signature);
    const kind = isThought ? "reasoning" : "text";
    const open = this.#open?.kind === kind ? this.#open : this.#openBlock(kind);
    open.text += delta;
    this.#events.push({ type: "block-delta", index: open.index, delta });
    if (signature !== undefined && isThought) this.#sign(signature);
  }

  #readCall(call: JsonObject, signature: string | undefined): void {
    if (this.#calls.grow(call)) return;
    this.#endCall();
    if (!text(call.name)) return;
    this.#releaseHeld();
    if (signature !== undefined) this.#sign(signature);
    this.#closeOpen();
    if (this.#calls.begin(call)) this.#endCall();
  }

  #endCall(): void {
    const call = this.#calls.end();
    if (!call) return;
    const index = this.#startBlock(call.block);
    this.#events.push({ type: "block-delta", index, delta: call.input }, { type: "block-end", index });
  }

  /**
   * A part that only this format has. A client of the format gets it unchanged; any other one gets it as encrypted reasoning,
   * which it sends back, because Google expects the parts of its own tools in the history.
   */
  #readForeign(part: JsonObject): void {
    this.#endCall();
    this.#releaseHeld();
    this.#closeOpen();
    const { inlineData } = part;
    if (isObject(inlineData)) return this.#addMedia(part, inlineData);
    if (this.#context.sameFormat) return this.#addBlock({ type: "foreign", format: FORMAT, value: part });
    this.#addBlock({ type: "reasoning", redacted: JSON.stringify(part), origin: SIGNER });
  }

  #addMedia(part: JsonObject, { mimeType, data }: JsonObject): void {
    const signature = text(part.thoughtSignature);
    if (signature) this.#addBlock({ type: "reasoning", origin: SIGNER }, signature);
    if (typeof mimeType === "string" && mimeType.startsWith("image/") && typeof data === "string")
      return this.#addBlock({ type: "image", mediaType: mimeType, data });
    if (!this.#context.sameFormat)
      this.#context.reportLoss(
        "dropped",
        "candidates[0].content",
        "weir passes no audio to clients of other formats",
      );
    this.#addBlock({ type: "foreign", format: FORMAT, value: part });
  }

  #cite(grounding: Json): void {
    if (this.#open?.kind !== "text") return;
    const { index, text } = this.#open;
    for (const citation of citationsOf(grounding, text))
      this.#events.push({ type: "citation", index, citation });
  }

  #readUsage(record: JsonObject): void {
    const usage = this.#usageReader.read(record, this.#raw !== undefined);
    if (!usage) return;
    this.#usage = usage;
    if (this.#blocks > 0) this.#events.push({ type: "usage", usage });
  }

  #hold(signature: string): void {
    this.#releaseHeld();
    this.#held = signature;
  }

  #releaseHeld(): void {
    if (this.#held === undefined) return;
    const redacted = this.#held;
    this.#held = undefined;
    this.#closeOpen();
    this.#addBlock({ type: "reasoning", redacted, origin: SIGNER });
  }

  /** Ends the thoughts in front of the signed part with its signature. */
  #sign(signature: string): void {
    if (this.#open?.kind === "reasoning") return this.#closeOpen(signature);
    this.#closeOpen();
    this.#addBlock({ type: "reasoning", origin: SIGNER }, signature);
  }

  #openBlock(kind: OpenBlock["kind"]): OpenBlock {
    this.#closeOpen();
    const index = this.#startBlock(
      kind === "text" ? { type: "text" } : { type: "reasoning", origin: SIGNER },
    );
    this.#open = { kind, index, text: "" };
    return this.#open;
  }

  #closeOpen(signature?: string): void {
    if (!this.#open) return;
    const { index } = this.#open;
    this.#open = undefined;
    this.#events.push({ type: "block-end", index, ...(signature !== undefined && { signature }) });
  }

  #addBlock(block: BlockStart, signature?: string): void {
    const index = this.#startBlock(block);
    this.#events.push({ type: "block-end", index, ...(signature !== undefined && { signature }) });
  }

  #startBlock(block: BlockStart): number {
    this.#begin();
    const index = this.#blocks++;
    this.#events.push({ type: "block-start", index, block });
    return index;
  }
}

/** The candidate with index 0; weir asks for no other. */
function firstOf(candidates: Json | undefined): JsonObject | undefined {
  if (!Array.isArray(candidates)) return undefined;
  for (const candidate of candidates)
    if (isObject(candidate) && (candidate.index === undefined || candidate.index === 0)) return candidate;
  return undefined;
}
