/** An issuer of tokens on this machine: its metadata, one key, and tokens of people. */

const CURVE = { name: "ECDSA", namedCurve: "P-256" } as const;

export interface Issuer {
  url: string;
  token(subject: string): Promise<string>;
  stop(): Promise<void>;
}

export async function startIssuer(): Promise<Issuer> {
  const pair = await crypto.subtle.generateKey(CURVE, true, ["sign", "verify"]);
  const { kty, crv, x, y } = await crypto.subtle.exportKey("jwk", pair.publicKey);
  const keys = [{ kty, crv, x, y, kid: "one", alg: "ES256", use: "sig" }];
  const server: Bun.Server<undefined> = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: (request): Response =>
      Response.json(request.url.endsWith("/keys") ? { keys } : { issuer: url, jwks_uri: `${url}/keys` }),
  });
  const url: string = `http://127.0.0.1:${server.port}`;
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
  return {
    url,
    async token(subject) {
      const now = Math.floor(Date.now() / 1_000);
      const claims = {
        ...{ iss: url, aud: "weir", sub: subject, email: `${subject}@corp.example`, groups: [] },
        ...{ iat: now, exp: now + 3_600 },
      };
      const text = `${part({ alg: "ES256", typ: "JWT", kid: "one" })}.${part(claims)}`;
      const how = { name: "ECDSA", hash: "SHA-256" };
      const signature = await crypto.subtle.sign(how, pair.privateKey, new TextEncoder().encode(text));
      return `${text}.${Buffer.from(signature).toString("base64url")}`;
    },
    stop: () => server.stop(true),
  };
}
