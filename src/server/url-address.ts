/** Calls whose URL names the model: of formats whose bodies have no members for model and stream, and at other bases. */
import type { Call } from "../core/call.ts";
import type { ClientRoutes } from "../core/format.ts";
import type { UrlAddress } from "../core/url-address.ts";
import { GatewayError, invalidRequest } from "../core/error.ts";
import type { JsonObject } from "../core/json.ts";
import { editMembers } from "../stream/scan.ts";
import { checkModelName, RequestBody } from "./request-body.ts";

/** Reads the URL of a call. @param stream whether the path asks for a stream @throws GatewayError for a path without a model */
export function addressCall(call: Call, address: UrlAddress, { url }: Request, stream: boolean): void {
  const { pathname, searchParams } = new URL(url);
  const model = address.modelOf(pathname);
  if (model === undefined)
    throw new GatewayError("not-found", "The path names no model.", { code: "unknown_url" });
  checkModelName(model);
  call.model = model;
  call.stream = stream;
  call.asArray = stream && !address.wantsEvents(searchParams);
}

/** The body of a call with what its URL says. */
export function withAddress(body: JsonObject, { model, stream }: Pick<Call, "model" | "stream">): JsonObject {
  return { ...body, model, stream };
}

/**
 * The body that a client would send, from one with the members `model` and `stream` beside its own.
 * @throws GatewayError `invalid-request` if the model is no name
 */
export function withoutAddress(body: RequestBody, maxDepth: number): RequestBody {
  const model = body.scalar("model");
  if (typeof model !== "string" || model === "")
    throw invalidRequest("model: expected a non-empty string", "model", "invalid_value");
  const removed = new Map(["model", "stream"].map((name) => [name, undefined]));
  return new RequestBody(
    Buffer.concat(editMembers(body.bytes, removed, (name) => body.spanOf(name))),
    maxDepth,
  );
}

/** Reads the model name in a path; `undefined` where the path names none. */
export type ModelInPath = (url: string) => string | undefined;

/** For the paths of a format at its other bases; `undefined` if none of them contains a model name. */
export function modelInPath({ bases = [] }: ClientRoutes): ModelInPath | undefined {
  const named = bases.filter((base) => base.includes(PLACEHOLDER));
  if (named.length === 0) return undefined;
  // Most requests are for other paths, which have no such beginning.
  const beginnings = named.map((base) => base.slice(0, base.indexOf(PLACEHOLDER)));
  return (url) => {
    if (!beginnings.some((beginning) => url.includes(beginning))) return undefined;
    const { pathname } = new URL(url);
    const beginning = beginnings.find((each) => pathname.startsWith(each));
    return beginning === undefined ? undefined : decoded(pathname.slice(beginning.length).split("/", 1)[0]!);
  };
}

const PLACEHOLDER = "{model}";

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** The body with the model that its path names, also if it names another one or none. */
export function withModelOfPath(body: RequestBody, model: string | undefined, maxDepth: number): RequestBody {
  if (model === undefined || body.scalar("model") === model) return body;
  const edits = new Map([["model", JSON.stringify(model)]]);
  const bytes = editMembers(body.bytes, edits, (name) => body.spanOf(name));
  return new RequestBody(Buffer.concat(bytes), maxDepth);
}
