/** A real MCP client signs a person in at weir and uses tools through it: one name for both listeners, as behind a proxy. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { Client, StreamableHTTPClientTransport, UnauthorizedError } from "@modelcontextprotocol/client";
import { freePort, type Serving, serve, until } from "../../../../test/helpers/serving.ts";
import { readToken } from "../tokens/token.ts";
import { Issuer } from "./support/issuer.ts";
import { formIn, type OAuthBody, oauth, pkce } from "./support/programs.ts";
import { proxyOf } from "./support/proxy.ts";
import { Browser, CLIENT, FakeSignIn } from "./support/sign-in.ts";

setDefaultTimeout(60_000);

const REDIRECT = "http://127.0.0.1:41999/callback";
const KEY = "weir-planted-key-0001";

/** A server of tools: what reaches it, and its answers. */
class Echo {
  readonly seen: string[] = [];
  readonly #server = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: (request) => this.#answer(request) });

  get url(): string {
    return `http://127.0.0.1:${this.#server.port}/mcp`;
  }

  stop(): Promise<void> {
    return this.#server.stop(true);
  }

  async #answer(request: Request): Promise<Response> {
    const text = await request.text();
    this.seen.push(`${JSON.stringify([...request.headers])} ${text}`);
    if (request.method !== "POST") return new Response(null, { status: 405 });
    const { id, method, params } = JSON.parse(text) as { id?: number; method: string; params: object };
    if (id === undefined) return new Response(null, { status: 202 });
    const result = this.#result(method, params);
    const answer = result ? { result } : { error: { code: -32601, message: "Method not found" } };
    return Response.json({ jsonrpc: "2.0", id, ...answer });
  }

  #result(method: string, params: object): object | undefined {
    if (method === "initialize")
      return {
        ...{ protocolVersion: "2025-11-25", capabilities: { tools: {} } },
        serverInfo: { name: "echo", version: "1" },
      };
    if (method === "tools/list") return { tools: [{ name: "echo", inputSchema: { type: "object" } }] };
    if (method === "tools/call") return { content: [{ type: "text", text: JSON.stringify(params) }] };
    return undefined;
  }
}

let issuer: Issuer;
let provider: FakeSignIn;
let echo: Echo;
let gateway: Serving;
let proxy: ReturnType<typeof proxyOf>;
let url: string;

beforeAll(async () => {
  issuer = await Issuer.start("ES256");
  provider = new FakeSignIn(issuer);
  echo = new Echo();
  const port = freePort();
  proxy = proxyOf();
  url = proxy.url;
  gateway = await serve({
    workers: 1,
    config: JSON.stringify({
      ...{ log: { format: "json" }, admin: { port }, state: "state", keys: [{ name: "ci", key: KEY }] },
      tools: { servers: { echo: { url: echo.url, allow: ["*"] }, other: { url: echo.url, allow: ["*"] } } },
      identity: {
        ...{ url, tokens: { secret: "planted-secret-of-weirs-own-tokens-0001" }, clients: { dcr: true } },
        providers: {
          corp: {
            ...{ issuer: issuer.url, client: CLIENT.id, secret: CLIENT.secret },
            groups: { users: { member: "/eng" } },
          },
        },
      },
    }),
  });
  proxy.lead({ admin: `http://127.0.0.1:${port}`, gateway: gateway.url });
  expect(await until(async () => (await fetch(`${url}/auth/`, { redirect: "manual" })).status < 400)).toBe(
    true,
  );
});

afterAll(async () => {
  await gateway?.end();
  await Promise.all([proxy.stop(), issuer.stop(), echo.stop()]);
});

/** A browser in which somebody has signed in. */
async function browser(): Promise<Browser> {
  const one = new Browser(url);
  await one.signIn(provider, { userinfo: { groups: ["users"] } });
  return one;
}

/** The person permits what a program asks for. @returns where the browser goes back to */
async function permit(location: string): Promise<URL> {
  const one = await browser();
  const page = await one.go(location.slice(url.length));
  const back = page.headers.get("location");
  if (back !== null) return new URL(back);
  const { action, fields } = formIn(await page.text());
  const body = new URLSearchParams({ ...fields, decision: "allow" });
  const answer = await one.go(action, { method: "POST", body, headers: { origin: url } });
  return new URL(answer.headers.get("location")!);
}

/** What the client of the SDK keeps. */
class Kept {
  readonly redirectUrl = REDIRECT;
  readonly clientMetadata = {
    ...{ client_name: "a real client", redirect_uris: [REDIRECT], token_endpoint_auth_method: "none" },
    grant_types: ["authorization_code", "refresh_token"],
  };
  location = "";
  #client: object | undefined;
  #tokens: { access_token: string; refresh_token?: string; scope?: string } | undefined;
  #verifier = "";
  #state: object | undefined;

  clientInformation = () => this.#client as never;
  saveClientInformation = (client: object) => void (this.#client = client);
  tokens = () => this.#tokens as never;
  saveTokens = (tokens: object) => void (this.#tokens = tokens as never);
  redirectToAuthorization = (location: URL) => void (this.location = location.href);
  saveCodeVerifier = (verifier: string) => void (this.#verifier = verifier);
  codeVerifier = () => this.#verifier;
  saveDiscoveryState = (state: object) => void (this.#state = state);
  discoveryState = () => this.#state as never;

  get given() {
    return this.#tokens!;
  }
}

const modes = { legacy: {}, modern: { versionNegotiation: { mode: "auto" as const } } };

async function connected(path: string, mode: keyof typeof modes, kept = new Kept()) {
  const transport = () =>
    new StreamableHTTPClientTransport(new URL(url + path), { authProvider: kept as never });
  const client = () => new Client({ name: "test", version: "1" }, modes[mode] as never);
  const first = transport();
  await expect(client().connect(first)).rejects.toBeInstanceOf(UnauthorizedError);
  const back = await permit(kept.location);
  await first.finishAuth(back.searchParams);
  const signedIn = client();
  await signedIn.connect(transport());
  return { client: signedIn, kept };
}

test.each(["legacy", "modern"] as const)(
  "a client of the SDK signs in at one server and calls its tool (%s)",
  async (mode) => {
    const { client, kept } = await connected("/mcp/echo", mode);
    expect(new URL(kept.location).searchParams.get("resource")).toBe(`${url}/mcp/echo`);
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(["echo"]);
    const { content } = await client.callTool({ name: "echo", arguments: { word: mode } });
    expect(JSON.stringify(content)).toContain(mode);
    await client.close();
    const { access_token: token, scope } = kept.given;
    expect(scope).toBe("tools");
    expect(readToken(token).claims["aud"]).toBe(`${url}/mcp/echo`);
    expect(echo.seen.join("\n")).not.toContain(token);
    expect(echo.seen.join("\n")).not.toMatch(/authorization/i);
  },
);

test("a client of the SDK signs in at all servers", async () => {
  const { client } = await connected("/mcp", "legacy");
  expect((await client.listTools()).tools.map(({ name }) => name).sort()).toEqual([
    "echo__echo",
    "other__echo",
  ]);
  await client.close();
});

/** A token for a resource and a scope. */
async function tokenFor(resource: string, scope?: string): Promise<OAuthBody> {
  const registered = await fetch(`${url}/oauth/register`, {
    method: "POST",
    body: JSON.stringify({ client_name: `for ${resource}`, redirect_uris: [REDIRECT] }),
  });
  const { client_id: client } = (await registered.json()) as OAuthBody;
  const { verifier, challenge } = pkce();
  const query = {
    ...{ response_type: "code", client_id: client!, redirect_uri: REDIRECT, resource },
    ...{ code_challenge: challenge, code_challenge_method: "S256", ...(scope !== undefined && { scope }) },
  };
  const back = await permit(`${url}/oauth/authorize?${new URLSearchParams(query)}`);
  const { body } = await oauth(`${url}/oauth/token`, {
    ...{ grant_type: "authorization_code", code: back.searchParams.get("code")!, redirect_uri: REDIRECT },
    ...{ client_id: client!, code_verifier: verifier, resource },
  });
  return body;
}

const LIST = JSON.stringify({
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "x", version: "1" } },
});

async function at(
  path: string,
  credential: string | undefined,
  method = "POST",
  more: Record<string, string> = {},
) {
  const answer = await fetch(url + path, {
    method,
    headers: {
      ...{ "content-type": "application/json", accept: "application/json, text/event-stream", ...more },
      ...(credential !== undefined && { authorization: `Bearer ${credential}` }),
    },
    ...(method === "POST" && { body: path.startsWith("/v1") ? '{"model":"x/y","messages":[]}' : LIST }),
  });
  await answer.body?.cancel();
  return { status: answer.status, challenge: answer.headers.get("www-authenticate") };
}

test("a token is good at its resource and below, and nowhere else", async () => {
  const one = (await tokenFor(`${url}/mcp/echo`)).access_token!;
  const all = (await tokenFor(`${url}/mcp`, "openid tools")).access_token!;
  const models = (await tokenFor(url)).access_token!;
  const both = (await tokenFor(url, "models tools")).access_token!;
  const statuses = async (token: string) => {
    const found = [];
    for (const path of ["/mcp/echo", "/mcp/other", "/mcp", "/v1/models"])
      found.push((await at(path, token, path === "/v1/models" ? "GET" : "POST")).status);
    return found;
  };
  expect(await statuses(one)).toEqual([200, 401, 401, 401]);
  expect(await statuses(all)).toEqual([200, 200, 200, 401]);
  expect(await statuses(models)).toEqual([403, 403, 403, 200]);
  expect(await statuses(both)).toEqual([200, 200, 200, 200]);
  const place = `resource_metadata="${url}/.well-known/oauth-protected-resource/mcp/echo"`;
  expect((await at("/mcp/echo", models)).challenge).toBe(
    `Bearer error="insufficient_scope", scope="tools tools:echo", ${place}`,
  );
  expect((await at("/mcp/echo", undefined)).challenge).toBe(`Bearer ${place}, scope="tools"`);
});

test("a refresh gives a token for the same resource, and none for another", async () => {
  const { refresh_token: refresh } = await tokenFor(`${url}/mcp/echo`);
  const ask = (resource: string, token = refresh!) =>
    oauth(`${url}/oauth/token`, { grant_type: "refresh_token", refresh_token: token, resource });
  expect((await ask(url)).body.error).toBe("invalid_target");
  expect((await ask(`${url}/mcp`)).body.error).toBe("invalid_target");
  const { body } = await ask(`${url}/mcp/echo`);
  expect(readToken(body.access_token!).claims["aud"]).toBe(`${url}/mcp/echo`);
});

test("credentials that are made up reach no server, whatever the method, and learn nothing of one", async () => {
  const before = echo.seen.length;
  const made = ["x", "weir_sk_made_up", "eyJhbGciOiJub25lIn0.eyJzdWIiOiJhZG1pbiJ9.", `${KEY}x`];
  for (const path of ["/mcp", "/mcp/echo", "/mcp/nowhere"])
    for (const method of ["GET", "POST", "DELETE"])
      for (const credential of [undefined, ...made]) {
        const { status, challenge } = await at(path, credential, method);
        expect([path, method, credential, status]).toEqual([path, method, credential, 401]);
        expect(challenge).toContain(`/.well-known/oauth-protected-resource${path}"`);
      }
  const { access_token: token } = await tokenFor(`${url}/mcp`);
  expect((await at("/mcp/echo", token, "POST", { "x-api-key": KEY })).status).toBe(400);
  expect(echo.seen).toHaveLength(before);
});

test("the documents say where programs get tokens", async () => {
  const read = async (end: string) => {
    const answer = await fetch(`${url}/.well-known/oauth-protected-resource${end}`);
    return answer.status === 200 ? ((await answer.json()) as object) : answer.status;
  };
  for (const end of ["", "/mcp", "/mcp/echo", "/mcp/nowhere"])
    expect(await read(end)).toEqual({
      ...{ resource: url + end, authorization_servers: [url], scopes_supported: ["tools"] },
      ...{ bearer_methods_supported: ["header"], resource_name: "weir" },
    });
  for (const end of ["/mcp/A", "/mcp/%22x", "/other"]) expect(await read(end)).toBe(404);
});
