/** What a client asks for by a frame, and the request that weir makes of it. */
import { invalidRequest } from "../../core/error.ts";
import { isObject, type JsonObject, parseJson } from "../../core/json.ts";
import { editMembers, scanBody } from "../../stream/scan.ts";
import type { Kept } from "./kept.ts";

/** One `response.create`. */
export interface Asked {
  /** The frame. */
  readonly json: JsonObject;
  readonly bytes: Uint8Array;
  /** The client reads the answers of several requests at once, and tells them apart by this. */
  readonly streamId?: string;
  /** The client wants no answer yet: it sends what the next request continues. */
  readonly isWarmUp: boolean;
}

/** Members of the envelope, which `POST /v1/responses` does not have. */
const ENVELOPE = ["type", "stream_id", "generate"] as const;
const MOST_STREAM_ID = 128;
/** The nesting is judged with the request. */
const ANY_DEPTH = 100_000;

/** The member `stream_id` of a frame, also of one that is no request. */
export function streamIdOf(text: string): string | undefined {
  const json = parseJson(text);
  const id = isObject(json) ? json["stream_id"] : undefined;
  return typeof id === "string" && id.length <= MOST_STREAM_ID ? id : undefined;
}

/** @throws GatewayError `invalid-request` for a frame that is no `response.create` */
export function readAsked(text: string): Asked {
  const json = parseJson(text);
  if (!isObject(json)) throw invalidRequest("A frame must be one JSON object.");
  const { type, stream_id: streamId, generate, background } = json;
  if (type !== "response.create")
    throw invalidRequest(
      `The event ${typeof type === "string" ? `"${type.slice(0, 60)}"` : "without a type"} is not supported; send response.create.`,
      "type",
    );
  if (streamId !== undefined && (typeof streamId !== "string" || streamId.length > MOST_STREAM_ID))
    throw invalidRequest(
      `Invalid 'stream_id': expected a text of at most ${MOST_STREAM_ID} characters.`,
      "stream_id",
    );
  if (background === true)
    throw invalidRequest("A response in the background cannot be asked for over a WebSocket.", "background");
  return {
    ...{ json, bytes: new TextEncoder().encode(text), isWarmUp: generate === false },
    ...(streamId !== undefined && { streamId }),
  };
}

/** The body for `POST /v1/responses`. Bytes that need no change are those of the client. @param kept what the request continues */
export function bodyOf({ bytes, json }: Asked, kept: Kept | undefined): Uint8Array {
  const { members } = scanBody(bytes, ANY_DEPTH);
  const edits = new Map<string, string | undefined>(ENVELOPE.map((name) => [name, undefined]));
  edits.set("stream", "true");
  if (kept) {
    edits.set("previous_response_id", kept.before === undefined ? undefined : JSON.stringify(kept.before));
    edits.set("input", `[${[...kept.items, ...inputOf({ bytes, json })].join(",")}]`);
  }
  return Buffer.concat(editMembers(bytes, edits, (name) => members.get(name)));
}

/** The items of the input, as JSON. */
export function inputOf({ bytes, json }: Pick<Asked, "bytes" | "json">): string[] {
  const { input } = json;
  if (input === undefined || input === null) return [];
  if (!Array.isArray(input)) return [JSON.stringify({ type: "message", role: "user", content: input })];
  if (input.length === 0) return [];
  const { start, end } = scanBody(bytes, ANY_DEPTH).members.get("input")!;
  return [new TextDecoder().decode(bytes.subarray(start + 1, end - 1))];
}
