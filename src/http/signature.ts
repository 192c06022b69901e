/** Signs requests that weir sends to receivers of the operator. */

/**
 * The headers that identify and sign a request by the rules of Standard Webhooks (https://www.standardwebhooks.com), for which
 * libraries exist.
 * @param at seconds since 1970
 * @param secret absent: not signed. `whsec_` and base64, or any other text
 */
export function signatureHeaders(
  id: string,
  at: number,
  body: string,
  secret: string | undefined,
): Record<string, string> {
  const headers = { "webhook-id": id, "webhook-timestamp": String(at) };
  if (secret === undefined) return headers;
  const prefix = "whsec_";
  const key = secret.startsWith(prefix) ? Buffer.from(secret.slice(prefix.length), "base64") : secret;
  const signature = new Bun.CryptoHasher("sha256", key).update(`${id}.${at}.${body}`).digest("base64");
  return { ...headers, "webhook-signature": `v1,${signature}` };
}
