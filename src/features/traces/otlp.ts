/**
 * OTLP in JSON: https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding. Ids are hexadecimal, 64-bit integers are texts, and
 * enums are numbers.
 */

export type AttributeValue = string | number | boolean | readonly string[] | undefined;

/** A number that is written as a double, although it may be whole. */
export class Double {
  readonly value: number;

  constructor(value: number) {
    this.value = value;
  }
}

export type Attributes = readonly (readonly [name: string, value: AttributeValue | Double])[];

type AnyValue =
  | { stringValue: string }
  | { intValue: string }
  | { doubleValue: number }
  | { boolValue: boolean }
  | { arrayValue: { values: readonly AnyValue[] } };

/** The maker of the spans or metrics. */
export interface Scope {
  name: string;
  version: string;
}

interface KeyValue {
  key: string;
  value: AnyValue;
}

export const SPAN_KIND = { internal: 1, server: 2, client: 3 } as const;
export const STATUS_ERROR = 2;
/** Bits of `flags`: recorded; whether the parent is in another process is known; it is. */
export const FLAGS = { sampled: 0x01, hasRemote: 0x100, isRemote: 0x200 } as const;

/** A span. Times are milliseconds since 1970, with fractions. */
export interface Span {
  trace: string;
  span: string;
  parent?: string;
  state?: string;
  flags: number;
  name: string;
  kind: number;
  start: number;
  end: number;
  attributes: Attributes;
  /** Absent: no error. */
  error?: string;
}

/** @returns JSON of one element of `spans` */
export function encodeSpan(span: Span): string {
  return JSON.stringify({
    traceId: span.trace,
    spanId: span.span,
    traceState: span.state,
    parentSpanId: span.parent,
    flags: span.flags,
    name: span.name,
    kind: span.kind,
    startTimeUnixNano: nanos(span.start),
    endTimeUnixNano: nanos(Math.max(span.start, span.end)),
    attributes: encodeAttributes(span.attributes),
    status: span.error === undefined ? {} : { code: STATUS_ERROR, message: span.error },
  });
}

/** @param spans of {@link encodeSpan} @returns JSON of an `ExportTraceServiceRequest` */
export function encodeRequest(resource: Attributes, scope: Scope, spans: readonly string[]): string {
  const head = JSON.stringify({ attributes: encodeAttributes(resource) });
  const from = JSON.stringify(scope);
  return `{"resourceSpans":[{"resource":${head},"scopeSpans":[{"scope":${from},"spans":[${spans.join(",")}]}]}]}`;
}

/** Attributes without a value are left out. */
export function encodeAttributes(attributes: Attributes): KeyValue[] {
  const encoded: KeyValue[] = [];
  for (const [key, value] of attributes) if (value !== undefined) encoded.push({ key, value: encode(value) });
  return encoded;
}

function encode(value: Exclude<AttributeValue, undefined> | Double): AnyValue {
  if (typeof value === "string") return { stringValue: value };
  if (typeof value === "boolean") return { boolValue: value };
  if (value instanceof Double) return { doubleValue: value.value };
  if (typeof value === "number")
    return Number.isSafeInteger(value) ? { intValue: String(value) } : { doubleValue: value };
  return { arrayValue: { values: value.map(encode) } };
}

/** Milliseconds as whole nanoseconds, to the microsecond: a number holds no more digits. */
export function nanos(ms: number): string {
  return `${Math.round(ms * 1000)}000`;
}
