/** The signature algorithms that weir accepts, all of them asymmetric: a public key is no secret, so none of them can be confused with HMAC. */

/** What WebCrypto needs to know of an algorithm. */
export interface Algorithm {
  /** `kty` and `crv` of its keys. */
  readonly kty: "RSA" | "EC" | "OKP";
  readonly crv?: string;
  readonly imported: RsaHashedImportParams | EcKeyImportParams | { name: "Ed25519" };
  readonly verified: AlgorithmIdentifier | RsaPssParams | EcdsaParams;
  /** Bytes of a signature; absent: those of the key. */
  readonly bytes?: number;
}

const rsa = (name: string, hash: string, saltLength?: number): Algorithm => ({
  kty: "RSA",
  imported: { name, hash },
  verified: saltLength === undefined ? { name } : { name, saltLength },
});

const ec = (crv: string, hash: string, bytes: number): Algorithm => ({
  ...{ kty: "EC", crv, bytes },
  imported: { name: "ECDSA", namedCurve: crv },
  verified: { name: "ECDSA", hash },
});

const ED25519: Algorithm = {
  ...{ kty: "OKP", crv: "Ed25519", bytes: 64 },
  imported: { name: "Ed25519" },
  verified: { name: "Ed25519" },
};

const ALGORITHMS: Readonly<Record<string, Algorithm>> = {
  RS256: rsa("RSASSA-PKCS1-v1_5", "SHA-256"),
  RS384: rsa("RSASSA-PKCS1-v1_5", "SHA-384"),
  RS512: rsa("RSASSA-PKCS1-v1_5", "SHA-512"),
  PS256: rsa("RSA-PSS", "SHA-256", 32),
  PS384: rsa("RSA-PSS", "SHA-384", 48),
  PS512: rsa("RSA-PSS", "SHA-512", 64),
  ES256: ec("P-256", "SHA-256", 64),
  ES384: ec("P-384", "SHA-384", 96),
  ES512: ec("P-521", "SHA-512", 132),
  EdDSA: ED25519,
  Ed25519: ED25519,
};

/** @returns undefined for a name that weir does not accept, such as `none` and `HS256` */
export function algorithmNamed(name: string): Algorithm | undefined {
  return Object.hasOwn(ALGORITHMS, name) ? ALGORITHMS[name] : undefined;
}
