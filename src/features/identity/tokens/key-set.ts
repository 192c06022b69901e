/** The public keys of an issuer: a JSON Web Key Set. */
import { isObject, type JsonObject, parseJson } from "../../../core/json.ts";
import { type Algorithm, algorithmNamed } from "./algorithms.ts";
import { shown, TokenFault } from "./fault.ts";
import type { Token } from "./token.ts";

/** Most bytes of a document that an issuer publishes, and most keys of a set. */
export const MAX_BYTES = 65_536;
export const MAX_KEYS = 100;

/** Sizes of RSA keys that weir verifies with: short ones are weak, long ones take long. Bytes. */
const RSA_BYTES = { least: 256, most: 1_024 };

/** The members of a public key. Others, such as the private half, are not imported. */
const PUBLIC = ["kty", "crv", "n", "e", "x", "y"] as const;

export class KeySet {
  readonly #keys: readonly JsonObject[];
  /** Imported keys by their place and algorithm. */
  readonly #imported = new Map<string, Promise<CryptoKey>>();

  private constructor(keys: readonly JsonObject[]) {
    this.#keys = keys;
  }

  /** @throws Error with a clause for a text that is no set, or too large */
  static read(text: string): KeySet {
    if (text.length > MAX_BYTES) throw new Error(`the key set has more than ${MAX_BYTES / 1024} KiB`);
    const document = parseJson(text);
    const keys = isObject(document) ? document["keys"] : undefined;
    if (!Array.isArray(keys)) throw new Error("the key set has no list `keys`");
    if (keys.length > MAX_KEYS) throw new Error(`the key set has more than ${MAX_KEYS} keys`);
    const usable = keys.filter(isObject).filter(isForSignatures);
    if (usable.length === 0) throw new Error("the key set has no public key for signatures");
    return new KeySet(usable);
  }

  /** Number of keys. */
  get size(): number {
    return this.#keys.length;
  }

  /** Whether a key of the set may have signed a token. */
  has(token: Pick<Token, "kid" | "alg" | "algorithm">): boolean {
    return this.#find(token) !== undefined;
  }

  /**
   * Whether the signature is that of the issuer. A token with an unknown key takes as long as one with a wrong signature, if the
   * set has a key of that kind.
   * @throws TokenFault for a token with no or an unknown key, or a wrong signature
   */
  async verify(token: Token): Promise<void> {
    const found = this.#find(token);
    const at = found ?? this.#keys.findIndex((key) => fits(key, token));
    const isRight = at >= 0 && (await this.#check(at, token));
    if (found === undefined)
      throw new TokenFault("key", `its kid ${shown(token.kid)} (${token.alg}) is no key of the issuer`);
    if (!isRight) throw new TokenFault("signature", "its signature is wrong");
  }

  /** @returns index of the key */
  #find({ kid, alg, algorithm }: Pick<Token, "kid" | "alg" | "algorithm">): number | undefined {
    const fitting = this.#keys.flatMap((key, index) => (fits(key, { alg, algorithm }) ? [index] : []));
    const named = kid === undefined ? fitting : fitting.filter((index) => this.#keys[index]!["kid"] === kid);
    return named.length === 1 ? named[0] : undefined;
  }

  async #check(at: number, { alg, algorithm, signature, signed }: Token): Promise<boolean> {
    try {
      return await crypto.subtle.verify(
        algorithm.verified,
        await this.#key(at, alg, algorithm),
        signature,
        signed,
      );
    } catch {
      // WebCrypto throws for points that are not on the curve, and for signatures of another length.
      return false;
    }
  }

  #key(at: number, alg: string, { imported }: Algorithm): Promise<CryptoKey> {
    const name = `${at} ${alg}`;
    const known = this.#imported.get(name);
    if (known) return known;
    const key = this.#keys[at]!;
    const jwk = Object.fromEntries(PUBLIC.flatMap((member) => (key[member] ? [[member, key[member]]] : [])));
    const made = crypto.subtle.importKey("jwk", jwk as JsonWebKey, imported, false, ["verify"]);
    this.#imported.set(name, made);
    return made;
  }
}

/** Whether a key can verify tokens with an algorithm. A key that names one verifies no other (RFC 7517 4.4). */
function fits(key: JsonObject, { alg, algorithm }: Pick<Token, "alg" | "algorithm">): boolean {
  if (key["kty"] !== algorithm.kty || (algorithm.crv !== undefined && key["crv"] !== algorithm.crv))
    return false;
  const named = key["alg"];
  return named === undefined || named === alg || algorithmNamed(String(named)) === algorithm;
}

function isForSignatures(key: JsonObject): boolean {
  const { use, key_ops: operations, kty } = key;
  if (use !== undefined && use !== "sig") return false;
  if (Array.isArray(operations) && !operations.includes("verify")) return false;
  if (kty === "RSA") {
    const bytes = typeof key["n"] === "string" ? Buffer.from(key["n"], "base64url").length : 0;
    return bytes >= RSA_BYTES.least && bytes <= RSA_BYTES.most;
  }
  return kty === "EC" || kty === "OKP";
}
