/**
 * Makes the input of a batch out of the bodies in which Anthropic's and Google's clients send all requests at once. The bytes of each
 * request stay as they are, but for line breaks between its members, which become spaces: each request is one line.
 */
import { isUtf8 } from "node:buffer";
import { GatewayError, invalidRequest } from "../../../core/error.ts";
import { isObject, type Json, type JsonObject, parseJson } from "../../../core/json.ts";
import { scanBody, type Span } from "../../../stream/scan.ts";
import { ArrayItems, type ListPath } from "./array-items.ts";
import { IdsSeen } from "./ids-seen.ts";
import { LINE_BYTES, readLines } from "./read-lines.ts";

/** A line of the input, and what is around all requests once the last line has been read. */
export interface Conversion {
  /**
   * JSONL, a line each. No more is read from the body than the lines that are taken need.
   * @throws GatewayError that the body is no such list, or which request of it is wrong
   */
  lines(): AsyncGenerator<Uint8Array, void>;
  /** Absent until all lines have been read. */
  readonly around?: Around;
}

/** The members of a body beside its requests. */
export interface Around {
  /** Number of requests. */
  readonly count: number;
  /** For people. */
  readonly name?: string;
  /** The file that holds the requests instead (`files/abc`). */
  readonly fileName?: string;
}

export interface ConversionLimits {
  /** Requests that a body may have. */
  readonly lines: number;
  /** Levels that a request may nest. */
  readonly depth?: number;
}

const DEPTH = 128;
/** Levels of an item around its request. */
const AROUND = 2;

interface Dialect {
  readonly path: ListPath;
  /** The member of an item that holds its request. */
  readonly request: string;
  readonly endpoint: string;
  idOf(item: JsonObject, index: number): string;
  /** The `metadata` of an item goes into its line, for the results. */
  readonly keepsMetadata?: true;
  /** What else is wrong with an item. */
  check?(item: JsonObject, index: number): GatewayError | undefined;
}

/** Anthropic's `{requests: [{custom_id, params}]}`. @param endpoint the path that each line asks */
export function fromRequests(
  body: AsyncIterable<Uint8Array>,
  endpoint: string,
  limits: ConversionLimits,
): Conversion {
  const seen = new IdsSeen();
  return new ListConversion(body, limits, {
    path: [["requests"]],
    request: "params",
    endpoint,
    idOf({ custom_id: id }, index) {
      const param = `requests.${index}.custom_id`;
      if (typeof id !== "string" || !/^[a-zA-Z0-9_-]{1,64}$/.test(id))
        throw invalidRequest(
          "`custom_id` must be 1 to 64 letters, digits, `_` and `-`.",
          param,
          id === undefined ? "missing_required_parameter" : "invalid_value",
        );
      if (!seen.add(id))
        throw invalidRequest(`The \`custom_id\` "${id}" is there twice.`, param, "duplicate_custom_id");
      return id;
    },
    check: ({ params }, index) =>
      (params as JsonObject)["stream"] === true
        ? invalidRequest(
            "An answer of a batch is not streamed; leave `stream` out.",
            `requests.${index}.params.stream`,
            "stream_not_supported",
          )
        : undefined,
  });
}

/** Google's `{batch: {displayName, inputConfig: {requests: {requests: [{request, metadata: {key}}]}}}}`; a request without a key gets its index. Metadata with more than a key is kept in the line. */
export function fromBatch(
  body: AsyncIterable<Uint8Array>,
  endpoint: string,
  limits: ConversionLimits,
): Conversion {
  return new ListConversion(body, limits, {
    path: [["batch"], ["inputConfig", "input_config"], ["requests"], ["requests"]],
    request: "request",
    keepsMetadata: true,
    endpoint,
    idOf: ({ metadata }, index) => keyOf(isObject(metadata) ? metadata["key"] : undefined, index),
  });
}

/** Google's file of requests, `{"key", "request"}` in each line; a request without a key gets its index. */
export async function* fromKeyedLines(
  chunks: AsyncIterable<Uint8Array>,
  endpoint: string,
  limits: ConversionLimits,
): AsyncGenerator<Uint8Array, void> {
  const dialect: Dialect = {
    path: [],
    request: "request",
    keepsMetadata: true,
    endpoint,
    idOf: ({ key }, index) => keyOf(key, index),
  };
  const depth = limits.depth ?? DEPTH;
  for await (const { number, bytes, isTooLarge } of readLines(chunks)) {
    if (!isTooLarge && bytes.length === 0) continue;
    yield lineOf(dialect, { index: number - 1, bytes, isTooLarge }, { ...limits, depth });
  }
}

class ListConversion implements Conversion {
  readonly #body: AsyncIterable<Uint8Array>;
  readonly #limits: Required<ConversionLimits>;
  readonly #dialect: Dialect;
  around?: Around;

  constructor(body: AsyncIterable<Uint8Array>, limits: ConversionLimits, dialect: Dialect) {
    this.#body = body;
    this.#limits = { depth: DEPTH, ...limits };
    this.#dialect = dialect;
  }

  async *lines(): AsyncGenerator<Uint8Array, void> {
    const items = new ArrayItems(this.#dialect.path, LINE_BYTES);
    let count = 0;
    for await (const item of items.read(this.#body)) {
      yield lineOf(this.#dialect, item, this.#limits);
      count++;
    }
    this.around = aroundOf(items.rest(), this.#dialect.path, count);
  }
}

interface Item {
  index: number;
  bytes: Uint8Array;
  isTooLarge: boolean;
}

function lineOf(
  dialect: Dialect,
  { index, bytes, isTooLarge }: Item,
  limits: Required<ConversionLimits>,
): Uint8Array {
  const at = `requests.${index}`;
  if (index >= limits.lines)
    throw new GatewayError("too-large", `The body has more than ${limits.lines} requests.`, {
      ...{ code: "too_many_tasks", param: "requests" },
    });
  if (isTooLarge)
    throw new GatewayError("too-large", `A request has more than ${LINE_BYTES} bytes.`, {
      ...{ code: "line_too_large", param: at },
    });
  const scan = isUtf8(bytes) ? scanBody(bytes, limits.depth + AROUND) : undefined;
  if (!scan) throw invalidRequest("The request is not valid UTF-8.", at, "invalid_value");
  if (scan.tooDeep)
    throw invalidRequest(`The request nests deeper than ${limits.depth} levels.`, at, "invalid_value");
  const item = parseJson(textOf(bytes));
  if (item === undefined) throw invalidRequest("The body is not valid JSON.", at);
  if (!isObject(item)) throw invalidRequest("The request is not a JSON object.", at, "invalid_value");
  if (scan.duplicate !== undefined)
    throw invalidRequest(`The request has the member "${scan.duplicate.slice(0, 80)}" twice.`, at);
  const id = dialect.idOf(item, index);
  const span = requestIn(item, scan.members, dialect.request, at);
  const twice = scanBody(bytes.subarray(span.start, span.end), limits.depth + AROUND).duplicate?.slice(0, 80);
  if (twice !== undefined)
    throw invalidRequest(`The request has the member "${twice}" twice.`, `${at}.${dialect.request}.${twice}`);
  const unfit = dialect.check?.(item, index);
  if (unfit) throw unfit;
  const metadata =
    dialect.keepsMetadata && hasMetadata(item["metadata"]) ? scan.members.get("metadata") : undefined;
  const body = bytes.subarray(span.start, span.end);
  return written(id, dialect.endpoint, body, metadata && bytes.subarray(metadata.start, metadata.end));
}

/** Whether the metadata of a request says more than its key, which is the id of its line. */
function hasMetadata(metadata: Json | undefined): boolean {
  if (!isObject(metadata)) return false;
  return Object.keys(metadata).some((name) => name !== "key");
}

function requestIn(item: JsonObject, members: ReadonlyMap<string, Span>, name: string, at: string): Span {
  const span = members.get(name);
  if (!span)
    throw invalidRequest(`The request has no \`${name}\`.`, `${at}.${name}`, "missing_required_parameter");
  if (!isObject(item[name]))
    throw invalidRequest(`\`${name}\` must be a JSON object.`, `${at}.${name}`, "invalid_value");
  return span;
}

const LF = 0x0a;
const CR = 0x0d;
const SPACE = 0x20;

/** @param body @param metadata valid JSON, in which a line break can only be white space */
function written(id: string, endpoint: string, body: Uint8Array, metadata?: Uint8Array): Uint8Array {
  const more = metadata ? [Buffer.from(',"metadata":'), metadata] : [];
  const head = `{"custom_id":${JSON.stringify(id)},"method":"POST","url":${JSON.stringify(endpoint)},"body":`;
  const line = Buffer.concat([Buffer.from(head), body, ...more, Buffer.from("}\n")]);
  for (const breaks of [LF, CR])
    for (let at = line.indexOf(breaks); at >= 0 && at < line.length - 1; at = line.indexOf(breaks, at + 1))
      line[at] = SPACE;
  return line;
}

/** The id of a request whose key a client may leave out. */
function keyOf(key: Json | undefined, index: number): string {
  return typeof key === "string" && key !== "" ? key : String(index);
}

/** @param rest the body without its requests */
function aroundOf(rest: Uint8Array, path: ListPath, count: number): Around {
  const body = isUtf8(rest) ? parseJson(textOf(rest)) : undefined;
  if (!isObject(body)) throw invalidRequest("The body is not one valid JSON object.");
  const list = listAt(body, rest, path);
  const batch = isObject(body["batch"]) ? body["batch"] : {};
  const input = member(batch, "inputConfig", "input_config");
  const fileName = isObject(input) ? member(input, "fileName", "file_name") : undefined;
  const name = member(batch, "displayName", "display_name");
  if (Array.isArray(list) && list.length > 0)
    throw invalidRequest("Write the names around the list of requests without escapes.");
  if (count === 0 && typeof fileName !== "string")
    throw invalidRequest(
      "The body has no requests.",
      path.map(([first]) => first).join("."),
      "missing_required_parameter",
    );
  if (count > 0 && typeof fileName === "string")
    throw invalidRequest("The body has requests and the name of a file of requests.", "batch.inputConfig");
  return {
    count,
    ...(typeof name === "string" && { name }),
    ...(typeof fileName === "string" && { fileName }),
  };
}

/** The value at the end of a path. @throws GatewayError if a member on the way is there twice */
function listAt(body: JsonObject, rest: Uint8Array, path: ListPath): Json | undefined {
  let value: Json | undefined = body;
  let bytes = rest;
  for (const names of path) {
    if (!isObject(value)) return undefined;
    const { members, duplicate } = scanBody(bytes, Infinity);
    const [name, other] = names.filter((one) => members.has(one));
    if (duplicate !== undefined || other !== undefined)
      throw invalidRequest(`The body has the member "${(duplicate ?? other)!.slice(0, 80)}" twice.`);
    if (name === undefined) return undefined;
    const span = members.get(name)!;
    bytes = bytes.subarray(span.start, span.end);
    value = value[name];
  }
  return value;
}

function member(object: JsonObject, ...names: string[]): Json | undefined {
  return names.map((name) => object[name]).find((value) => value !== undefined);
}

function textOf({ buffer, byteOffset, byteLength }: Uint8Array): string {
  return Buffer.from(buffer, byteOffset, byteLength).toString("utf8");
}
