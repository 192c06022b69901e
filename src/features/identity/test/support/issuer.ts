/** An issuer of tokens on a free port of this machine: metadata, keys that rotate, and tokens as vendors make them. */

type Claims = Record<string, unknown>;

const KINDS = {
  RS256: {
    name: "RSASSA-PKCS1-v1_5",
    hash: "SHA-256",
    modulusLength: 2048,
    publicExponent: new Uint8Array([1, 0, 1]),
  },
  RS512: {
    name: "RSASSA-PKCS1-v1_5",
    hash: "SHA-512",
    modulusLength: 2048,
    publicExponent: new Uint8Array([1, 0, 1]),
  },
  PS256: { name: "RSA-PSS", hash: "SHA-256", modulusLength: 2048, publicExponent: new Uint8Array([1, 0, 1]) },
  ES256: { name: "ECDSA", namedCurve: "P-256" },
  ES384: { name: "ECDSA", namedCurve: "P-384" },
  EdDSA: { name: "Ed25519" },
} as const;

const SIGNED = {
  RS256: { name: "RSASSA-PKCS1-v1_5" },
  RS512: { name: "RSASSA-PKCS1-v1_5" },
  PS256: { name: "RSA-PSS", saltLength: 32 },
  ES256: { name: "ECDSA", hash: "SHA-256" },
  ES384: { name: "ECDSA", hash: "SHA-384" },
  EdDSA: { name: "Ed25519" },
} as const;

export type Alg = keyof typeof KINDS;

/** A key of an issuer. */
export class SigningKey {
  private constructor(
    readonly kid: string,
    readonly alg: Alg,
    readonly privateKey: CryptoKey,
    readonly jwk: JsonWebKey & { kid: string; alg: string; use: string },
  ) {}

  static async make(kid: string, alg: Alg): Promise<SigningKey> {
    const pair = (await crypto.subtle.generateKey(KINDS[alg], true, ["sign", "verify"])) as CryptoKeyPair;
    const { kty, crv, n, e, x, y } = await crypto.subtle.exportKey("jwk", pair.publicKey);
    const parts = Object.entries({ kty, crv, n, e, x, y }).filter(([, value]) => value !== undefined);
    return new SigningKey(kid, alg, pair.privateKey, { ...Object.fromEntries(parts), kid, alg, use: "sig" });
  }

  /** A token. @param header members in place of the usual ones; undefined leaves one out */
  async sign(claims: Claims, header: Claims = {}): Promise<string> {
    return this.signRaw(
      JSON.stringify({ alg: this.alg, typ: "JWT", kid: this.kid, ...header }),
      JSON.stringify(claims),
    );
  }

  /** A token of texts that need not be JSON. */
  async signRaw(header: string | Uint8Array, payload: string | Uint8Array): Promise<string> {
    const text = `${base64url(header)}.${base64url(payload)}`;
    const signature = await crypto.subtle.sign(
      SIGNED[this.alg],
      this.privateKey,
      new TextEncoder().encode(text),
    );
    return `${text}.${base64url(new Uint8Array(signature))}`;
  }
}

export function base64url(data: string | Uint8Array): string {
  return Buffer.from(data as Uint8Array).toString("base64url");
}

export class Issuer {
  readonly url: string;
  /** Published keys; the first one signs. */
  keys: SigningKey[];
  /** In place of the key set, or of a member of the metadata. */
  published: { keySet?: string; metadata?: Claims; status?: number; headers?: Record<string, string> } = {};
  /** Requests by path. */
  readonly asked: string[] = [];
  /** Answers late. Milliseconds. */
  delayMs = 0;
  /** Further routes, such as those of a sign-in. */
  answer: ((request: Request, url: URL) => Response | undefined | Promise<Response | undefined>) | undefined;
  readonly #server: Bun.Server<undefined>;

  private constructor(keys: SigningKey[], path: string) {
    this.keys = keys;
    this.#server = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      fetch: (request) => this.#answer(request, path),
    });
    this.url = `http://127.0.0.1:${this.#server.port}${path}`;
  }

  static async start(alg: Alg = "ES256", path = ""): Promise<Issuer> {
    return new Issuer([await SigningKey.make("first", alg)], path);
  }

  /** A token with the usual claims. */
  token(claims: Claims = {}, header: Claims = {}): Promise<string> {
    return this.keys[0]!.sign({ ...this.usual(), ...claims }, header);
  }

  usual(): Claims {
    const now = Math.floor(Date.now() / 1_000);
    return {
      iss: this.url,
      aud: "weir",
      sub: "somebody",
      iat: now,
      nbf: now,
      exp: now + 600,
      email: "alice@corp.example",
    };
  }

  /** How often the keys were asked for. */
  get fetches(): number {
    return this.asked.filter((path) => path.endsWith("/keys")).length;
  }

  async stop(): Promise<void> {
    await this.#server.stop(true);
  }

  async #answer(request: Request, path: string): Promise<Response> {
    const url = new URL(request.url);
    this.asked.push(url.pathname);
    if (this.delayMs > 0) await Bun.sleep(this.delayMs);
    const { keySet, metadata, status = 200, headers } = this.published;
    if (url.pathname === `${path}/.well-known/openid-configuration`)
      return Response.json(
        {
          issuer: this.url,
          jwks_uri: `${this.url}/keys`,
          authorization_endpoint: `${this.url}/authorize`,
          token_endpoint: `${this.url}/token`,
          userinfo_endpoint: `${this.url}/userinfo`,
          ...metadata,
        },
        { status },
      );
    if (url.pathname === `${path}/keys`)
      return new Response(keySet ?? JSON.stringify({ keys: this.keys.map(({ jwk }) => jwk) }), {
        status,
        headers,
      });
    return (await this.answer?.(request, url)) ?? new Response("not found", { status: 404 });
  }
}
