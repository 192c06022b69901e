/** What a client asks for when it opens a session, and what weir refuses because it could not meter it. */
import { GatewayError } from "../../core/error.ts";

/** Name in the scope `endpoints` of keys. */
export const ENDPOINT = "realtime";

/** Media of WebRTC and SIP go between client and provider. */
export function unmetered(): GatewayError {
  return new GatewayError(
    "permission",
    "weir opens no calls by WebRTC or SIP: their audio would go around weir, which could not hold, meter or end them. Open a WebSocket at /v1/realtime.",
    { code: "realtime_unmetered" },
  );
}

/** What the query of a session asks for. */
export type Query = { readonly model: string } | { readonly transcribes: true };

/** Parts of the query are in the logs of proxies. @throws GatewayError for one that has a credential */
export function assertNoCredential({ searchParams }: URL): void {
  if (!["api_key", "api-key", "key", "authorization", "token"].some((name) => searchParams.has(name))) return;
  throw new GatewayError("invalid-request", "Send the key in the header authorization, not in the query.", {
    code: "credential_in_query",
  });
}

/** @throws GatewayError for anything but exactly one of `model`, `call_id` and `intent=transcription` */
export function readQuery({ searchParams }: URL): Query {
  const model = searchParams.get("model");
  const callId = searchParams.get("call_id");
  const intent = searchParams.get("intent");
  const given = [model, callId, intent].filter((value) => value !== null);
  if (given.length !== 1 || given[0] === "")
    throw new GatewayError(
      "invalid-request",
      "The query must have exactly one of `model`, `call_id` and `intent=transcription`.",
      { param: "model" },
    );
  if (callId !== null) throw unmetered();
  if (model !== null) return { model };
  if (intent === "transcription") return { transcribes: true };
  throw new GatewayError("invalid-request", "`intent` must be `transcription`.", { param: "intent" });
}

/** A credential in the headers of a request. */
export function presentedIn(headers: Headers): string | undefined {
  const bearer = /^bearer +(\S+)$/i.exec(headers.get("authorization") ?? "")?.[1];
  return bearer ?? headers.get("api-key") ?? headers.get("x-api-key") ?? undefined;
}
