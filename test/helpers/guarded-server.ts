/** An authorization server and a server of tools that trusts it, on free ports of this machine: the test changes what they say. */

type Body = Record<string, unknown>;

interface Code {
  readonly client: string;
  readonly redirect: string;
  readonly challenge: string;
  readonly resource: string;
}

export class FakeAuthority {
  readonly url: string;
  readonly host: string;
  /** Changes of the metadata; undefined leaves a member out. */
  metadata: Body = {};
  /** Forms that came to the token endpoint, with the header `authorization`. */
  readonly asked: { form: URLSearchParams; authorization: string | null }[] = [];
  readonly registered: Body[] = [];
  /** Tokens that are good, and refresh tokens. */
  readonly access = new Map<string, { resource: string | null; until: number }>();
  readonly refresh = new Set<string>();
  /** Life of access tokens. Seconds; undefined: it is not told. */
  life: number | undefined = 3_600;
  givesRefresh = true;
  delayMs = 0;
  /** In place of the answer of the token endpoint. */
  answer: { status: number; body: Body } | undefined;
  /** In place of the whole answer. */
  reply: ((url: URL) => Response | undefined) | undefined;
  readonly #codes = new Map<string, Code>();
  readonly #server: Bun.Server<undefined>;
  #number = 0;

  constructor() {
    this.#server = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: (request) => this.#answer(request) });
    this.host = `127.0.0.1:${this.#server.port}`;
    this.url = `http://${this.host}`;
  }

  stop(): Promise<void> {
    return this.#server.stop(true);
  }

  /** The person permits what a browser brings. @returns the query with which the browser comes back */
  consent(location: string): Record<string, string> {
    const query = new URL(location).searchParams;
    const value = (name: string) => query.get(name) ?? "";
    if (value("code_challenge_method") !== "S256") throw new Error("no PKCE");
    const code = `code-${++this.#number}`;
    const [client, redirect] = [value("client_id"), value("redirect_uri")];
    this.#codes.set(code, {
      client,
      redirect,
      challenge: value("code_challenge"),
      resource: value("resource"),
    });
    return { code, state: value("state"), iss: this.url };
  }

  async #answer(request: Request): Promise<Response> {
    const url = new URL(request.url);
    const reply = this.reply?.(url);
    if (reply) return reply;
    if (url.pathname === "/.well-known/oauth-authorization-server") return Response.json(this.#said());
    if (url.pathname === "/register") {
      const body = (await request.json()) as Body;
      this.registered.push(body);
      return Response.json({ ...body, client_id: `registered-${++this.#number}` }, { status: 201 });
    }
    if (url.pathname === "/token") return this.#token(request);
    return new Response(null, { status: 404 });
  }

  #said(): Body {
    return {
      ...{
        issuer: this.url,
        authorization_endpoint: `${this.url}/authorize`,
        token_endpoint: `${this.url}/token`,
      },
      ...{ registration_endpoint: `${this.url}/register`, code_challenge_methods_supported: ["S256"] },
      token_endpoint_auth_methods_supported: ["none", "client_secret_basic", "client_secret_post"],
      authorization_response_iss_parameter_supported: true,
      ...this.metadata,
    };
  }

  async #token(request: Request): Promise<Response> {
    const form = new URLSearchParams(await request.text());
    this.asked.push({ form, authorization: request.headers.get("authorization") });
    if (this.delayMs > 0) await Bun.sleep(this.delayMs);
    if (this.answer) return Response.json(this.answer.body, { status: this.answer.status });
    const refused = () => Response.json({ error: "invalid_grant" }, { status: 400 });
    const grant = form.get("grant_type");
    if (grant === "authorization_code" && !this.#spend(form)) return refused();
    if (grant === "refresh_token" && !this.refresh.delete(form.get("refresh_token") ?? "")) return refused();
    return Response.json(this.give(form.get("resource"), grant !== "client_credentials"));
  }

  #spend(form: URLSearchParams): boolean {
    const code = this.#codes.get(form.get("code") ?? "");
    this.#codes.delete(form.get("code") ?? "");
    const challenge = new Bun.CryptoHasher("sha256")
      .update(form.get("code_verifier") ?? "")
      .digest("base64url");
    return (
      code?.challenge === challenge &&
      code.redirect === form.get("redirect_uri") &&
      code.resource === form.get("resource") &&
      code.client === (form.get("client_id") ?? code.client)
    );
  }

  give(resource: string | null, isForUser = true): Body {
    const access = `planted-access-${++this.#number}`;
    this.access.set(access, { resource, until: Date.now() + (this.life ?? 3_600) * 1_000 });
    const refresh = `planted-refresh-${this.#number}`;
    if (isForUser && this.givesRefresh) this.refresh.add(refresh);
    return {
      ...{ access_token: access, token_type: "Bearer" },
      ...(this.life !== undefined && { expires_in: this.life }),
      ...(isForUser && this.givesRefresh && { refresh_token: refresh }),
    };
  }
}

/** A server that answers whoever has a token of its authority. */
export class FakeGuarded {
  readonly url: string;
  /** Credentials of requests, in order. */
  readonly seen: (string | null)[] = [];
  /** Changes of its document. */
  document: Body = {};
  /** Whether documents are at the usual places. */
  isUsual = true;
  challenge = "";
  /** Speaks revision 2026-07-28, else 2025-11-25. */
  isModern = false;
  /** Bodies of requests that had a good credential. */
  readonly bodies: { readonly credential: string; readonly text: string }[] = [];
  readonly #server: Bun.Server<undefined>;

  constructor(public authority: FakeAuthority) {
    this.#server = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: (request) => this.#answer(request) });
    this.url = `http://127.0.0.1:${this.#server.port}/mcp`;
  }

  stop(): Promise<void> {
    return this.#server.stop(true);
  }

  async #answer(request: Request): Promise<Response> {
    const { pathname, origin } = new URL(request.url);
    const isDocument = this.isUsual
      ? pathname === "/.well-known/oauth-protected-resource/mcp"
      : pathname === "/elsewhere";
    if (isDocument)
      return Response.json({
        resource: this.url,
        authorization_servers: [this.authority.url],
        ...this.document,
      });
    if (pathname !== "/mcp") return new Response(null, { status: 404 });
    const credential = request.headers.get("authorization");
    this.seen.push(credential);
    const token = this.authority.access.get(credential?.replace("Bearer ", "") ?? "");
    if (token && Date.now() < token.until && token.resource === this.url)
      return this.#said(credential!, await request.text());
    const header = this.isUsual
      ? `Bearer${this.challenge}`
      : `Bearer resource_metadata="${origin}/elsewhere"`;
    return new Response(null, { status: 401, headers: { "www-authenticate": header } });
  }

  /** A small server of one tool, which repeats its arguments. */
  #said(credential: string, text: string): Response {
    if (text === "") return Response.json({ ok: true });
    this.bodies.push({ credential, text });
    const { id, method, params } = JSON.parse(text) as { id?: number; method: string; params: Body };
    if (id === undefined) return new Response(null, { status: 202 });
    const result = (this.isModern ? modern : legacy)(method, params);
    const answer = result ? { result } : { error: { code: -32601, message: "Method not found" } };
    return Response.json({ jsonrpc: "2.0", id, ...answer }, { status: result || !this.isModern ? 200 : 404 });
  }
}

function legacy(method: string, params: Body): Body | undefined {
  if (method === "tools/list") return { tools: [{ name: "echo", inputSchema: { type: "object" } }] };
  if (method === "tools/call")
    return { content: [{ type: "text", text: JSON.stringify(params["arguments"]) }] };
  if (method !== "initialize") return undefined;
  const serverInfo = { name: "guarded", version: "1" };
  return { protocolVersion: "2025-11-25", capabilities: { tools: {} }, serverInfo };
}

function modern(method: string, params: Body): Body | undefined {
  const common = { resultType: "complete", ttlMs: 0, cacheScope: "private" };
  if (method === "server/discover")
    return { ...common, supportedVersions: ["2026-07-28"], capabilities: { tools: {} } };
  const result = method === "initialize" ? undefined : legacy(method, params);
  return result && { ...common, ...result };
}
