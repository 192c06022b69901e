/** A browser and a provider for sign-ins: the test plays both, and each step can be broken. */
import type { Issuer, SigningKey } from "./issuer.ts";

/** What a test changes at the provider or on the way back. */
export interface Broken {
  /** Claims of the ID token; undefined leaves one out. */
  claims?: Record<string, unknown>;
  header?: Record<string, unknown>;
  /** Signs in place of the issuer's key. */
  key?: SigningKey;
  /** The ID token as a whole. */
  idToken?: (right: string) => string | undefined;
  userinfo?: Record<string, unknown> | null;
  token?: { status?: number; body?: unknown };
  /** Changes the query of the callback. */
  query?: (query: URLSearchParams) => void;
  /** Changes the cookies that the browser sends back. */
  cookie?: (cookie: string) => string;
  /** Another callback path. */
  path?: string;
  method?: string;
}

export const CLIENT = { id: "weir-client", secret: "planted-client-secret-äö+%" };

interface Granted {
  challenge: string;
  redirect: string;
  nonce: string;
  broken: Broken;
}

/** How a provider treats refresh tokens. */
export interface Refreshing {
  /** Whether a sign-in gives one, a new one replaces it, and the answer has an ID token. */
  isGiven: boolean;
  rotates: boolean;
  hasIdToken: boolean;
  /** Claims of the ID token then, and of the userinfo. */
  claims: Record<string, unknown>;
  userinfo: Record<string, unknown>;
  /** In place of the answer. */
  answer?: { status: number; body: unknown };
  delayMs: number;
}

/** Lets an issuer answer at its token and userinfo endpoints. */
export class FakeSignIn {
  readonly codes = new Map<string, Granted>();
  /** Why the provider would have refused the exchange. */
  readonly faults: string[] = [];
  readonly refreshing: Refreshing = {
    ...{ isGiven: false, rotates: true, hasIdToken: true },
    ...{ claims: {}, userinfo: {}, delayMs: 0 },
  };
  /** The refresh tokens that are worth something, by their subjects, and those that were used. */
  readonly refreshTokens = new Map<string, string>();
  readonly spent: string[] = [];
  /** Whether a request says that it is weir, in place of the secret in a header. */
  identifies: ((request: Request, form: URLSearchParams) => boolean) | undefined;
  /** Requests that were sent ahead of the browser. */
  readonly pushed = new Map<string, URLSearchParams>();
  /** Answers as Microsoft Graph. */
  graph: ((request: Request, url: URL) => Response) | undefined;
  #number = 0;
  #last: Broken = {};

  constructor(readonly issuer: Issuer) {
    issuer.answer = (request, url) => {
      if (url.pathname.endsWith("/token")) return this.#token(request);
      if (url.pathname.endsWith("/userinfo")) return this.#userinfo(request);
      if (url.pathname.endsWith("/par")) return this.#push(request);
      if (url.pathname.startsWith("/v1.0/")) return this.graph?.(request, url);
      return undefined;
    };
  }

  /** Signs in a person who is at the provider already. @returns query of the way back */
  consent(location: string, broken: Broken): URLSearchParams {
    const brought = new URL(location).searchParams;
    const query = this.pushed.get(brought.get("request_uri") ?? "") ?? brought;
    const code = `code-${++this.#number}`;
    this.codes.set(code, {
      ...{
        challenge: query.get("code_challenge")!,
        redirect: query.get("redirect_uri")!,
        nonce: query.get("nonce")!,
      },
      broken,
    });
    const back = new URLSearchParams({ code, state: query.get("state")!, iss: this.issuer.url });
    broken.query?.(back);
    return back;
  }

  async #token(request: Request): Promise<Response> {
    const form = new URLSearchParams(await request.text());
    if (form.get("grant_type") === "refresh_token") return this.#refresh(form.get("refresh_token") ?? "");
    const granted = this.codes.get(form.get("code") ?? "");
    this.codes.delete(form.get("code") ?? "");
    const refuse = (fault: string) => {
      this.faults.push(fault);
      return Response.json({ error: "invalid_grant" }, { status: 400 });
    };
    if (!granted) return refuse("no such code");
    if (!this.#isClient(request, form)) return refuse("not the client");
    const verifier = form.get("code_verifier") ?? "";
    const challenge = new Bun.CryptoHasher("sha256").update(verifier).digest("base64url");
    if (challenge !== granted.challenge) return refuse("wrong verifier");
    if (form.get("redirect_uri") !== granted.redirect) return refuse("wrong redirect");
    const { broken } = granted;
    this.#last = broken;
    const { token } = broken;
    if (token) return Response.json(token.body ?? { error: "x" }, { status: token.status ?? 200 });
    const now = Math.floor(Date.now() / 1_000);
    const usual = {
      iss: this.issuer.url,
      aud: CLIENT.id,
      sub: "alice-1",
      iat: now,
      exp: now + 300,
      nonce: granted.nonce,
    };
    const key = broken.key ?? this.issuer.keys[0]!;
    const right = await key.sign({ ...usual, ...broken.claims }, broken.header);
    const idToken = broken.idToken ? broken.idToken(right) : right;
    return Response.json({
      access_token: "opaque-access",
      token_type: "Bearer",
      expires_in: 300,
      id_token: idToken,
      ...(this.refreshing.isGiven && {
        refresh_token: this.giveRefreshToken(String(broken.claims?.["sub"] ?? usual.sub)),
      }),
    });
  }

  #isClient(request: Request, form: URLSearchParams): boolean {
    if (this.identifies) return this.identifies(request, form);
    const header = request.headers.get("authorization")?.slice("Basic ".length) ?? "";
    const pair = Buffer.from(header, "base64").toString();
    const [id, secret] = pair.split(":").map((text) => decodeURIComponent(text.replaceAll("+", " ")));
    return id === CLIENT.id && secret === CLIENT.secret;
  }

  async #push(request: Request): Promise<Response> {
    const form = new URLSearchParams(await request.text());
    if (!this.#isClient(request, form)) return Response.json({ error: "invalid_client" }, { status: 401 });
    const uri = `urn:ietf:params:oauth:request_uri:${++this.#number}`;
    this.pushed.set(uri, form);
    return Response.json({ request_uri: uri, expires_in: 60 }, { status: 201 });
  }

  giveRefreshToken(subject: string): string {
    const token = `refresh-${++this.#number}-planted`;
    this.refreshTokens.set(token, subject);
    return token;
  }

  async #refresh(token: string): Promise<Response> {
    const { rotates, hasIdToken, claims, userinfo, answer, delayMs } = this.refreshing;
    this.spent.push(token);
    if (delayMs > 0) await Bun.sleep(delayMs);
    if (answer) return Response.json(answer.body, { status: answer.status });
    const sub = this.refreshTokens.get(token);
    if (sub === undefined) return Response.json({ error: "invalid_grant" }, { status: 400 });
    if (rotates) this.refreshTokens.delete(token);
    this.#last = { userinfo: { sub, ...userinfo } };
    const now = Math.floor(Date.now() / 1_000);
    const usual = { iss: this.issuer.url, aud: CLIENT.id, sub, iat: now, exp: now + 300 };
    return Response.json({
      ...{ access_token: "opaque-access", token_type: "Bearer", expires_in: 300 },
      ...(hasIdToken && { id_token: await this.issuer.keys[0]!.sign({ ...usual, ...claims }) }),
      ...(rotates && { refresh_token: this.giveRefreshToken(sub) }),
    });
  }

  #userinfo(request: Request): Response {
    if (request.headers.get("authorization") !== "Bearer opaque-access")
      return new Response(null, { status: 401 });
    const { userinfo } = this.#last;
    if (userinfo === null) return new Response("broken", { status: 500 });
    return Response.json({
      ...{
        sub: "alice-1",
        name: "Alice",
        email: "alice@corp.example",
        email_verified: true,
        groups: ["llm-admins"],
      },
      ...userinfo,
    });
  }
}

/** A browser with one jar of cookies. */
export class Browser {
  readonly cookies = new Map<string, string>();

  constructor(readonly base: string) {}

  async go(
    path: string,
    init: RequestInit & { cookie?: (cookie: string) => string } = {},
  ): Promise<Response> {
    const sent = [...this.cookies].map(([name, value]) => `${name}=${value}`).join("; ");
    const cookie = init.cookie ? init.cookie(sent) : sent;
    const answer = await fetch(this.base + path, {
      ...init,
      redirect: "manual",
      headers: { ...(cookie !== "" && { cookie }), ...(init.headers as Record<string, string>) },
    });
    for (const set of answer.headers.getSetCookie()) {
      const [pair = ""] = set.split(";");
      const at = pair.indexOf("=");
      const [name, value] = [pair.slice(0, at), pair.slice(at + 1)];
      if (value === "") this.cookies.delete(name);
      else this.cookies.set(name, value);
    }
    return answer;
  }

  /** The whole way. @returns the answer to the callback */
  async signIn(provider: FakeSignIn, broken: Broken = {}, to = ""): Promise<Response> {
    const away = await this.go(`/auth/login/corp${to}`);
    const back = provider.consent(away.headers.get("location")!, broken);
    return this.go(`${broken.path ?? "/auth/callback/corp"}?${back}`, {
      method: broken.method ?? "GET",
      ...(broken.cookie && { cookie: broken.cookie }),
    });
  }
}
