/** Changes strings in the bytes of JSON, which else stay as they are: numbers, order, unknown members. */
import type { Span } from "../../../stream/scan.ts";
import { type BytesNode, readJson, withStrings } from "../../../stream/json-nodes.ts";

/** @param changes new texts by the paths of their strings: `choices[0].delta.content` */
export function withTexts(bytes: Uint8Array, changes: ReadonlyMap<string, string>): Uint8Array {
  const spans = new Map<string, Span>();
  collect(readJson(bytes), "", changes, spans);
  const texts = [...spans].map(([path, { start, end }]) => ({ start, end, text: changes.get(path)! }));
  return withStrings(
    bytes,
    texts.sort((one, other) => one.start - other.start),
  );
}

/** Of members with one name, the last one counts, as in a parsed value. */
function collect(
  node: BytesNode,
  path: string,
  changes: ReadonlyMap<string, string>,
  spans: Map<string, Span>,
): void {
  if (node.type === "string" && changes.has(path)) spans.set(path, node);
  else if (node.type === "array") {
    let index = 0;
    for (const item of node.items()) collect(item, `${path}[${index++}]`, changes, spans);
  } else if (node.type === "object")
    for (const [name, value] of node.entries())
      collect(value, path === "" ? name : `${path}.${name}`, changes, spans);
}
