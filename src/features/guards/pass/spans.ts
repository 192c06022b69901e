/** Changes strings in the bytes of JSON, which else stay as they are: numbers, order, unknown members. */
import type { Json } from "../../../core/json.ts";
import type { Span } from "../../../stream/scan.ts";
import { type BytesNode, readJson } from "../../../stream/json-nodes.ts";
import { type Became, withoutSpelled } from "../flow/logprobs.ts";

/** Changes by the paths of strings and numbers: `choices[0].delta.content`. */
export type Changes = ReadonlyMap<string, string>;

/** A string, or logprobs with the path of what has them. */
interface Found {
  readonly path: string;
  readonly node: BytesNode;
}

/** @param lost called where logprobs spell a changed text, and go with it; with the path of what has them */
export function withTexts(bytes: Uint8Array, changes: Changes, lost?: (path: string) => void): Uint8Array {
  const strings = new Map<string, BytesNode>();
  const logprobs: Found[] = [];
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  collect(readJson(bytes), "", { strings, logprobs });
  const parts: (Span & { json: string })[] = [];
  for (const [path, { start, end }] of strings)
    if (changes.has(path)) parts.push({ start, end, json: JSON.stringify(changes.get(path)) });
  for (const { path, node } of logprobs) {
    const texts = [...strings].filter(([one]) => one.startsWith(path)).map(becameBy(changes));
    if (texts.every(({ before, after }) => before === after)) continue;
    const left = withoutSpelled(JSON.parse(text.toString("utf8", node.start, node.end)) as Json, texts);
    if (left === undefined) continue;
    parts.push({ start: node.start, end: node.end, json: JSON.stringify(left) });
    lost?.(path);
  }
  return spliced(
    bytes,
    parts.sort((one, other) => one.start - other.start),
  );
}

const becameBy =
  (changes: Changes) =>
  ([path, node]: readonly [string, BytesNode]): Became => {
    const before = String(node.scalar());
    return { before, after: changes.get(path) ?? before };
  };

/** Of members with one name, the last one counts, as in a parsed value. */
function collect(
  node: BytesNode,
  path: string,
  into: { strings: Map<string, BytesNode>; logprobs: Found[] },
): void {
  if (node.type === "string" || node.type === "other") into.strings.set(path, node);
  else if (node.type === "array") {
    let index = 0;
    for (const item of node.items()) collect(item, `${path}[${index++}]`, into);
  } else if (node.type === "object")
    for (const [name, value] of node.entries()) {
      const isSpelling = /^logprobs(Result)?$/.test(name) && value.type !== "other";
      if (isSpelling) into.logprobs.push({ path, node: value });
      else collect(value, path === "" ? name : `${path}.${name}`, into);
    }
}

function spliced(bytes: Uint8Array, parts: readonly (Span & { json: string })[]): Uint8Array {
  const pieces: Uint8Array[] = [];
  let from = 0;
  for (const { start, end, json } of parts) {
    pieces.push(bytes.subarray(from, start), Buffer.from(json));
    from = end;
  }
  pieces.push(bytes.subarray(from));
  return Buffer.concat(pieces);
}
