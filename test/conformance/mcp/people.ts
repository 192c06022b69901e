/** A provider at which everybody is signed in already, and signs in at weir as the same person (OpenID Connect). */

const CURVE = { name: "ECDSA", namedCurve: "P-256" } as const;
const SIGNED = { name: "ECDSA", hash: "SHA-256" } as const;

/** What weir is there, for its config. */
export const CLIENT = { client: "weir", secret: "planted-client-secret" };
/** Group of the person. */
export const GROUP = "users";

export interface People {
  readonly issuer: string;
  stop(): Promise<void>;
}

export async function startPeople(): Promise<People> {
  const pair = await crypto.subtle.generateKey(CURVE, true, ["sign", "verify"]);
  const { kty, crv, x, y } = await crypto.subtle.exportKey("jwk", pair.publicKey);
  const nonces = new Map<string, string>();
  const token = async (nonce: string) => {
    const now = Math.floor(Date.now() / 1_000);
    const who = { sub: "alice-1", name: "Alice", email: "alice@corp.example", email_verified: true };
    const claims = {
      ...{ iss: issuer, aud: CLIENT.client, iat: now, exp: now + 300, nonce },
      ...{ ...who, groups: [GROUP] },
    };
    const text = `${part({ alg: "ES256", typ: "JWT", kid: "one" })}.${part(claims)}`;
    const signature = await crypto.subtle.sign(SIGNED, pair.privateKey, new TextEncoder().encode(text));
    return `${text}.${Buffer.from(signature).toString("base64url")}`;
  };
  const routes: Record<string, (request: Request, query: URLSearchParams) => Response | Promise<Response>> = {
    "/.well-known/openid-configuration": () =>
      Response.json({
        ...{ issuer, jwks_uri: `${issuer}/keys`, token_endpoint: `${issuer}/token` },
        authorization_endpoint: `${issuer}/authorize`,
      }),
    "/keys": () => Response.json({ keys: [{ kty, crv, x, y, kid: "one", alg: "ES256", use: "sig" }] }),
    "/authorize"(_, query) {
      const code = crypto.randomUUID();
      nonces.set(code, query.get("nonce") ?? "");
      const back = new URL(query.get("redirect_uri") ?? "");
      const answer = { code, state: query.get("state") ?? "", iss: issuer };
      for (const [name, value] of Object.entries(answer)) back.searchParams.set(name, value);
      return Response.redirect(back.href);
    },
    async "/token"(request) {
      const code = new URLSearchParams(await request.text()).get("code") ?? "";
      const nonce = nonces.get(code);
      if (!nonces.delete(code)) return Response.json({ error: "invalid_grant" }, { status: 400 });
      const given = { access_token: "opaque", token_type: "Bearer", expires_in: 300 };
      return Response.json({ ...given, id_token: await token(nonce ?? "") });
    },
  };
  const server: Bun.Server<undefined> = Bun.serve({
    ...{ hostname: "127.0.0.1", port: 0 },
    fetch(request): Response | Promise<Response> {
      const { pathname, searchParams } = new URL(request.url);
      return routes[pathname]?.(request, searchParams) ?? new Response(null, { status: 404 });
    },
  });
  const issuer: string = `http://127.0.0.1:${server.port}`;
  return { issuer, stop: () => server.stop(true) };
}

function part(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString("base64url");
}
