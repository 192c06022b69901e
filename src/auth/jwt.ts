/** Signs JSON Web Tokens (RFC 7519). */
import type { JsonObject } from "../core/json.ts";

/**
 * A token signed with RS256.
 * @param privateKey in PEM
 * @param keyId header `kid`
 * @throws Error if the key is no RSA key
 */
export function signJwt(claims: JsonObject, privateKey: string, keyId?: string): string {
  const header = { alg: "RS256", typ: "JWT", ...(keyId !== undefined && { kid: keyId }) };
  const text = `${encode(header)}.${encode(claims)}`;
  // The module is loaded by the first token: most gateways need none.
  const { sign } = process.getBuiltinModule("node:crypto");
  return `${text}.${sign("RSA-SHA256", Buffer.from(text), privateKey).toString("base64url")}`;
}

function encode(value: JsonObject): string {
  return Buffer.from(JSON.stringify(value)).toString("base64url");
}
