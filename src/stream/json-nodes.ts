/** Reads JSON with the ranges of its values, so that a part of it can be replaced in the bytes. */
import type { Json } from "../core/json.ts";
import { isSpace, type Span, stringEnd } from "./scan.ts";

/** A value of JSON in its bytes. */
export interface BytesNode extends Span {
  readonly type: "object" | "array" | "string" | "other";
  /** The value; `undefined` for an object and for a list. */
  scalar(): Json | undefined;
  /** The members of an object in their order; a name may come twice. */
  entries(): Iterable<readonly [string, BytesNode]>;
  /** The items of a list. */
  items(): Iterable<BytesNode>;
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;

/** @param bytes valid JSON, whose depth has been checked */
export function readJson(bytes: Uint8Array): BytesNode {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let at = 0;

  const next = (): number => {
    while (at < text.length && isSpace(text[at]!)) at++;
    return text[at]!;
  };
  const end = (): number => {
    at = stringEnd(text, at) + 1;
    return at;
  };
  const parsed = (from: number, to: number): Json => JSON.parse(text.toString("utf8", from, to)) as Json;

  const value = (): BytesNode => {
    const first = next();
    const start = at;
    const entries: [string, BytesNode][] = [];
    const items: BytesNode[] = [];
    let type: BytesNode["type"] = "other";
    if (first === QUOTE) {
      type = "string";
      end();
    } else if (first === OPEN_BRACE || first === OPEN_BRACKET) {
      type = first === OPEN_BRACE ? "object" : "array";
      for (at++; at < text.length;) {
        const byte = next();
        if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) {
          at++;
          break;
        }
        if (byte === COMMA) at++;
        else if (type === "array") items.push(value());
        else {
          const name = parsed(at, end()) as string;
          if (next() === COLON) at++;
          entries.push([name, value()]);
        }
      }
    } else while (at < text.length && !isEnd(text[at]!)) at++;
    const node = { start, end: at };
    return {
      ...node,
      type,
      scalar: () => (type === "string" || type === "other" ? parsed(node.start, node.end) : undefined),
      entries: () => entries,
      items: () => items,
    };
  };
  return value();
}

/** Whether a byte ends a number or a word. */
function isEnd(byte: number): boolean {
  return byte === COMMA || byte === CLOSE_BRACE || byte === CLOSE_BRACKET || isSpace(byte);
}

/** A copy of JSON in which texts replace some of its strings. @param texts with the ranges of the strings, in their order */
export function withStrings(bytes: Uint8Array, texts: Iterable<Span & { text: string }>): Uint8Array {
  const parts: Uint8Array[] = [];
  let from = 0;
  for (const { start, end, text } of texts) {
    parts.push(bytes.subarray(from, start), Buffer.from(JSON.stringify(text)));
    from = end;
  }
  parts.push(bytes.subarray(from));
  return Buffer.concat(parts);
}
