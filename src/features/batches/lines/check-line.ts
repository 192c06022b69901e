/** Checks one line of an input, and finds its body in the bytes: nothing is written anew, so numbers and the order of members stay. */
import { isUtf8 } from "node:buffer";
import { isObject, type Json, type JsonObject, parseJson } from "../../../core/json.ts";
import { type Scan, scanBody } from "../../../stream/scan.ts";
import type { LineFault } from "../batch.ts";

export interface LineCheck {
  /** The path that the batch names; every line has it as its `url`. */
  readonly endpoint: string;
  /** Levels that a body may nest. */
  readonly depth?: number;
}

export interface CheckedLine {
  readonly customId: string;
  readonly url: string;
  readonly method: "POST";
  /** Range of the body in the line; the end is exclusive. */
  readonly bodyStart: number;
  readonly bodyEnd: number;
  /** The model that the body or the path names. */
  readonly model: string;
}

/** Characters of a `custom_id`. */
export const LONGEST_ID = 256;

export const BLANK = "The line is blank; each line is one JSON object.";

/** Bytes of UTF-8 that the name of a model may have. */
const LONGEST_MODEL = 256;

/** Levels that a body may nest, if the caller does not say. */
const DEPTH = 128;
/** Members that a body may have, as one of an interactive call. */
const MEMBERS = 1000;

/** @param line without its ending @param number counts from 1, for the fault */
export function checkLine(line: Uint8Array, number: number, check: LineCheck): CheckedLine | LineFault {
  const fault = (code: string, message: string, param?: string): LineFault => ({
    ...{ code, line: number, message },
    ...(param !== undefined && { param }),
  });
  const depth = check.depth ?? DEPTH;
  const scan = isUtf8(line) ? scanBody(line, depth + 1) : undefined;
  const json = scan?.tooDeep === false ? objectIn(line) : undefined;
  if (!scan || !json) return fault("invalid_json_line", whyInvalid(line, scan, depth));
  if (scan.duplicate !== undefined)
    return fault("invalid_json_line", `The line has the member "${scan.duplicate.slice(0, 80)}" twice.`);
  const wrong = envelopeFault(json, check.endpoint);
  if (wrong) return fault(...wrong);
  const { start, end } = scan.members.get("body")!;
  const unfit = bodyFault(json["body"] as JsonObject, scanBody(line.subarray(start, end), depth, MEMBERS));
  if (unfit) return fault(...unfit);
  const model = modelIn(check.endpoint) ?? (json["body"] as JsonObject)["model"];
  if (model === undefined)
    return fault("missing_required_parameter", "The body names no model.", "body.model");
  if (typeof model !== "string" || model === "")
    return fault("invalid_body", "`model` must be a string that is not empty.", "body.model");
  if (Buffer.byteLength(model) > LONGEST_MODEL)
    return fault("invalid_body", `\`model\` has more than ${LONGEST_MODEL} bytes.`, "body.model");
  const customId = json["custom_id"] as string;
  return { customId, url: check.endpoint, method: "POST", bodyStart: start, bodyEnd: end, model };
}

/** Whether the check of a line found a fault. */
export function isFault(checked: CheckedLine | LineFault): checked is LineFault {
  return "code" in checked;
}

type Fault = [code: string, message: string, param?: string];

function objectIn(line: Uint8Array): JsonObject | undefined {
  const json = parseJson(textOf(line));
  return isObject(json) ? json : undefined;
}

function textOf({ buffer, byteOffset, byteLength }: Uint8Array): string {
  return Buffer.from(buffer, byteOffset, byteLength).toString("utf8");
}

function whyInvalid(line: Uint8Array, scan: Scan | undefined, depth: number): string {
  if (!scan) return "The line is not valid UTF-8.";
  if (scan.tooDeep) return `The body nests deeper than ${depth} levels.`;
  const text = textOf(line).trim();
  if (text === "") return BLANK;
  return parseJson(text) === undefined ? "The line is not valid JSON." : "The line is not a JSON object.";
}

function envelopeFault(line: JsonObject, endpoint: string): Fault | undefined {
  for (const name of ["custom_id", "method", "url", "body"])
    if (line[name] === undefined || line[name] === "")
      return ["missing_required_parameter", `The line has no \`${name}\`.`, name];
  const { custom_id: id, method, url, body } = line;
  if (typeof id !== "string") return ["invalid_value", "`custom_id` must be a string.", "custom_id"];
  if (id.length > LONGEST_ID)
    return ["string_above_max_length", `\`custom_id\` has more than ${LONGEST_ID} characters.`, "custom_id"];
  if (method !== "POST") return ["invalid_method", "`method` must be `POST`.", "method"];
  if (url !== endpoint)
    return ["url_mismatch", `\`url\` must be the endpoint of the batch, \`${endpoint}\`.`, "url"];
  return isObject(body as Json) ? undefined : ["invalid_body", "`body` must be a JSON object.", "body"];
}

function bodyFault(body: JsonObject, scan: Scan): Fault | undefined {
  if (scan.duplicate !== undefined) {
    const name = scan.duplicate.slice(0, 80);
    return ["invalid_body", `The body has the member "${name}" twice.`, `body.${name}`];
  }
  if (scan.tooMany) return ["invalid_body", `The body has more than ${MEMBERS} members.`, "body"];
  if (body["stream"] === true)
    return [
      "stream_not_supported",
      "An answer of a batch is not streamed; leave `stream` out.",
      "body.stream",
    ];
  return undefined;
}

/** The model in a path with a method: `/v1beta/models/MODEL:generateContent`. */
export function modelIn(endpoint: string): string | undefined {
  return /\/models\/(.+):[a-zA-Z]+$/.exec(endpoint)?.[1];
}
