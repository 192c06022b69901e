/** A request body: its bytes, parsed only as far as callers need it. */
import { isUtf8 } from "node:buffer";
import { invalidRequest } from "../core/error.ts";
import type { CountOperation, RequestCheck } from "../core/format.ts";
import type { Json, JsonObject } from "../core/json.ts";
import { isObject, parseJson } from "../core/json.ts";
import type { Outline } from "../stream/outline/outline.ts";
import { CUT_SHORT, outline } from "../stream/outline/outline.ts";
import { scanBody, type Span } from "../stream/scan.ts";

/** The rules of a format. */
type Checks = Pick<RequestCheck, "checkRequest" | "judgedByOutline">;

/** Differences from a request for an answer. */
export type RequestPart = Pick<CountOperation, "implied" | "requestOf">;

export class RequestBody {
  readonly bytes: Uint8Array;
  readonly #maxDepth: number;
  readonly #outline: Outline | undefined;
  /** The body with long strings shortened, if it is sufficient for validation. */
  readonly short: JsonObject | undefined;
  #members: ReadonlyMap<string, Span> | undefined;
  #json: JsonObject | undefined;

  /** @throws GatewayError `invalid-request` for what is not one JSON object in UTF-8, within `maxDepth` levels */
  constructor(bytes: Uint8Array, maxDepth: number) {
    if (bytes.length === 0) throw invalidRequest("The request body is empty; send one JSON object.");
    if (!isUtf8(bytes)) throw invalidRequest("The request body is not valid UTF-8.");
    this.bytes = bytes;
    this.#maxDepth = maxDepth;
    this.#outline = outline(bytes, maxDepth);
    if (this.#outline && this.#outline.members > MAX_MEMBERS) throw tooManyMembers();
    const short = this.#outline && parseJson(this.#outline.text);
    // Fewer members than in the outline: a member occurs twice.
    if (isObject(short) && countOf(short) === this.#outline!.members) {
      this.short = short;
      this.#outline!.keepLayout(short);
    } else this.json;
    if (this.short?.["model"] === CUT_SHORT) checkModel(bytes, this.spanOf("model"));
  }

  /** Whether the whole body has been parsed. */
  get isParsed(): boolean {
    return this.#json !== undefined;
  }

  /** The whole body, parsed on first access. @throws GatewayError `invalid-request` */
  get json(): JsonObject {
    return (this.#json ??= this.#parse());
  }

  /**
   * Validates the body by a format's rules. A shortened body that is valid means a valid body, if the format says so;
   * otherwise the whole body is validated, also for the exact error.
   * @param part the request that the body holds, and members that count as present @throws GatewayError `invalid-request`
   */
  validate(client: Checks, part?: RequestPart): void {
    const { implied, requestOf = (body: JsonObject) => body } = part ?? {};
    const complete = (body: JsonObject) => (implied ? { ...implied, ...requestOf(body) } : body);
    if (this.short && client.judgedByOutline && isValid(client, complete(this.short))) return;
    client.checkRequest(complete(this.json));
  }

  /** A top-level string, number or boolean. A shortened string is read in full from the bytes. */
  scalar(name: string): Json | undefined {
    const value = (this.#json ?? this.short)?.[name];
    if (this.#json || value !== CUT_SHORT) return value;
    const span = this.spanOf(name);
    return span && parseJson(textOf(this.bytes, span));
  }

  /** Byte range of the value of a top-level member. */
  spanOf(name: string): Span | undefined {
    if (this.short && !Object.hasOwn(this.short, name)) return undefined;
    const found = this.short && this.#outline!.spanOf(name);
    if (found) return found;
    this.#members ??= scanBody(this.bytes, this.#maxDepth).members;
    return this.#members.get(name);
  }

  /** @throws GatewayError for every fault that a body may have */
  #parse(): JsonObject {
    // The outline has no fault, so neither its depth nor its names have one.
    if (!this.short) this.#scan();
    const body = parse(this.bytes);
    if (!isObject(body)) throw invalidRequest("The request body must be one JSON object.");
    return body;
  }

  #scan(): void {
    const scan = scanBody(this.bytes, this.#maxDepth, MAX_MEMBERS);
    if (scan.tooMany) throw tooManyMembers();
    if (scan.tooDeep)
      throw invalidRequest(
        `The request body nests deeper than ${this.#maxDepth} levels.`,
        undefined,
        "invalid_value",
      );
    if (scan.duplicate !== undefined)
      throw invalidRequest(
        `The request body has the member "${scan.duplicate.slice(0, 80)}" twice.`,
        scan.duplicate.slice(0, 80),
      );
    this.#members = scan.members;
    checkModel(this.bytes, scan.members.get("model"));
  }
}

/** Longest model name, in bytes of UTF-8: weir caches, logs and returns it. No provider has a longer one. */
export const MODEL_BYTES = 256;
/** Most bytes that JSON needs for one byte of a string (`\\u0000`). */
const LONGEST_ESCAPE = 6;

/** Checks the length by byte range first, so that weir does not copy a long name. @throws GatewayError `invalid-request` */
function checkModel(bytes: Uint8Array, span: Span | undefined): void {
  const written = span ? span.end - span.start - 2 : 0;
  if (written <= MODEL_BYTES) return;
  const name = written <= MODEL_BYTES * LONGEST_ESCAPE && parseJson(textOf(bytes, span!));
  if (name === false) throw modelTooLong();
  if (typeof name === "string") checkModelName(name);
}

/** @throws GatewayError `invalid-request` for a name that is too long */
export function checkModelName(name: string): void {
  if (Buffer.byteLength(name) > MODEL_BYTES) throw modelTooLong();
}

function modelTooLong() {
  return invalidRequest(
    `Invalid 'model': a model name has at most ${MODEL_BYTES} bytes.`,
    "model",
    "string_above_max_length",
  );
}

function textOf(bytes: Uint8Array, { start, end }: Span): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start).toString();
}

function countOf(object: JsonObject): number {
  let count = 0;
  for (const _ in object) count++;
  return count;
}

/** Limit of members in a body: vendors define fewer than 100, and weir copies them several times. */
const MAX_MEMBERS = 1000;

function tooManyMembers() {
  return invalidRequest(`The request body has more than ${MAX_MEMBERS} members.`, undefined, "invalid_value");
}

function isValid(client: Checks, body: JsonObject): boolean {
  try {
    client.checkRequest(body);
    return true;
  } catch {
    return false;
  }
}

const decoder = new TextDecoder();

function parse(bytes: Uint8Array): unknown {
  const text = decoder.decode(bytes);
  try {
    return JSON.parse(text);
  } catch (cause) {
    const where = cause instanceof Error ? cause.message.replace(/^JSON Parse error:\s*/, "") : "";
    throw invalidRequest(`The request body is not valid JSON${where ? ` (${where.slice(0, 120)})` : ""}.`);
  }
}
