/** Calls whose URL names the model and selects a stream; the bodies of the format have no members for them. */
import type { Call } from "../core/call.ts";
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
