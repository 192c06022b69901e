/** How a program says who it is at a token endpoint: with a secret (RFC 6749 2.3.1), or with a private key (RFC 7523). */
import { createPrivateKey, type KeyObject, sign } from "node:crypto";

/** Least length of a key. Bits. */
const RSA_BITS = 2_048;

export interface ClientKey {
  readonly key: KeyObject;
  readonly alg: "ES256" | "RS256";
  /** What a JWK says of itself: providers find the public key by it. Entra wants the thumbprint of the certificate. */
  readonly named: Readonly<Record<string, string>>;
}

const NAMES = ["kid", "x5t", "x5t#S256"];

/** @param text PEM or JWK @throws Error with a clause */
export function readClientKey(text: string): ClientKey {
  const jwk = text.trim().startsWith("{") ? (JSON.parse(text) as Record<string, unknown>) : undefined;
  const key = jwk ? createPrivateKey({ key: jwk as never, format: "jwk" }) : createPrivateKey(text);
  const { asymmetricKeyType: type, asymmetricKeyDetails: details } = key;
  const named = Object.fromEntries(
    NAMES.flatMap((name) => (typeof jwk?.[name] === "string" ? [[name, jwk[name]]] : [])),
  );
  if (type === "ec" && details?.namedCurve === "prime256v1") return { key, alg: "ES256", named };
  if (type === "rsa" && (details?.modulusLength ?? 0) >= RSA_BITS) return { key, alg: "RS256", named };
  throw new Error("is of another kind");
}

/** A clause that states the fault of a key; undefined when there is none. It has nothing of the key. */
export function clientKeyFault(text: string): string | undefined {
  try {
    readClientKey(text);
    return undefined;
  } catch {
    return `must be a private key as PEM or JWK: EC of the curve P-256, or RSA of at least ${RSA_BITS} bits`;
  }
}

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

/** With a secret in a header: both parts are form-encoded first. */
export function basicAuthorization(client: string, secret: string): string {
  const pair = [client, secret].map((text) => new URLSearchParams({ x: text }).toString().slice(2)).join(":");
  return `Basic ${Buffer.from(pair).toString("base64")}`;
}
