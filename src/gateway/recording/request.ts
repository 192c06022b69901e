/** Finds the meaning of a call's request, in the same way for record and replay. */
import { withoutCredentials } from "../../core/client-headers.ts";
import type { ChatRequest } from "../../core/chat.ts";
import type { CodecContext } from "../../core/context.ts";
import type { TapedCall } from "../tape.ts";
import { type Mask, type Meaning, meaningOf, meaningOfBody } from "./meaning.ts";

/** The operation whose answers any format can have. */
export const GENERATE = "generate";

/** The context of a codec, without an attempt. @param id ids of an answer derive from it */
export function contextOf(
  { call }: Pick<TapedCall, "call">,
  id = call.id,
  target: { provider: string; model: string } = { provider: "", model: call.model },
  request?: ChatRequest,
): CodecContext {
  return {
    id,
    startedAt: call.startedAt,
    model: call.model,
    headers: withoutCredentials(call.headers),
    sameFormat: false,
    target: { ...target, traits: {}, isVendor: false },
    ...(request && { request }),
    toolNames: new Map(),
    reportLoss() {},
  };
}

export interface ReadRequest {
  meaning: Meaning;
  /** Absent for requests that only their own format can express. */
  request?: ChatRequest;
}

export function readRequest(taped: TapedCall, mask: Mask): ReadRequest {
  const { call, operation, client, body } = taped;
  const request = operation === GENERATE ? decoded(taped) : undefined;
  if (!request) return { meaning: meaningOfBody(body, call.model, mask) };
  const meaning = meaningOf({ ...request, model: call.model }, mask);
  const previous = client.beside.stored && body[client.beside.stored.members.previous];
  if (typeof previous === "string") meaning.options["continues"] = previous;
  return { meaning, request };
}

/** @returns undefined if the canonical request cannot express the body */
function decoded(taped: TapedCall): ChatRequest | undefined {
  try {
    return taped.client.codec.decodeRequest(taped.body, contextOf(taped));
  } catch {
    return undefined;
  }
}
