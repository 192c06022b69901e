/**
 * A strict reader of OTLP traces and histograms in JSON, by the messages of opentelemetry-proto and the rules of their JSON form: ids are
 * hexadecimal, 64-bit integers are texts, enums are numbers, and no member is unknown.
 */

export interface ReadSpan {
  traceId: string;
  spanId: string;
  parentSpanId: string;
  traceState: string;
  name: string;
  kind: number;
  flags: number;
  /** Nanoseconds since 1970. */
  start: bigint;
  end: bigint;
  status: { code: number; message: string };
  attributes: Record<string, string | number | boolean | string[]>;
}

export interface ReadTraces {
  resource: Record<string, unknown>;
  spans: ReadSpan[];
}

/** @throws Error for the first member that a collector would not read as it is meant */
export function readOtlp(text: string): ReadTraces {
  const root = group(JSON.parse(text), "", ["resourceSpans"]);
  const spans: ReadSpan[] = [];
  let resource = {};
  for (const [index, item] of list(root["resourceSpans"]).entries()) {
    const at = `resourceSpans[${index}]`;
    const of = group(item, at, ["resource", "scopeSpans", "schemaUrl"]);
    const described = group(of["resource"], `${at}.resource`, ["attributes", "droppedAttributesCount"]);
    resource = attributes(described["attributes"], `${at}.resource`);
    for (const scoped of list(of["scopeSpans"])) {
      const { scope, spans: found } = group(scoped, `${at}.scopeSpans`, ["scope", "spans", "schemaUrl"]);
      group(scope, `${at}.scope`, ["name", "version", "attributes"]);
      for (const [number, span] of list(found).entries())
        spans.push(readSpan(span, `${at}.spans[${number}]`));
    }
  }
  return { resource, spans };
}

export interface ReadPoint {
  metric: string;
  unit: string;
  attributes: ReadSpan["attributes"];
  count: number;
  sum: number;
  min: number;
  max: number;
  /** Bound and count of each bucket that is not empty. */
  buckets: [bound: number, count: number][];
}

/** The points of histograms. @throws Error as {@link readOtlp} does */
export function readMetrics(source: string): ReadPoint[] {
  const root = group(JSON.parse(source), "", ["resourceMetrics"]);
  return list(root["resourceMetrics"]).flatMap((item) => {
    const of = group(item, "resourceMetrics", ["resource", "scopeMetrics", "schemaUrl"]);
    group(of["resource"], "resource", ["attributes"]);
    return list(of["scopeMetrics"]).flatMap((scoped) => {
      const { scope, metrics } = group(scoped, "scopeMetrics", ["scope", "metrics", "schemaUrl"]);
      group(scope, "scope", ["name", "version"]);
      return list(metrics).flatMap(readHistogram);
    });
  });
}

const POINT_MEMBERS = [
  "attributes",
  "startTimeUnixNano",
  "timeUnixNano",
  "count",
  "sum",
  "min",
  "max",
  "bucketCounts",
  "explicitBounds",
];

function readHistogram(value: unknown): ReadPoint[] {
  const metric = group(value, "metric", ["name", "unit", "description", "histogram"]);
  const name = text(metric["name"], "name");
  const histogram = group(metric["histogram"], name, ["aggregationTemporality", "dataPoints"]);
  assert(histogram["aggregationTemporality"] === 2, `${name} is not cumulative`);
  return list(histogram["dataPoints"]).map((item): ReadPoint => {
    const point = group(item, name, POINT_MEMBERS);
    const [start, end] = [int64(point["startTimeUnixNano"], name), int64(point["timeUnixNano"], name)];
    assert(end >= start, `${name} ends before it begins`);
    const counts = list(point["bucketCounts"]).map((count) => Number(int64(count, name)));
    const bounds = list(point["explicitBounds"]).map((bound) => double(bound, name));
    assert(counts.length === bounds.length + 1, `${name} has ${counts.length} buckets`);
    const count = Number(int64(point["count"], name));
    assert(counts.reduce((sum, inBucket) => sum + inBucket, 0) === count, `${name} has another count`);
    return {
      metric: name,
      unit: text(metric["unit"], name),
      attributes: attributes(point["attributes"], name),
      count,
      sum: double(point["sum"], name),
      min: double(point["min"], name),
      max: double(point["max"], name),
      buckets: counts.flatMap((inBucket, at) => (inBucket > 0 ? [[bounds[at] ?? Infinity, inBucket]] : [])),
    };
  });
}

function double(value: unknown, at: string): number {
  assert(typeof value === "number", `${at} is no number`);
  return value as number;
}

const SPAN_MEMBERS = [
  "traceId",
  "spanId",
  "traceState",
  "parentSpanId",
  "flags",
  "name",
  "kind",
  "startTimeUnixNano",
  "endTimeUnixNano",
  "attributes",
  "events",
  "links",
  "status",
];

function readSpan(value: unknown, at: string): ReadSpan {
  const span = group(value, at, SPAN_MEMBERS);
  const { code = 0, message = "" } = group(span["status"] ?? {}, `${at}.status`, ["code", "message"]);
  const parent =
    span["parentSpanId"] === undefined ? "" : hex(span["parentSpanId"], 16, `${at}.parentSpanId`);
  const start = int64(span["startTimeUnixNano"], `${at}.startTimeUnixNano`);
  const end = int64(span["endTimeUnixNano"], `${at}.endTimeUnixNano`);
  assert(end >= start, `${at} ends before it begins`);
  return {
    traceId: hex(span["traceId"], 32, `${at}.traceId`),
    spanId: hex(span["spanId"], 16, `${at}.spanId`),
    parentSpanId: parent,
    traceState: text(span["traceState"] ?? "", `${at}.traceState`),
    name: text(span["name"], `${at}.name`),
    kind: enumeration(span["kind"], 5, `${at}.kind`),
    flags: enumeration(span["flags"] ?? 0, 0x3ff, `${at}.flags`),
    ...{ start, end },
    status: { code: enumeration(code, 2, `${at}.status`), message: text(message, `${at}.status`) },
    attributes: attributes(span["attributes"], at),
  };
}

function attributes(value: unknown, at: string): ReadSpan["attributes"] {
  const found: ReadSpan["attributes"] = {};
  for (const item of list(value)) {
    const { key, value: any } = group(item, `${at}.attributes`, ["key", "value"]);
    const name = text(key, `${at}.attributes.key`);
    assert(!Object.hasOwn(found, name), `${at} has ${name} twice`);
    found[name] = anyValue(any, `${at}.${name}`);
  }
  return found;
}

function anyValue(value: unknown, at: string): ReadSpan["attributes"][string] {
  const members = Object.entries(
    group(value, at, ["stringValue", "intValue", "doubleValue", "boolValue", "arrayValue"]),
  );
  assert(members.length === 1, `${at} must have one member`);
  const [kind, inner] = members[0]!;
  if (kind === "stringValue") return text(inner, at);
  if (kind === "intValue") return Number(int64(inner, at));
  if (kind === "arrayValue")
    return list(group(inner, at, ["values"])["values"]).map((item) => String(anyValue(item, at)));
  assert(typeof inner === (kind === "boolValue" ? "boolean" : "number"), `${at} is no ${kind}`);
  return inner as number | boolean;
}

function group(value: unknown, at: string, members: readonly string[]): Record<string, unknown> {
  assert(typeof value === "object" && value !== null && !Array.isArray(value), `${at} is no object`);
  for (const name of Object.keys(value as object))
    assert(members.includes(name), `${at} has the unknown member ${name}`);
  return value as Record<string, unknown>;
}

function list(value: unknown): unknown[] {
  assert(Array.isArray(value), "a list is expected");
  return value as unknown[];
}

function text(value: unknown, at: string): string {
  assert(typeof value === "string", `${at} is no text`);
  return value as string;
}

function hex(value: unknown, digits: number, at: string): string {
  const id = text(value, at);
  assert(id.length === digits && /^[0-9a-f]+$/.test(id) && !/^0+$/.test(id), `${at} is no id: ${id}`);
  return id;
}

function int64(value: unknown, at: string): bigint {
  assert(/^-?\d{1,19}$/.test(text(value, at)), `${at} is no 64-bit integer`);
  return BigInt(value as string);
}

function enumeration(value: unknown, most: number, at: string): number {
  assert(Number.isInteger(value) && (value as number) >= 0 && (value as number) <= most, `${at} is no enum`);
  return value as number;
}

function assert(holds: boolean, fault: string): void {
  if (!holds) throw new Error(fault);
}
