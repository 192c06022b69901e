/**
 * Cuts a list out of a JSON document as its bytes arrive, item by item, so that a document of any size takes the memory of one item.
 * It reads the structure only; who takes the items parses them, and `rest` is the document without them, small enough to be parsed.
 */
import { invalidRequest } from "../../../core/error.ts";
import { isSpace } from "../../../stream/scan.ts";
import { Gather } from "./gather.ts";

export interface ArrayItem {
  /** Counts from 0. */
  index: number;
  /** Valid until the next item is taken; without white space around it. Empty if the item is too large. */
  bytes: Uint8Array;
  isTooLarge: boolean;
}

/** Where the list is: for each level the names that its member may have. */
export type ListPath = readonly (readonly string[])[];

/** Bytes that a document may have beside the items of its list. */
const REST_BYTES = 1024 * 1024;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;

export class ArrayItems {
  readonly #path: ListPath;
  readonly #rest = new Gather(REST_BYTES);
  readonly #item: Gather;
  /** Whether bytes are inside of the list. */
  #inList = false;
  #inText = false;
  /** Whether the byte before ended an odd number of backslashes in a text. */
  #escaped = false;
  /** Levels that are open: of the document, and of an item. */
  #depth = 0;
  #itemDepth = 0;
  /** Levels that are open on the way to the list. */
  #matched = 0;
  /** The last text of the document, which may be the name of a member, and whether a value follows it. */
  #text = "";
  #isMember = false;
  #count = 0;

  /** @param itemBytes bytes that an item may have */
  constructor(path: ListPath, itemBytes: number) {
    this.#path = path;
    this.#item = new Gather(itemBytes);
  }

  /** The items of the list in their order. @throws GatewayError `invalid-request`, `too-large` */
  async *read(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<ArrayItem, void> {
    for await (const chunk of chunks)
      for (let at = 0; at < chunk.length;) {
        if (!this.#inList) at = this.#readRest(chunk, at);
        else {
          const end = this.#itemEnd(chunk, at);
          const part = chunk.subarray(at, end);
          at = end + 1;
          if (end === chunk.length) this.#item.add(this.#item.size === 0 ? withoutSpace(part) : part);
          else {
            const item = this.#endItem(part, chunk[end]!);
            if (item) yield item;
            this.#item.clear();
          }
        }
      }
    if (this.#inList) throw invalid("The body ends within its list of requests.");
  }

  /** The document with an empty list, after all items have been read: no valid JSON unless the document is. */
  rest(): Uint8Array {
    const rest = this.#rest.end(new Uint8Array(0));
    if (this.#rest.isTooLarge)
      throw invalid(`The body has more than ${REST_BYTES} bytes beside its list of requests.`);
    return rest;
  }

  #readRest(chunk: Uint8Array, from: number): number {
    let at = from;
    while (at < chunk.length && !this.#inList) this.#readByte(chunk[at++]!);
    this.#rest.add(chunk.subarray(from, at));
    return at;
  }

  #readByte(byte: number): void {
    if (this.#inText) {
      this.#readText(byte);
      return;
    }
    if (byte === QUOTE) {
      this.#inText = true;
      this.#text = "";
    } else if (byte === COLON) this.#isMember = true;
    else if (byte === COMMA) this.#isMember = false;
    else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) this.#open(byte === OPEN_BRACKET);
    else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) {
      this.#depth--;
      this.#matched = Math.min(this.#matched, Math.max(0, this.#depth - 1));
      this.#isMember = false;
    }
  }

  #readText(byte: number): void {
    if (this.#escaped) this.#escaped = false;
    else if (byte === BACKSLASH) this.#escaped = true;
    else if (byte === QUOTE) {
      this.#inText = false;
      return;
    }
    // The names on the way to the list are short, and an escape in one is not looked for.
    if (!this.#isMember && this.#text.length < 32) this.#text += String.fromCharCode(byte);
  }

  /** Opens an object or a list of the document. */
  #open(isList: boolean): void {
    const isNext =
      this.#depth === this.#matched + 1 && this.#isMember && this.#path[this.#matched]?.includes(this.#text);
    if (isNext && isList && this.#matched === this.#path.length - 1) {
      if (this.#count > 0) throw invalid("The body has its list of requests twice.");
      this.#inList = true;
      return;
    }
    if (isNext && !isList) this.#matched++;
    this.#depth++;
    this.#isMember = false;
  }

  /** The index of the comma or the bracket behind an item; the length of the chunk if it ends later. */
  #itemEnd(chunk: Uint8Array, from: number): number {
    for (let at = from; at < chunk.length; at++) {
      if (this.#inText) {
        at = this.#textEnd(chunk, at);
        continue;
      }
      const byte = chunk[at];
      if (byte === QUOTE) this.#inText = true;
      else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) this.#itemDepth++;
      else if (this.#itemDepth === 0) {
        if (byte === COMMA || byte === CLOSE_BRACKET) return at;
      } else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) this.#itemDepth--;
    }
    return chunk.length;
  }

  /** The index of the quote that ends a text; the length of the chunk if it ends later. */
  #textEnd(chunk: Uint8Array, from: number): number {
    for (let at = from; ;) {
      const quote = chunk.indexOf(QUOTE, at);
      const end = quote < 0 ? chunk.length : quote;
      let first = end;
      while (first > at && chunk[first - 1] === BACKSLASH) first--;
      const isOdd = (end - first) % 2 === 1;
      // A backslash of the chunk before counts if only backslashes follow it.
      this.#escaped = first === at ? isOdd !== this.#escaped : isOdd;
      if (quote < 0) return end;
      if (!this.#escaped) {
        this.#inText = false;
        return quote;
      }
      this.#escaped = false;
      at = quote + 1;
    }
  }

  /** @param end the byte behind the item: a comma, or the bracket that closes the list */
  #endItem(last: Uint8Array, end: number): ArrayItem | undefined {
    const bytes = trim(this.#item.end(this.#item.size === 0 ? withoutSpace(last) : last));
    const { isTooLarge } = this.#item;
    if (end === CLOSE_BRACKET) {
      this.#inList = false;
      this.#isMember = false;
      this.#rest.add(Uint8Array.of(CLOSE_BRACKET));
    }
    if (bytes.length > 0 || isTooLarge) return { index: this.#count++, bytes, isTooLarge };
    if (end === COMMA || this.#count > 0)
      throw invalid("The list of requests has a comma without a request.");
    return undefined;
  }
}

function withoutSpace(bytes: Uint8Array): Uint8Array {
  let start = 0;
  while (start < bytes.length && isSpace(bytes[start]!)) start++;
  return bytes.subarray(start);
}

function trim(bytes: Uint8Array): Uint8Array {
  let end = bytes.length;
  while (end > 0 && isSpace(bytes[end - 1]!)) end--;
  return bytes.subarray(0, end);
}

function invalid(message: string) {
  return invalidRequest(message);
}
