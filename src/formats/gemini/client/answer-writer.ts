/**
 * Encodes canonical events as parts of an answer. A JSON answer is assembled from the same parts, so that both have the same
 * content. A tool call is one part, written when it is complete.
 */
import type { CodecContext } from "../../../core/context.ts";
import type { BlockStart, ChatEvent, Citation } from "../../../core/events.ts";
import { AnswerIds } from "../../../core/ids.ts";
import type { JsonObject } from "../../../core/json.ts";
import { isObject } from "../../../core/json.ts";
import { reportHosted } from "../../shared/hosted.ts";
import { readToolInput } from "../../shared/tool-input.ts";
import { FORMAT, SIGNER } from "../own-fields.ts";
import { encodeSignature, encryptedPart } from "../reasoning.ts";
import { Grounding } from "./grounding.ts";

interface OpenBlock {
  start: BlockStart;
  /** Pieces of reasoning or arguments. */
  pieces: string[];
}

/** A call that has ended, or that waits for one before it. */
interface Call extends OpenBlock {
  start: BlockStart & { type: "tool-call" };
  ended: boolean;
}

export class PartWriter {
  readonly #context: CodecContext;
  readonly #ids: AnswerIds;
  readonly #open = new Map<number, OpenBlock>();
  /** Calls in the order of their starts; parts keep that order. */
  #calls: Call[] = [];
  #out: JsonObject[] = [];
  /** The signature of the next part. */
  #signature: string | undefined;
  readonly grounding = new Grounding();
  /** Text of refusal blocks. */
  refusal = "";
  /** Calls whose arguments are not JSON, with what remains of them. */
  readonly broken: { name: string; part: JsonObject; repair: string }[] = [];

  constructor(context: CodecContext) {
    this.#context = context;
    this.#ids = new AnswerIds(context.id);
  }

  /** Takes one event and returns the parts that it completes. */
  write(event: ChatEvent): JsonObject[] {
    switch (event.type) {
      case "block-start":
        this.#start(event.index, event.block);
        break;
      case "block-delta":
        this.#grow(event.index, event.delta);
        break;
      case "block-end":
        this.#end(event.index, event.signature);
        break;
      case "citation":
        this.#cite(event.citation);
        break;
    }
    const out = this.#out;
    if (out.length > 0) this.#out = [];
    return out;
  }

  /** The part of the last record: empty text, which has the signature that no other part has taken. */
  last(): JsonObject {
    return this.#signed({ text: "" });
  }

  #start(index: number, start: BlockStart): void {
    switch (start.type) {
      case "tool-call": {
        const call: Call = { start, pieces: [], ended: false };
        this.#open.set(index, call);
        this.#calls.push(call);
        break;
      }
      case "image":
        this.#push({ inlineData: { mimeType: start.mediaType, data: start.data } });
        break;
      case "hosted-tool":
        reportHosted(start, this.#context);
        break;
      case "foreign":
        if (start.format === FORMAT && isObject(start.value)) this.#push(start.value);
        break;
      default:
        this.#open.set(index, { start, pieces: [] });
    }
  }

  #grow(index: number, delta: string): void {
    const block = this.#open.get(index);
    if (!block || delta === "") return;
    switch (block.start.type) {
      case "text":
        this.grounding.add(delta);
        this.#push({ text: delta });
        break;
      case "refusal":
        this.refusal += delta;
        this.grounding.add(delta);
        this.#push({ text: delta });
        break;
      case "reasoning":
        block.pieces.push(delta);
        if (!this.#hidesReasoning) this.#out.push({ text: delta, thought: true });
        break;
      case "tool-call":
        block.pieces.push(delta);
    }
  }

  get #hidesReasoning(): boolean {
    return this.#context.request?.style.hideReasoning === true;
  }

  #end(index: number, signature: string | undefined): void {
    const block = this.#open.get(index);
    if (!block) return;
    this.#open.delete(index);
    if (block.start.type === "reasoning") this.#sign(block, block.start, signature);
    if (block.start.type === "tool-call") this.#endCall(block as Call);
  }

  /** The next part gets the signature; encrypted reasoning gets an empty part of its own. */
  #sign(block: OpenBlock, start: BlockStart & { type: "reasoning" }, signature: string | undefined): void {
    const { redacted, origin = this.#context.target.provider } = start;
    const encoded = encodeSignature(block.pieces.join(""), signature, redacted, origin);
    if (encoded === undefined) return;
    if (this.#signature !== undefined) this.#push({ text: "" });
    if (redacted !== undefined && origin === SIGNER) return this.#push(encryptedPart(redacted));
    this.#signature = encoded;
    if (redacted !== undefined) this.#push({ text: "" });
  }

  #endCall(call: Call): void {
    call.ended = true;
    while (this.#calls[0]?.ended) this.#writeCall(this.#calls.shift()!);
  }

  #writeCall({ start, pieces }: Call): void {
    const { name, kind } = start;
    if (name.trim() === "") return;
    const id = this.#ids.take(start.id);
    const input = pieces.join("");
    const { value, repair, broken } =
      kind === "custom" ? { value: { input }, broken: false } : readToolInput(input);
    const part = this.#signed({ functionCall: { id, name, args: value } });
    if (broken) {
      this.broken.push({ name, part, repair: repair ?? "" });
      return;
    }
    if (repair !== undefined) this.#context.reportLoss("repaired", `functionCall ${name}`, repair);
    this.#out.push(part);
  }

  #cite(citation: Citation): void {
    this.grounding.cite(citation);
  }

  #push(part: JsonObject): void {
    this.#out.push(this.#signed(part));
  }

  #signed(part: JsonObject): JsonObject {
    const signature = this.#signature;
    if (signature === undefined || part.thoughtSignature !== undefined) return part;
    this.#signature = undefined;
    return { ...part, thoughtSignature: signature };
  }
}
