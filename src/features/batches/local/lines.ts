/** Input of a command: lines of a batch, or bodies alone, without what the flags say. */
import type { JsonObject } from "../../../core/json.ts";
import { isObject, parseJson } from "../../../core/json.ts";
import { scanBody } from "../../../stream/scan.ts";
import { modelIn } from "../lines/check-line.ts";
import { readLines } from "../lines/read-lines.ts";

export interface Given {
  /** Path that each line asks. */
  readonly endpoint: string;
  /** For lines that name none. */
  readonly model?: string;
}

const OPEN = 0x7b;
const DEPTH = 200;
const LF = Uint8Array.of(0x0a);

/** Lines with all members that they need; the bytes of what a line has stay. */
export async function* completeLines(
  chunks: AsyncIterable<Uint8Array>,
  given: Given,
): AsyncGenerator<Uint8Array> {
  for await (const { bytes, number, isTooLarge } of readLines(chunks)) {
    if (isTooLarge) throw new Error(`line ${number} has more than 8 MB`);
    yield completeLine(bytes, number, given);
    yield LF;
  }
}

/** @returns a line that is no JSON object as it is: the check of the input says why */
export function completeLine(line: Uint8Array, number: number, given: Given): Uint8Array {
  const text = Buffer.from(line).toString();
  const json = parseJson(text);
  if (!isObject(json)) return Buffer.from(line);
  const isEnvelope = isObject(json["body"]) || json["custom_id"] !== undefined;
  if (!isEnvelope) {
    const body = withModel(line, json, given);
    return Buffer.concat([
      Buffer.from(
        `{"custom_id":"line-${number}","method":"POST","url":${JSON.stringify(given.endpoint)},"body":`,
      ),
      body,
      Buffer.from("}"),
    ]);
  }
  const missing = {
    ...(json["custom_id"] === undefined && { custom_id: `line-${number}` }),
    ...(json["method"] === undefined && { method: "POST" }),
    ...(json["url"] === undefined && { url: given.endpoint }),
  };
  const place = scanBody(line, DEPTH).members.get("body");
  if (!place || !isObject(json["body"])) return withMembers(line, json, missing);
  const body = withModel(line.subarray(place.start, place.end), json["body"], given);
  const whole = Buffer.concat([line.subarray(0, place.start), body, line.subarray(place.end)]);
  return withMembers(whole, json, missing);
}

function withModel(body: Uint8Array, json: JsonObject, { model, endpoint }: Given): Uint8Array {
  const isNamed = json["model"] !== undefined || modelIn(endpoint) !== undefined;
  return withMembers(body, json, isNamed || model === undefined ? {} : { model });
}

/** Puts members in front of those of an object. */
function withMembers(object: Uint8Array, json: JsonObject, members: Record<string, string>): Uint8Array {
  const written = Object.entries(members).map(
    ([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`,
  );
  if (written.length === 0) return object;
  const start = object.indexOf(OPEN) + 1;
  const rest = Object.keys(json).length > 0 ? "," : "";
  return Buffer.concat([
    object.subarray(0, start),
    Buffer.from(written.join() + rest),
    object.subarray(start),
  ]);
}
