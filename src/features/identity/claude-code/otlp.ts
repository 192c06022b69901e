/**
 * Adds attributes to the resources of an OTLP export, in protobuf and in JSON (opentelemetry-proto 1.x: an export has a list of
 * resources as field 1, a resource's entry its resource as field 1, that its attributes as field 1).
 */
import { isObject, parseJson } from "../../../core/json.ts";

/** Names and texts. */
export type Attributes = Readonly<Record<string, string>>;

/** Field 1 of a message, with a length. */
const FIELD_1 = 0x0a;
const FIELD_2 = 0x12;
/** Lists of resources in JSON. */
const LISTS = ["resourceMetrics", "resourceLogs", "resourceSpans"];

/** @returns undefined for bytes that are no export */
export function withAttributes(
  body: Uint8Array,
  isJson: boolean,
  attributes: Attributes,
): Uint8Array | undefined {
  return isJson ? inJson(body, attributes) : inProtobuf(body, attributes);
}

function inJson(body: Uint8Array, attributes: Attributes): Uint8Array | undefined {
  const parsed = parseJson(Buffer.from(body).toString("utf8"));
  if (!isObject(parsed)) return undefined;
  const added = Object.entries(attributes).map(([key, stringValue]) => ({ key, value: { stringValue } }));
  for (const list of LISTS.flatMap((name) => parsed[name] ?? []))
    if (isObject(list)) {
      const resource = isObject(list["resource"]) ? list["resource"] : {};
      const own = Array.isArray(resource["attributes"]) ? resource["attributes"] : [];
      list["resource"] = { ...resource, attributes: [...own, ...added] };
    }
  return Buffer.from(JSON.stringify(parsed));
}

/** A message that appears twice is merged by its reader: the resource is written once more, with the attributes alone. */
function inProtobuf(body: Uint8Array, attributes: Attributes): Uint8Array | undefined {
  const text = (value: string) => Buffer.from(value, "utf8");
  const added = Object.entries(attributes).map(([key, value]) =>
    field(FIELD_1, Buffer.concat([field(FIELD_1, text(key)), field(FIELD_2, field(FIELD_1, text(value)))])),
  );
  const resource = field(FIELD_1, Buffer.concat(added));
  const parts: Uint8Array[] = [];
  for (let at = 0; at < body.length;) {
    if (body[at] !== FIELD_1) return undefined;
    const length = varint(body, at + 1);
    if (!length || length.end + length.value > body.length) return undefined;
    at = length.end + length.value;
    parts.push(field(FIELD_1, Buffer.concat([body.subarray(length.end, at), resource])));
  }
  return Buffer.concat(parts);
}

function field(tag: number, content: Uint8Array): Uint8Array {
  const length: number[] = [];
  let rest = content.length;
  for (; rest > 0x7f; rest = Math.floor(rest / 0x80)) length.push((rest & 0x7f) | 0x80);
  return Buffer.concat([Uint8Array.of(tag, ...length, rest), content]);
}

/** @returns undefined for one that is cut off, or longer than a length of this size can be */
function varint(body: Uint8Array, from: number): { value: number; end: number } | undefined {
  let value = 0;
  for (let at = from; at < body.length && at < from + 4; at++) {
    const byte = body[at]!;
    value += (byte & 0x7f) * 0x80 ** (at - from);
    if (byte < 0x80) return { value, end: at + 1 };
  }
  return undefined;
}
