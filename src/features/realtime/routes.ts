/** The operations of realtime, and which connections weir refuses because it could not meter them. */
import { GatewayError } from "../../core/error.ts";

/** Name in the scope `endpoints` of keys. */
export const ENDPOINT = "realtime";

export const SESSION_PATHS = ["/v1/realtime", "/openai/v1/realtime"] as const;
export const SECRETS_PATH = "/v1/realtime/client_secrets";

/** Paths by which media would go around weir, with their operations. */
export const UNMETERED: readonly (readonly [path: string, id: string])[] = [
  ["/v1/realtime/calls", "createRealtimeCall"],
  ["/v1/realtime/calls/{id}/accept", "acceptRealtimeCall"],
  ["/v1/realtime/calls/{id}/hangup", "hangUpRealtimeCall"],
  ["/v1/realtime/calls/{id}/refer", "referRealtimeCall"],
  ["/v1/realtime/calls/{id}/reject", "rejectRealtimeCall"],
];

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

/** @throws GatewayError for anything but exactly one of `model`, `call_id` and `intent=transcription` */
export function readQuery({ searchParams }: URL): Query {
  const model = searchParams.get("model");
  const callId = searchParams.get("call_id");
  const intent = searchParams.get("intent");
  const given = [model, callId, intent].filter((value) => value !== null);
  // Parts of the query are in the logs of proxies.
  if (["api_key", "api-key", "key", "authorization", "token"].some((name) => searchParams.has(name)))
    throw new GatewayError("invalid-request", "Send the key in the header authorization, not in the query.", {
      code: "credential_in_query",
    });
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

const KEY_PROTOCOL = "openai-insecure-api-key.";
const PROTOCOL = "realtime";

/** The subprotocols of a browser: the one that weir chooses, and the credential. The answer never has the credential. */
export function readProtocols(headers: Headers): {
  protocol: string | undefined;
  credential: string | undefined;
} {
  const offered = (headers.get("sec-websocket-protocol") ?? "").split(",").map((name) => name.trim());
  const key = offered.find((name) => name.startsWith(KEY_PROTOCOL));
  return {
    protocol: offered.includes(PROTOCOL) ? PROTOCOL : undefined,
    credential: key?.slice(KEY_PROTOCOL.length),
  };
}

/** A credential in the headers of a request. */
export function presentedIn(headers: Headers): string | undefined {
  const bearer = /^bearer +(\S+)$/i.exec(headers.get("authorization") ?? "")?.[1];
  return bearer ?? headers.get("api-key") ?? headers.get("x-api-key") ?? undefined;
}
