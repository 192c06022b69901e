/**
 * Accounts at oidc-provider, the certified authorization server: weir by its document, as the operator registered it, and as it
 * registers itself. Nothing is installed here: `WEIR_PROVIDERS` names a folder with `npm install oidc-provider@9.13.3`.
 */
import { afterEach, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { freePort } from "../../../../test/helpers/serving.ts";
import { clientDescription } from "../auth/authorities.ts";
import { type AuthServer, Credentials } from "../auth/credentials.ts";
import { NeedsUser } from "../auth/credential.ts";

setDefaultTimeout(60_000);

const FOLDER = process.env["WEIR_PROVIDERS"];
const isThere = FOLDER !== undefined && existsSync(join(FOLDER, "node_modules/oidc-provider"));
const WEIR = "https://weir.corp.example";
const REDIRECT = `${WEIR}/mcp/oauth/callback`;
const stops: (() => unknown)[] = [];

afterEach(() => {
  for (const stop of stops.splice(0)) stop();
});

interface World {
  readonly at: (user: object) => AuthServer;
  readonly credentials: Credentials;
  /** Grants for which tokens were given. */
  readonly grants: string[];
  /** Ids of clients. */
  readonly clients: Set<string>;
}

/** @param life of access tokens, in seconds @param readsDocuments of clients */
async function world(life: number, readsDocuments = true): Promise<World> {
  const { Provider } = (await import(join(FOLDER!, "node_modules/oidc-provider/lib/index.js"))) as {
    Provider: any;
  };
  const issuer = `http://127.0.0.1:${freePort()}`;
  const [grants, clients] = [[] as string[], new Set<string>()];
  const guarded = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: (request) => answer(request) });
  const url = `http://127.0.0.1:${guarded.port}/mcp`;
  const answer = ({ url: asked, headers }: Request): Response => {
    if (asked.includes("/.well-known/"))
      return Response.json({ resource: url, authorization_servers: [issuer], scopes_supported: ["read"] });
    const [, body = ""] = headers.get("authorization")?.split(".") ?? [];
    const { aud, exp } = body === "" ? {} : JSON.parse(Buffer.from(body, "base64url").toString());
    return new Response(null, { status: aud === url && exp * 1_000 > Date.now() ? 200 : 401 });
  };
  const provider = new Provider(issuer, {
    clients: [
      {
        ...{ client_id: "ours", client_secret: "planted secret:+%", redirect_uris: [REDIRECT] },
        grant_types: ["authorization_code", "refresh_token"],
      },
    ],
    scopes: ["read", "offline_access"],
    issueRefreshToken: () => true,
    rotateRefreshToken: true,
    pkce: { required: () => true },
    findAccount: (_: unknown, id: string) => ({ accountId: id, claims: () => ({ sub: id }) }),
    // What weir serves at its public address.
    fetch: () =>
      Promise.resolve(Response.json({ client_id: `${WEIR}/oauth/client.json`, ...clientDescription(WEIR) })),
    features: {
      devInteractions: { enabled: true },
      registration: { enabled: true },
      clientIdMetadataDocument: { enabled: readsDocuments, ack: "draft-02" },
      resourceIndicators: {
        enabled: true,
        useGrantedResource: () => true,
        getResourceServerInfo: () => ({ scope: "read", accessTokenFormat: "jwt", accessTokenTTL: life }),
      },
    },
  });
  provider.on("grant.success", ({ oidc }: any) => {
    grants.push(oidc.params.grant_type);
    clients.add(oidc.client.clientId);
  });
  const listener = provider.listen(Number(new URL(issuer).port), "127.0.0.1");
  stops.push(
    () => guarded.stop(true),
    () => listener.closeAllConnections(),
    () => listener.close(),
  );
  const credentials = new Credentials({ folder: undefined, fault: () => {}, info: () => {} });
  credentials.configure({ url: WEIR, hosts: [new URL(issuer).host] });
  return { at: (user) => ({ name: "files", url, auth: { user } }), credentials, grants, clients };
}

async function ask({ credentials }: World, at: AuthServer): Promise<number> {
  const credential = credentials.of(at, "key_1");
  const send = async () => (await fetch(at.url, { headers: await credential.headers() })).status;
  const status = await send();
  return status === 401 && (await credential.refused({ status, challenge: undefined })) ? send() : status;
}

/** A browser signs in at the provider and comes back. */
async function connect(of: World, at: AuthServer): Promise<unknown> {
  const needs = (await ask(of, at).catch((error: unknown) => error)) as NeedsUser;
  expect(needs).toBeInstanceOf(NeedsUser);
  const link = { server: at.name, secret: new URL(needs.link).searchParams.get("t")! };
  const begun = await of.credentials.connect({ link, owner: "key_1" }, [at]);
  if (!("begun" in begun)) return begun;
  const { location, state, binding } = begun.begun;
  const query = (await walk(location)).searchParams;
  const [code, iss, error] = ["code", "iss", "error"].map((name) => query.get(name) ?? undefined);
  const back = {
    ...(code !== undefined && { code }),
    ...(iss !== undefined && { iss }),
    ...(error !== undefined && { error }),
  };
  return of.credentials.connect({ finish: { state, binding, ...back } }, [at]);
}

/** Follows redirects and sends the form of each page, until the browser goes back to weir. */
async function walk(begin: string): Promise<URL> {
  const jar = new Map<string, string>();
  let [url, init]: [string, RequestInit] = [begin, {}];
  for (let step = 0; step < 20; step++) {
    if (url.startsWith(WEIR)) return new URL(url);
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join("; ");
    const answer = await fetch(url, { ...init, redirect: "manual", headers: { cookie } });
    for (const set of answer.headers.getSetCookie()) {
      const [pair = ""] = set.split(";");
      jar.set(pair.slice(0, pair.indexOf("=")), pair.slice(pair.indexOf("=") + 1));
    }
    const location = answer.headers.get("location");
    const page = await answer.text();
    const action = /<form[^>]* action="([^"]*)"/.exec(page)?.[1];
    if (location === null && action === undefined) throw new Error(`${answer.status} ${page.slice(0, 500)}`);
    const prompt = /name="prompt" value="([^"]*)"/.exec(page)?.[1] ?? "";
    const body = new URLSearchParams({ prompt, login: "anna", password: "x" });
    [url, init] =
      location === null
        ? [new URL(action!, url).href, { method: "POST", body }]
        : [new URL(location, url).href, {}];
  }
  throw new Error("it does not end");
}

test.skipIf(!isThere).each<[string, object, (client: string) => boolean]>([
  ["by its document", {}, (client) => client === `${WEIR}/oauth/client.json`],
  [
    "as the operator registered it",
    { client: "ours", secret: "planted secret:+%" },
    (client) => client === "ours",
  ],
])("weir connects %s", async (_, user, isClient) => {
  const one = await world(3_600);
  expect(await connect(one, one.at(user))).toEqual({ server: "files" });
  expect(await ask(one, one.at(user))).toBe(200);
  expect([...one.clients].every(isClient)).toBe(true);
});

test.skipIf(!isThere)("weir registers itself where nobody reads its document", async () => {
  const one = await world(3_600, false);
  expect(await connect(one, one.at({}))).toEqual({ server: "files" });
  expect(await ask(one, one.at({}))).toBe(200);
  expect([...one.clients].every((client) => client !== "ours" && !client.startsWith(WEIR))).toBe(true);
});

test.skipIf(!isThere)("100 calls at once cost one refresh, and the refresh token turns", async () => {
  const one = await world(2);
  const at = one.at({});
  expect(await connect(one, at)).toEqual({ server: "files" });
  for (const refreshes of [1, 2]) {
    await Bun.sleep(2_100);
    const all = await Promise.all(Array.from({ length: 100 }, () => ask(one, at)));
    expect(new Set(all)).toEqual(new Set([200]));
    expect(one.grants.filter((grant) => grant === "refresh_token")).toHaveLength(refreshes);
  }
});
