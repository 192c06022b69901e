/** Reads function calls: whole ones, and those whose arguments come in pieces (`partialArgs`). */
import type { CodecContext } from "../../../core/context.ts";
import type { BlockStart } from "../../../core/events.ts";
import { AnswerIds } from "../../../core/ids.ts";
import type { Json, JsonObject } from "../../../core/json.ts";
import { isObject } from "../../../core/json.ts";
import { text } from "../../shared/read.ts";
import { GEMINI_ID } from "./call-ids.ts";
import { PartialArguments } from "./partial-arguments.ts";

/** A complete call. */
export interface ReadCall {
  block: BlockStart & { type: "tool-call" };
  /** JSON text, or the input of a custom tool. */
  input: string;
}

export class CallReader {
  readonly #context: CodecContext;
  readonly #ids: AnswerIds;
  #open: { call: JsonObject; name: string; pieces?: PartialArguments } | undefined;
  /** Number of calls so far. */
  count = 0;

  constructor(context: CodecContext) {
    this.#context = context;
    this.#ids = new AnswerIds(context.id);
  }

  /** Begins a call. @returns whether it is complete */
  begin(call: JsonObject): boolean {
    this.count++;
    const inPieces = call.willContinue === true || Array.isArray(call.partialArgs);
    this.#open = { call, name: text(call.name)!, ...(inPieces && { pieces: new PartialArguments() }) };
    this.#open.pieces?.add(call.partialArgs);
    return call.willContinue !== true;
  }

  /** Takes a piece of the open call. @returns false if the part is no piece, or the last one of its call */
  grow(call: JsonObject): boolean {
    const pieces = this.#open?.pieces;
    if (!pieces || text(call.name)) return false;
    pieces.add(call.partialArgs);
    return call.willContinue === true;
  }

  /** Ends the open call, if any. */
  end(): ReadCall | undefined {
    if (!this.#open) return undefined;
    const { call, name: sent, pieces } = this.#open;
    this.#open = undefined;
    const name = this.#nameOf(sent);
    const args = pieces ? pieces.value : isObject(call.args) ? call.args : {};
    const custom = this.#isCustom(name);
    const own = text(call.id);
    const id = this.#ids.take(own && marked(own));
    return {
      block: { type: "tool-call", id, name, kind: custom ? "custom" : "function" },
      input: custom && typeof args.input === "string" ? args.input : JSON.stringify(args),
    };
  }

  /** Whether the answer calls tools, and the request, if known, declares each of them. @param parts those still to be read */
  areDeclared(parts: readonly Json[]): boolean {
    const names = parts.flatMap((part) =>
      isObject(part) && isObject(part.functionCall) ? [text(part.functionCall.name) ?? ""] : [],
    );
    const { request } = this.#context;
    const declared = (name: string) =>
      !request || request.tools.some((tool) => tool.name === this.#nameOf(name));
    return names.length + this.count > 0 && names.every(declared);
  }

  #nameOf(sent: string): string {
    return this.#context.toolNames.get(sent) ?? sent;
  }

  #isCustom(name: string): boolean {
    return this.#context.request?.tools.some((tool) => tool.kind === "custom" && tool.name === name) === true;
  }
}

/** An id of another weir is marked already. */
function marked(id: string): string {
  return id.startsWith(GEMINI_ID) ? id : GEMINI_ID + id;
}
