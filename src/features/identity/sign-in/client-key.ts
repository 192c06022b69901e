/** Says who weir is at a provider, with a private key in place of a secret (RFC 7523). */
import { sign } from "node:crypto";
import type { ClientKey } from "./declarations.ts";

/** How long an assertion is valid. Seconds. */
const VALID = 60;

/**
 * The form members that say who weir is.
 * @param address to which they are sent: they are worth nothing anywhere else @param now milliseconds since 1970
 */
export function assertionFor({ key, alg, named }: ClientKey, client: string, address: string, now: number) {
  const at = Math.floor(now / 1_000);
  const claims = {
    ...{ iss: client, sub: client, aud: address, jti: crypto.randomUUID(), iat: at, exp: at + VALID },
  };
  const text = [{ alg, typ: "JWT", ...named }, claims]
    .map((part) => Buffer.from(JSON.stringify(part)).toString("base64url"))
    .join(".");
  const signature = sign("sha256", Buffer.from(text), { key, dsaEncoding: "ieee-p1363" });
  return {
    client_id: client,
    client_assertion_type: "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
    client_assertion: `${text}.${signature.toString("base64url")}`,
  };
}
