/** Sign-in to the console over sockets: the whole way, roles, broken callbacks, redirect targets, sign-out. */
import { afterAll, beforeAll, beforeEach, expect, setDefaultTimeout, test } from "bun:test";
import { createHmac } from "node:crypto";
import { freePort, type Serving, serve, until } from "../../../../test/helpers/serving.ts";
import { personId } from "../people.ts";
import { base64url, Issuer, SigningKey } from "./support/issuer.ts";
import { type Broken, Browser, CLIENT, FakeSignIn } from "./support/sign-in.ts";

setDefaultTimeout(120_000);

const ADMIN = "weir-planted-admin-0001";
let issuer: Issuer;
let provider: FakeSignIn;
let gateway: Serving;
let admin = "";
let foreign: SigningKey;
let rsa: SigningKey;

beforeAll(async () => {
  issuer = await Issuer.start("ES256");
  provider = new FakeSignIn(issuer);
  [foreign, rsa] = await Promise.all([SigningKey.make("first", "ES256"), SigningKey.make("rsa", "RS256")]);
  issuer.keys.push(rsa);
  issuer.published.metadata = {
    authorization_response_iss_parameter_supported: true,
    end_session_endpoint: `${issuer.url}/end?tenant=1`,
  };
  const port = freePort();
  admin = `http://127.0.0.1:${port}`;
  gateway = await serve({
    workers: 2,
    config: JSON.stringify({
      log: { format: "json" },
      admin: { port },
      state: "state",
      adminKeys: [{ name: "boss", key: ADMIN, role: "admin" }],
      identity: {
        url: admin,
        providers: {
          corp: {
            issuer: issuer.url,
            client: CLIENT.id,
            secret: CLIENT.secret,
            require: { email_verified: true },
            groups: {
              "llm-admins": { admin: "/" },
              "lead-*": { admin: "/{1}" },
              readers: { viewer: "/eng" },
              auditors: { auditor: "/" },
              users: { member: "/eng" },
            },
          },
        },
      },
    }),
  });
  const isOn = async () => (await fetch(`${admin}/auth/`, { redirect: "manual" })).status === 200;
  expect(await until(isOn)).toBe(true);
});

afterAll(async () => {
  await gateway?.end();
  await issuer?.stop();
});

beforeEach(() => void provider.faults.splice(0));

const session = async (browser: Browser) => {
  const answer = await browser.go("/admin/v1/session");
  return { status: answer.status, json: (await answer.json()) as any };
};

test("the whole way: PKCE, state, nonce, one session, the console knows who it is", async () => {
  const browser = new Browser(admin);
  const choice = await (await browser.go("/auth/")).text();
  expect(choice).toContain("/auth/login/corp?to=");
  const away = await browser.go("/auth/login/corp?to=/console/usage");
  expect(away.status).toBe(303);
  const location = new URL(away.headers.get("location")!);
  expect(location.origin + location.pathname).toBe(`${issuer.url}/authorize`);
  const query = Object.fromEntries(location.searchParams);
  expect(query).toMatchObject({
    ...{
      client_id: CLIENT.id,
      response_type: "code",
      code_challenge_method: "S256",
      scope: "openid profile email",
    },
    redirect_uri: `${admin}/auth/callback/corp`,
  });
  for (const name of ["state", "nonce", "code_challenge"]) expect(query[name]).toMatch(/^[\w-]{43}$/);
  expect(away.headers.get("set-cookie")).toMatch(
    /^weir-login-\S{8}=\S+; Max-Age=600; Path=\/; HttpOnly; SameSite=Lax$/,
  );
  expect(away.headers.get("set-cookie")).not.toContain(query["state"]!);
  const back = await browser.go(`/auth/callback/corp?${provider.consent(location.href, {})}`);
  expect([back.status, back.headers.get("location")]).toEqual([303, "/console/usage"]);
  expect(back.headers.get("cache-control")).toBe("no-store");
  expect([...browser.cookies.keys()]).toEqual(["weir-session"]);
  expect(provider.faults).toEqual([]);
  const { status, json } = await session(browser);
  expect([status, json.role, json.path, json.actor]).toEqual([
    200,
    "admin",
    "/",
    personId(issuer.url, "alice-1"),
  ]);
  const me = await (await browser.go("/console/me")).text();
  for (const text of ["Alice", "/people/alice", "admin on <code>/</code>", "group:llm-admins"])
    expect(me).toContain(text);
});

test("writes need the header of the console and its origin; a page of another site can do nothing", async () => {
  const browser = new Browser(admin);
  await browser.signIn(provider);
  const create = (headers: Record<string, string>) =>
    browser.go("/admin/v1/keys", {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: JSON.stringify({ name: `k${crypto.randomUUID().slice(0, 8)}` }),
    });
  expect((await create({})).status).toBe(403);
  expect((await create({ "x-weir-console": "1" })).status).toBe(403);
  expect((await create({ "x-weir-console": "1", origin: "http://evil.example" })).status).toBe(403);
  expect((await create({ origin: admin })).status).toBe(403);
  expect((await create({ "x-weir-console": "1", origin: admin })).status).toBe(201);
  const log = gateway.run("audit", "log").output;
  expect(log).toContain(personId(issuer.url, "alice-1"));
});

/** Groups, and what the person may then: GET keys, POST a key, whole config, path of the session. */
const ROLES: readonly [
  string,
  string[],
  { session: number; path?: string; write: number; config: number },
][] = [
  ["an admin of everything", ["llm-admins"], { session: 200, path: "/", write: 201, config: 200 }],
  ["an admin of a path", ["lead-eng"], { session: 200, path: "/eng", write: 201, config: 403 }],
  ["a viewer", ["readers"], { session: 200, path: "/eng", write: 403, config: 403 }],
  ["an auditor", ["auditors"], { session: 200, path: "/", write: 403, config: 200 }],
  ["a member", ["users"], { session: 403, write: 403, config: 403 }],
  [
    "a viewer who leads a path",
    ["auditors", "lead-eng"],
    { session: 200, path: "/", write: 201, config: 200 },
  ],
];

test.each(ROLES)("%s", async (_, groups, expected) => {
  const browser = new Browser(admin);
  const back = await browser.signIn(provider, { userinfo: { groups, sub: "alice-1" } });
  expect(back.status).toBe(303);
  const found = await session(browser);
  expect([found.status, found.json.path]).toEqual([expected.session, expected.path]);
  const write = await browser.go("/admin/v1/keys", {
    method: "POST",
    headers: { "content-type": "application/json", "x-weir-console": "1", origin: admin },
    body: JSON.stringify({ name: `k${crypto.randomUUID().slice(0, 8)}`, path: "/eng" }),
  });
  expect(write.status).toBe(expected.write);
  const outside = await browser.go("/admin/v1/keys", {
    method: "POST",
    headers: { "content-type": "application/json", "x-weir-console": "1", origin: admin },
    body: JSON.stringify({ name: `k${crypto.randomUUID().slice(0, 8)}`, path: "/sales" }),
  });
  expect(outside.status).toBe(groups.includes("llm-admins") ? 201 : 403);
  expect((await browser.go("/admin/v1/config")).status).toBe(expected.config);
  expect((await browser.go("/console/me")).status).toBe(200);
});

test("somebody without a role is not signed in, and a suspended person is out within a second", async () => {
  const nobody = new Browser(admin);
  expect((await nobody.signIn(provider, { userinfo: { groups: ["others"] } })).status).toBe(403);
  expect([...nobody.cookies.keys()]).toEqual([]);
  const browser = new Browser(admin);
  const bob = {
    claims: { sub: "bob-1" },
    userinfo: { sub: "bob-1", name: "Bob", email: "bob@corp.example" },
  };
  await browser.signIn(provider, bob);
  expect((await session(browser)).status).toBe(200);
  expect(gateway.run("people", "suspend", "bob-1").code).toBe(0);
  await Bun.sleep(1_000);
  expect((await session(browser)).status).toBe(401);
  expect((await new Browser(admin).signIn(provider, bob)).status).toBe(403);
});

test("sign-out ends the session; a copy of the cookie is worth nothing", async () => {
  const browser = new Browser(admin);
  await browser.signIn(provider);
  const copy = new Browser(admin);
  copy.cookies.set("weir-session", browser.cookies.get("weir-session")!);
  expect((await session(copy)).status).toBe(200);
  expect(
    (await browser.go("/auth/logout", { method: "POST", headers: { origin: "http://evil.example" } })).status,
  ).toBe(403);
  expect((await session(browser)).status).toBe(200);
  expect((await browser.go("/auth/logout", { method: "POST", headers: { origin: admin } })).status).toBe(303);
  expect([(await session(browser)).status, (await session(copy)).status]).toEqual([401, 401]);
  // The console's own sign-out.
  await browser.signIn(provider);
  const out = await browser.go("/admin/v1/session", {
    method: "DELETE",
    headers: { "x-weir-console": "1", origin: admin },
  });
  expect([out.status, [...browser.cookies.keys()], (await session(browser)).status]).toEqual([200, [], 401]);
});

test("sign-out at the provider too: it learns by the ID token which session ends, and sends people back", async () => {
  const browser = new Browser(admin);
  let idToken = "";
  await browser.signIn(provider, { idToken: (right) => (idToken = right) });
  const me = await browser.go("/console/me");
  expect(me.headers.get("content-security-policy")).toContain(`form-action 'self' ${issuer.url};`);
  expect(await me.text()).toContain('name="everywhere"');
  const body = new URLSearchParams({ everywhere: "1" });
  const post = (from: Browser, origin = admin) =>
    from.go("/auth/logout", { method: "POST", headers: { origin }, body });
  expect((await post(browser, "http://evil.example")).status).toBe(403);
  expect((await post(new Browser(admin))).headers.get("location")).toBe("/auth/");
  const out = await post(browser);
  const location = new URL(out.headers.get("location")!);
  expect([out.status, location.origin + location.pathname]).toEqual([303, `${issuer.url}/end`]);
  expect(Object.fromEntries(location.searchParams)).toEqual({
    ...{ tenant: "1", client_id: CLIENT.id, id_token_hint: idToken },
    post_logout_redirect_uri: `${admin}/auth/`,
  });
  expect([(await session(browser)).status, [...browser.cookies.keys()]]).toEqual([401, []]);
});

test("a form without an end is not read to its end", async () => {
  const piece = new Uint8Array(10_000).fill(97);
  let sent = 0;
  const body = new ReadableStream({
    async pull(controller) {
      if (sent++ < 300) controller.enqueue(piece);
      else controller.close();
      await Bun.sleep(1);
    },
  });
  const answer = await fetch(`${admin}/auth/backchannel/corp`, { method: "POST", body }).catch(
    () => undefined,
  );
  expect([400, undefined]).toContain(answer?.status);
  expect(sent).toBeLessThan(300);
});

test("a second sign-in begins a new session, and one that the browser brings is not taken over", async () => {
  const browser = new Browser(admin);
  browser.cookies.set("weir-session", "a".repeat(43));
  expect((await session(browser)).status).toBe(401);
  await browser.signIn(provider);
  const first = browser.cookies.get("weir-session")!;
  expect(first).not.toBe("a".repeat(43));
  await browser.signIn(provider);
  expect(browser.cookies.get("weir-session")).not.toBe(first);
});

test("back-channel logout of the provider ends sessions by subject or by session", async () => {
  const now = Math.floor(Date.now() / 1_000);
  const events = { "http://schemas.openid.net/event/backchannel-logout": {} };
  const logout = async (claims: object, key = issuer.keys[0]!) => {
    const token = await key.sign({
      iss: issuer.url,
      aud: CLIENT.id,
      iat: now,
      exp: now + 60,
      jti: "x",
      events,
      ...claims,
    });
    const body = new URLSearchParams({ logout_token: token });
    return (await fetch(`${admin}/auth/backchannel/corp`, { method: "POST", body })).status;
  };
  const [one, two] = [new Browser(admin), new Browser(admin)];
  await one.signIn(provider, { claims: { sid: "s1" } });
  await two.signIn(provider, { claims: { sid: "s2" } });
  expect(await logout({ sub: "alice-1", events: undefined })).toBe(400);
  expect(await logout({ sub: "alice-1", nonce: "n" })).toBe(400);
  expect(await logout({ sub: "alice-1", aud: "other" })).toBe(400);
  expect(await logout({ sub: "alice-1" }, foreign)).toBe(400);
  expect(await logout({})).toBe(400);
  expect([(await session(one)).status, (await session(two)).status]).toEqual([200, 200]);
  expect(await logout({ sid: "s1" })).toBe(200);
  expect([(await session(one)).status, (await session(two)).status]).toEqual([401, 200]);
  expect(await logout({ sub: "alice-1" })).toBe(200);
  expect((await session(two)).status).toBe(401);
});

const TARGETS = [
  ...[
    "https://evil.example",
    "//evil.example",
    "///evil.example",
    "/\\evil.example",
    "\\\\evil.example",
    "/\\/evil.example",
  ],
  ...[
    "http:evil.example",
    "https:/evil.example",
    "javascript:alert(1)",
    "JaVaScRiPt:alert(1)",
    "data:text/html,x",
    "mailto:x",
  ],
  ...[
    "evil.example",
    "@evil.example",
    "/@evil.example",
    "/%2f/evil.example",
    "/%5cevil.example",
    "/..//evil.example",
  ],
  ...[
    "/console/..//evil.example",
    "/console/../../evil.example",
    "/console\\evil.example",
    "/console/%0d%0aset-cookie:x=1",
  ],
  ...[
    "/\tevil.example",
    "/\n/evil.example",
    "\t//evil.example",
    " //evil.example",
    "/ /evil.example",
    "/\u0000/evil.example",
  ],
  ...[
    "/console@evil.example",
    "/console.evil.example",
    "/consoleevil",
    "?to=//evil.example",
    "#//evil.example",
    "",
  ],
  ...[
    "/admin/v1/keys",
    "/auth/logout",
    "/auth/login/corp",
    "//",
    "/",
    `/console/${"x".repeat(2_000)}`,
    "/．evil.example",
  ],
  ...["http://127.0.0.1/console", "/console//evil.example", "/console/?to=//evil.example"],
];

test("the way back leads to a page of the console, whatever was asked for", async () => {
  expect(TARGETS.length).toBeGreaterThanOrEqual(40);
  const wrong: string[] = [];
  for (const target of TARGETS) {
    const browser = new Browser(admin);
    const back = await browser.signIn(provider, {}, `?to=${encodeURIComponent(target)}`);
    const location = back.headers.get("location") ?? "";
    const { origin, pathname } = new URL(location, admin);
    if (origin !== admin || !/^\/console(\/|$)/.test(pathname) || location.startsWith("//"))
      wrong.push(`${target}: ${location}`);
  }
  expect(wrong).toEqual([]);
});

const seconds = () => Math.floor(Date.now() / 1_000);
const json = (value: unknown) => base64url(JSON.stringify(value));
const part = (token: string, at: number) => token.split(".")[at]!;

/** Each sign-in is right but for one thing. */
function broken(): Record<string, Broken> {
  const other = (name: string, value: string) => (query: URLSearchParams) => query.set(name, value);
  return {
    "no state": { query: (query) => query.delete("state") },
    "an empty state": { query: other("state", "") },
    "another state": { query: other("state", "x".repeat(43)) },
    "a state of the same beginning": {
      query: (query) => query.set("state", query.get("state")!.slice(0, 8) + "x".repeat(35)),
    },
    "a longer state": { query: (query) => query.set("state", `${query.get("state")}x`) },
    "state twice": { query: (query) => query.append("state", query.get("state")!) },
    "no cookie": { cookie: () => "" },
    "an empty cookie": { cookie: (cookie) => cookie.replace(/=[^;]*/, "=") },
    "a changed cookie": { cookie: (cookie) => `${cookie.slice(0, -4)}AAAA` },
    "the cookie twice": { cookie: (cookie) => `${cookie}; ${cookie}` },
    "the cookie of another name": { cookie: (cookie) => cookie.replace("weir-login", "weir-logins") },
    "a cookie in clear": {
      cookie: (cookie) => cookie.replace(/=.*/, `=${json({ provider: "corp", state: "x" })}`),
    },
    "another provider": { path: "/auth/callback/other" },
    "no code": { query: (query) => query.delete("code") },
    "an empty code": { query: other("code", "") },
    "another code": { query: other("code", "code-0") },
    "code twice": { query: (query) => query.append("code", "code-0") },
    "iss of another issuer": { query: other("iss", "https://evil.example") },
    "iss with a slash more": { query: (query) => query.set("iss", `${query.get("iss")}/`) },
    "no iss though it is promised": { query: (query) => query.delete("iss") },
    "iss twice": { query: (query) => query.append("iss", "https://evil.example") },
    "an error": { query: other("error", "access_denied") },
    "an error with markup": { query: other("error", "<script>alert(1)</script>") },
    "by POST": { method: "POST" },
    "token endpoint 400": { token: { status: 400 } },
    "token endpoint 500": { token: { status: 500 } },
    "token endpoint without an ID token": { token: { body: { access_token: "a" } } },
    "token endpoint with a list": { token: { body: [] } },
    "token endpoint with a number": { token: { body: { id_token: 1 } } },
    "ID token empty": { idToken: () => "" },
    "ID token of two parts": { idToken: (right) => right.split(".").slice(0, 2).join(".") },
    "ID token without a signature": { idToken: (right) => `${part(right, 0)}.${part(right, 1)}.` },
    "alg none": { idToken: (right) => `${json({ alg: "none" })}.${part(right, 1)}.` },
    "alg none with a signature": { header: { alg: "none" } },
    "alg HS256 by the client secret": {
      idToken: (right) => {
        const text = `${json({ alg: "HS256" })}.${part(right, 1)}`;
        return `${text}.${createHmac("sha256", CLIENT.secret).update(text).digest("base64url")}`;
      },
    },
    "alg HS256 by the public key": {
      idToken: (right) => {
        const text = `${json({ alg: "HS256", kid: "rsa" })}.${part(right, 1)}`;
        return `${text}.${createHmac("sha256", JSON.stringify(rsa.jwk)).update(text).digest("base64url")}`;
      },
    },
    "another key of the same name": { key: foreign },
    "an unknown key": { header: { kid: "nobody" } },
    "its own key": { key: foreign, header: { jwk: foreign.jwk } },
    "a key elsewhere": { header: { jku: "https://evil.example/keys" } },
    crit: { header: { crit: ["x"] } },
    "another payload": { idToken: (right) => `${part(right, 0)}.${json({ sub: "root" })}.${part(right, 2)}` },
    "no nonce": { claims: { nonce: undefined } },
    "another nonce": { claims: { nonce: "x".repeat(43) } },
    "nonce null": { claims: { nonce: null } },
    "no iss": { claims: { iss: undefined } },
    "another iss": { claims: { iss: "https://evil.example" } },
    "no aud": { claims: { aud: undefined } },
    "another aud": { claims: { aud: "other-client" } },
    "aud of others": { claims: { aud: ["a", "b"] } },
    "several aud without azp": { claims: { aud: [CLIENT.id, "other"] } },
    "another azp": { claims: { aud: [CLIENT.id, "other"], azp: "other" } },
    "another azp with one aud": { claims: { azp: "other" } },
    "no exp": { claims: { exp: undefined } },
    "exp past": { claims: { exp: seconds() - 1 } },
    "exp a text": { claims: { exp: String(seconds() + 300) } },
    "no iat": { claims: { iat: undefined } },
    "iat future": { claims: { iat: seconds() + 300 } },
    "iat long past": { claims: { iat: seconds() - 3_600 } },
    "nbf future": { claims: { nbf: seconds() + 300 } },
    "no sub": { claims: { sub: undefined } },
    "sub empty": { claims: { sub: "" } },
    "sub a number": { claims: { sub: 1 } },
    "another at_hash": { claims: { at_hash: "AAAAAAAAAAAAAAAAAAAAAA" } },
    "userinfo of somebody else": { userinfo: { sub: "root" } },
    "userinfo without sub": { userinfo: { sub: undefined } },
    "userinfo broken": { userinfo: null },
    "e-mail not verified": { userinfo: { email_verified: false } },
    "e-mail not verified in the ID token": { claims: { email_verified: false } },
    "a hostile e-mail": { userinfo: { email: "../../@corp.example" } },
    "groups left out": { userinfo: { groups: undefined, _claim_names: { groups: "src" } } },
    "no group": { userinfo: { groups: [] } },
  };
}

test("broken callbacks: all are refused, with one page that says nothing", async () => {
  const cases = Object.entries(broken());
  expect(cases.length).toBeGreaterThanOrEqual(60);
  const through: string[] = [];
  for (const [name, one] of cases) {
    const browser = new Browser(admin);
    const back = await browser.signIn(provider, one);
    const text = await back.text();
    const isRefused =
      back.status === 403 ||
      (name === "another provider" && back.status === 404) ||
      (name === "by POST" && back.status === 405);
    if (!isRefused || browser.cookies.has("weir-session")) through.push(`${name}: ${back.status}`);
    const plain = text.replace(/<code>[\w-]*<\/code>/, "");
    if (back.status === 403 && /script|nonce|issuer|evil|aud/i.test(plain))
      through.push(`${name} tells: ${plain}`);
    if ((await session(browser)).status !== 401) through.push(`${name}: a session`);
  }
  expect(through).toEqual([]);
  // Lines of another worker come a little later.
  expect(await until(() => gateway.log.some((line) => line.includes("its nonce is")))).toBe(true);
  const log = gateway.log.join("\n");
  expect(log).not.toContain(CLIENT.secret);
  expect(log).not.toContain("opaque-access");
});

test("the audit log has who came and went, and who was refused, without what they sent", async () => {
  const browser = new Browser(admin);
  const carol = {
    claims: { sub: "carol-1" },
    userinfo: { sub: "carol-1", name: "Carol", email: "carol@corp.example", groups: ["readers"] },
  };
  await browser.signIn(provider, carol);
  await browser.go("/auth/logout", { method: "POST", headers: { origin: admin } });
  await browser.signIn(provider, carol);
  const entries = JSON.parse(gateway.run("audit", "log", "--last", "200", "--json").output) as any[];
  const id = personId(issuer.url, "carol-1");
  const ofCarol = entries.filter(({ actor, subject }) => actor === id || subject === `people/${id}`);
  expect(ofCarol.map(({ action }) => action).reverse()).toEqual([
    ...["person added", "groups of the provider", "sign in", "sign out", "sign in"],
  ]);
  const refused = entries.filter(({ action }) => action === "sign-in refused");
  expect(refused.length).toBeLessThanOrEqual(10);
  expect(refused[0]).toMatchObject({ subject: "sign-in/corp", address: "127.0.0.1" });
  expect(Object.keys(refused.at(-1).after).sort()).toContain("reason");
  const text = JSON.stringify(entries);
  for (const planted of ["eyJ", "opaque-access", CLIENT.secret, ...browser.cookies.values()])
    expect(text).not.toContain(planted);
});

test("an attempt comes back once, also with a fresh code", async () => {
  const browser = new Browser(admin);
  const away = await browser.go("/auth/login/corp");
  const location = away.headers.get("location")!;
  const kept = [...browser.cookies];
  expect((await browser.go(`/auth/callback/corp?${provider.consent(location, {})}`)).status).toBe(303);
  const again = new Browser(admin);
  for (const [name, value] of kept) again.cookies.set(name, value);
  expect((await again.go(`/auth/callback/corp?${provider.consent(location, {})}`)).status).toBe(403);
});

test("sessions survive the keeper, and their secrets are in no file", async () => {
  const browser = new Browser(admin);
  await browser.signIn(provider);
  const secret = browser.cookies.get("weir-session")!;
  process.kill(gateway.keeper()!, "SIGKILL");
  const isBack = async () => (await session(browser).catch(() => ({ status: 0 }))).status === 200;
  expect(await until(isBack)).toBe(true);
  for await (const file of new Bun.Glob("**/*").scan({ cwd: `${gateway.folder}/state` })) {
    const bytes = Buffer.from(await Bun.file(`${gateway.folder}/state/${file}`).arrayBuffer());
    expect([file, bytes.includes(secret), bytes.includes(CLIENT.secret)]).toEqual([file, false, false]);
  }
});

test("a provider that is away: sign-in says so, keys work", async () => {
  issuer.published.status = 503;
  try {
    gateway.signal("SIGHUP");
    const answer = await new Browser(admin).go("/auth/login/corp");
    expect([303, 503]).toContain(answer.status);
    const keys = await fetch(`${admin}/admin/v1/keys`, { headers: { authorization: `Bearer ${ADMIN}` } });
    expect(keys.status).toBe(200);
  } finally {
    issuer.published.status = 200;
  }
});
