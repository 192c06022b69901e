/** How a program says who it is with a secret (RFC 6749 2.3.1): both parts are form-encoded first. */
export function basicAuthorization(client: string, secret: string): string {
  const pair = [client, secret].map((text) => new URLSearchParams({ x: text }).toString().slice(2)).join(":");
  return `Basic ${Buffer.from(pair).toString("base64")}`;
}
