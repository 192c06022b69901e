/** The subprotocols with which clients open sessions. */

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
