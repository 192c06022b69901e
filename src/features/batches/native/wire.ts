/** Reads and writes what batch APIs have in common. */
import { randomBytes } from "node:crypto";
import { isObject, type JsonObject, parseJson } from "../../../core/json.ts";
import type { UpstreamResponse } from "../../../gateway/lanes/carrier.ts";
import { readLines } from "../lines/read-lines.ts";
import { HostRefusal } from "./host.ts";

/** Bytes of an answer in a file of results. */
const ANSWER_BYTES = 256 * 1024 * 1024;
/** Characters of a host's message. */
const MESSAGE = 300;

const encoder = new TextEncoder();

/** @throws HostRefusal */
export async function jsonOf(response: UpstreamResponse): Promise<JsonObject> {
  const bytes = await response.bytes();
  const json = parseJson(Buffer.from(bytes).toString());
  if (!response.ok) throw new HostRefusal(response.status, messageIn(json) ?? `status ${response.status}`);
  if (!isObject(json)) throw new HostRefusal(502, "the host answered with something else than JSON");
  return json;
}

function messageIn(json: unknown): string | undefined {
  const error = isObject(json as JsonObject) ? (json as JsonObject)["error"] : undefined;
  const message = isObject(error) ? error["message"] : undefined;
  return typeof message === "string" ? message.slice(0, MESSAGE) : undefined;
}

/** Lines of a body of JSONL as they arrive. The bytes are valid until the next line. @throws HostRefusal */
export async function* linesOf(response: UpstreamResponse): AsyncGenerator<Uint8Array, void> {
  if (!response.ok) await jsonOf(response);
  for await (const { bytes, isTooLarge } of readLines(piecesOf(response), { line: ANSWER_BYTES })) {
    if (isTooLarge) throw new HostRefusal(502, "a line of the results is too long");
    if (bytes.length > 0) yield bytes;
  }
}

async function* piecesOf({ body }: UpstreamResponse): AsyncGenerator<Uint8Array, void> {
  const reader = body?.getReader();
  if (!reader) return;
  let isRead = false;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (value) yield value;
      if (done) break;
    }
    isRead = true;
  } finally {
    if (!isRead) await reader.cancel();
  }
}

/** A form with one file. @returns its content type, and its bytes in pieces */
export function formOf(
  fields: Readonly<Record<string, string>>,
  file: { readonly name: string; readonly pieces: readonly Uint8Array[] },
): { type: string; bytes: Uint8Array[] } {
  const boundary = `weir-${randomBytes(16).toString("hex")}`;
  const head = Object.entries(fields).map(
    ([name, value]) => `--${boundary}\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
  );
  head.push(
    `--${boundary}\r\ncontent-disposition: form-data; name="file"; filename="${file.name}"\r\ncontent-type: application/jsonl\r\n\r\n`,
  );
  return {
    type: `multipart/form-data; boundary=${boundary}`,
    bytes: [encoder.encode(head.join("")), ...file.pieces, encoder.encode(`\r\n--${boundary}--\r\n`)],
  };
}

export function jsonBody(value: unknown): { type: string; bytes: Uint8Array[] } {
  return { type: "application/json", bytes: [encoder.encode(JSON.stringify(value))] };
}

/** @returns an empty text for anything else */
export function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

export function objectsIn(value: unknown): JsonObject[] {
  return Array.isArray(value) ? value.filter((one) => isObject(one)) : [];
}
