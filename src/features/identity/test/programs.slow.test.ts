/** Programs of people over sockets: device codes, refresh, revocation, codes with PKCE, and what is refused. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { type Serving, until } from "../../../../test/helpers/serving.ts";
import { personId } from "../people.ts";
import { readToken } from "../tokens/token.ts";
import type { Issuer } from "./support/issuer.ts";
import { formIn, type OAuthBody, oauth, pkce } from "./support/programs.ts";
import { type Broken, Browser } from "./support/sign-in.ts";
import {
  ADMIN_KEY,
  callWith,
  press,
  signedIn,
  type SigningGateway,
  startSigning,
} from "./support/signing-gateway.ts";

setDefaultTimeout(120_000);

const DEVICE_GRANT = "urn:ietf:params:oauth:grant-type:device_code";

let world: SigningGateway;
let issuer: Issuer;
let gateway: Serving;
let admin = "";
/** Documents of programs, by path. */
let documents: ReturnType<typeof Bun.serve>;
const DOCUMENTS: Record<string, (url: string) => Response> = {};

beforeAll(async () => {
  documents = Bun.serve({
    ...{ port: 0, hostname: "127.0.0.1" },
    fetch: (request) =>
      DOCUMENTS[new URL(request.url).pathname]?.(request.url) ?? new Response(null, { status: 404 }),
  });
  world = await startSigning({
    workers: 2,
    clients: { dcr: true, hosts: [`127.0.0.1:${documents.port}`] },
    ask: ["openid", "offline_access"],
  });
  ({ issuer, gateway, admin } = world);
});

afterAll(async () => {
  await world?.stop();
  await documents?.stop(true);
});

const READER: Broken = { claims: { sub: "rea-1" }, userinfo: { sub: "rea-1", groups: ["readers"] } };

const token = (form: Record<string, string>) => oauth(`${gateway.url}/oauth/token`, form);

async function device(form: Record<string, string> = { surface: "claude_code" }): Promise<OAuthBody> {
  const { status, body } = await oauth(`${gateway.url}/oauth/device_authorization`, form);
  expect(status).toBe(200);
  return body;
}

const poll = ({ device_code: code }: OAuthBody) => token({ grant_type: DEVICE_GRANT, device_code: code! });
const refresh = (refresh_token: string) => token({ grant_type: "refresh_token", refresh_token });

/** The whole way of a device. */
async function connected(browser: Browser): Promise<OAuthBody> {
  const asked = await device();
  const done = await press(browser, `/device?user_code=${asked.user_code}`, "allow");
  expect(await done.text()).toContain("Connected");
  const { status, body } = await poll(asked);
  expect(status).toBe(200);
  return body;
}

const ask = (credential: string) => callWith(world, credential);

test("a device gets tokens for who approves it, once, and the call is that person's", async () => {
  const browser = await signedIn(world);
  const asked = await device();
  expect(asked).toMatchObject({ expires_in: 600, interval: 5, verification_uri: `${admin}/device` });
  expect(asked.user_code).toMatch(/^[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}$/);
  expect(asked.verification_uri_complete).toBe(`${admin}/device?user_code=${asked.user_code}`);
  expect([(await poll(asked)).body.error, (await poll(asked)).body.error]).toEqual([
    "authorization_pending",
    "slow_down",
  ]);
  const page = await (await browser.go(`/device?user_code=${asked.user_code!.toLowerCase()}`)).text();
  expect(page).toContain("claude_code");
  expect(page).toContain("127.0.0.1");
  // To look at the page approves nothing.
  expect((await poll(asked)).body.error).not.toBeUndefined();
  await press(browser, `/device?user_code=${asked.user_code}`, "allow");
  const { body, headers } = await poll(asked);
  expect(headers.get("cache-control")).toBe("no-store");
  expect(body).toMatchObject({ token_type: "Bearer", expires_in: 3600, scope: "models" });
  expect(body.email).toBe("alice@corp.example");
  const { claims, header } = readToken(body.access_token!);
  expect([header["typ"], claims["iss"], claims["sub"]]).toEqual([
    ...["at+jwt", admin, personId(issuer.url, "alice-1")],
  ]);
  expect(await ask(body.access_token!)).toBe(200);
  // A refresh token is no credential of calls.
  expect(await ask(body.refresh_token!)).toBe(401);
  // A second use ends what the first one got.
  expect((await poll(asked)).body.error).toBe("invalid_grant");
  expect(await until(async () => (await ask(body.access_token!)) === 401, 2_000)).toBe(true);
  expect((await refresh(body.refresh_token!)).status).toBe(401);
});

test("a denied device, an unknown and a wrong code get nothing; other sites press no button", async () => {
  const browser = await signedIn(world);
  const asked = await device();
  const foreign = await press(browser, `/device?user_code=${asked.user_code}`, "allow", {
    headers: { origin: "https://evil.example" },
  });
  expect(foreign.status).toBe(403);
  const page = formIn(await (await browser.go(`/device?user_code=${asked.user_code}`)).text());
  const other = await signedIn(world, {
    claims: { sub: "bob-1" },
    userinfo: { sub: "bob-1", groups: ["users"] },
  });
  const stolen = await other.go(page.action, {
    method: "POST",
    body: new URLSearchParams({ ...page.fields, decision: "allow" }),
    headers: { origin: admin },
  });
  expect(stolen.status).toBe(403);
  expect((await poll(asked)).body.error).toBe("authorization_pending");
  await press(browser, `/device?user_code=${asked.user_code}`, "deny");
  expect((await poll(asked)).body.error).toBe("access_denied");
  expect((await poll({ device_code: "x".repeat(43) })).body.error).toBe("invalid_grant");
});

test("who may not use models lets no device in, and nobody without a session does", async () => {
  const asked = await device();
  const nobody = await new Browser(admin).go(`/device?user_code=${asked.user_code}`);
  expect([nobody.status, nobody.headers.get("location")]).toEqual([
    303,
    `/auth/login/corp?to=${encodeURIComponent(`/device?user_code=${asked.user_code}`)}`,
  ]);
  const reader = await signedIn(world, READER);
  const refused = await press(reader, `/device?user_code=${asked.user_code}`, "allow");
  expect(refused.status).toBe(403);
  expect((await poll(asked)).body.error).toBe("authorization_pending");
});

test("a refresh token gives the next one: again the same to who lost the answer, at once and together", async () => {
  const first = await connected(await signedIn(world));
  const both = await Promise.all([refresh(first.refresh_token!), refresh(first.refresh_token!)]);
  expect(both.map(({ status }) => status)).toEqual([200, 200]);
  expect(both[0]!.body.refresh_token).toBe(both[1]!.body.refresh_token!);
  const next = both[0]!.body.refresh_token!;
  expect(next).not.toBe(first.refresh_token!);
  expect(await ask(both[0]!.body.access_token!)).toBe(200);
  expect((await refresh(next)).status).toBe(200);
  for (const wrong of ["x", "weir_rt_x", first.access_token!, `${next}x`]) {
    const { status, body } = await refresh(wrong);
    expect([status, body.error]).toEqual([401, "invalid_grant"]);
  }
});

test("a sign-out ends both tokens at once; a suspension ends them too, until it ends", async () => {
  const browser = await signedIn(world);
  const first = await connected(browser);
  const out = await oauth(`${gateway.url}/oauth/revoke`, { token: first.access_token! });
  expect(out.status).toBe(200);
  expect([await ask(first.access_token!), (await refresh(first.refresh_token!)).status]).toEqual([401, 401]);
  expect((await oauth(`${gateway.url}/oauth/revoke`, { token: "unknown" })).status).toBe(200);
  const second = await connected(browser);
  const status = async (status: string) =>
    (
      await fetch(`${admin}/admin/v1/people/${personId(issuer.url, "alice-1")}`, {
        method: "PATCH",
        headers: { authorization: `Bearer ${ADMIN_KEY}`, "content-type": "application/json" },
        body: JSON.stringify({ status }),
      })
    ).status;
  expect(await status("suspended")).toBe(200);
  expect([await ask(second.access_token!), (await refresh(second.refresh_token!)).status]).toEqual([
    403, 401,
  ]);
  expect(await status("active")).toBe(200);
  expect(await ask(second.access_token!)).toBe(200);
  expect((await refresh(second.refresh_token!)).status).toBe(200);
});

test("who is gone at the provider gets no next token, and its calls end", async () => {
  const carl = { claims: { sub: "carl-1" }, userinfo: { sub: "carl-1", groups: ["users"] } };
  const { provider } = world;
  provider.refreshing.isGiven = true;
  const first = await connected(await signedIn(world, carl));
  provider.refreshing.isGiven = false;
  expect((await refresh(first.refresh_token!)).status).toBe(200);
  provider.refreshTokens.clear();
  await Bun.sleep(10_500);
  const { status, body } = await refresh(first.refresh_token!);
  expect([status, body.error]).toEqual([401, "invalid_grant"]);
  expect(await until(async () => (await ask(first.access_token!)) !== 200, 2_000)).toBe(true);
});

test("a role that is gone ends the calls of tokens that were given before", async () => {
  const browser = await signedIn(world);
  const first = await connected(browser);
  expect(await ask(first.access_token!)).toBe(200);
  await signedIn(world, { userinfo: { groups: ["readers"] } });
  expect(await until(async () => (await ask(first.access_token!)) === 403, 2_000)).toBe(true);
  expect((await refresh(first.refresh_token!)).status).toBe(401);
  await signedIn(world);
});

/** The way of a program through the browser. @returns where the browser goes at the end */
async function authorize(browser: Browser, query: Record<string, string>, decision = "allow") {
  const path = `/oauth/authorize?${new URLSearchParams(query)}`;
  const shown = await browser.go(path);
  if (shown.status !== 200) return shown;
  const { action, fields } = formIn(await shown.text());
  const body = new URLSearchParams({ ...fields, decision });
  return browser.go(action, { method: "POST", body, headers: { origin: admin } });
}

async function register(metadata: object) {
  const answer = await fetch(`${gateway.url}/oauth/register`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(metadata),
  });
  return { status: answer.status, body: (await answer.json()) as OAuthBody };
}

const REDIRECT = "http://127.0.0.1:33418/callback";

test("a program that registered itself gets tokens by code and PKCE; consent is asked once", async () => {
  const browser = await signedIn(world);
  const { status, body: client } = await register({ client_name: "Tool <b>", redirect_uris: [REDIRECT] });
  expect([status, client.token_endpoint_auth_method]).toEqual([201, "none"]);
  const { verifier, challenge } = pkce();
  const query = {
    ...{ response_type: "code", client_id: client.client_id!, redirect_uri: "http://127.0.0.1:5/callback" },
    ...{ code_challenge: challenge, code_challenge_method: "S256", state: "s t&", scope: "openid models" },
  };
  const page = await (await browser.go(`/oauth/authorize?${new URLSearchParams(query)}`)).text();
  expect(page).toContain("Tool &#60;b&#62;");
  const back = new URL((await authorize(browser, query)).headers.get("location")!);
  expect([back.origin, back.searchParams.get("state"), back.searchParams.get("iss")]).toEqual([
    ...["http://127.0.0.1:5", "s t&", admin],
  ]);
  const exchange = (more: Record<string, string> = {}, code = back.searchParams.get("code")!) =>
    token({
      ...{ grant_type: "authorization_code", code, client_id: client.client_id! },
      ...{ redirect_uri: query.redirect_uri, code_verifier: verifier, ...more },
    });
  const wrongs: Record<string, string>[] = [
    { code_verifier: pkce().verifier },
    { redirect_uri: REDIRECT },
    { client_id: "dcr_x" },
    { resource: `${admin}/mcp/tools` },
    { resource: "https://evil.example" },
  ];
  for (const wrong of wrongs) expect((await exchange(wrong)).status).toBe(400);
  const { body } = await exchange();
  expect(await ask(body.access_token!)).toBe(200);
  // Consent is remembered; a code that is used twice ends its tokens.
  const again = await browser.go(`/oauth/authorize?${new URLSearchParams(query)}`);
  expect(again.status).toBe(303);
  expect((await exchange()).body.error).toBe("invalid_grant");
  expect(await until(async () => (await ask(body.access_token!)) === 401, 2_000)).toBe(true);
});

test("a token for another resource is no credential of models", async () => {
  const browser = await signedIn(world);
  const { body: client } = await register({ redirect_uris: [REDIRECT] });
  const { verifier, challenge } = pkce();
  const resource = `${admin}/mcp/tools`;
  const back = await authorize(browser, {
    ...{ response_type: "code", client_id: client.client_id!, redirect_uri: REDIRECT, resource },
    ...{ code_challenge: challenge, code_challenge_method: "S256" },
  });
  const code = new URL(back.headers.get("location")!).searchParams.get("code")!;
  const { body } = await token({
    ...{ grant_type: "authorization_code", code, client_id: client.client_id!, redirect_uri: REDIRECT },
    ...{ code_verifier: verifier, resource },
  });
  expect(readToken(body.access_token!).claims["aud"]).toBe(resource);
  expect(await ask(body.access_token!)).toBe(401);
});

const WRONG_REQUESTS: readonly [string, Record<string, string>, string][] = [
  ["no PKCE", { code_challenge: "" }, "invalid_request"],
  ["plain PKCE", { code_challenge_method: "plain" }, "invalid_request"],
  ["implicit", { response_type: "token" }, "unsupported_response_type"],
  ["another resource", { resource: "https://evil.example" }, "invalid_target"],
  ["a model that is none", { scope: "models:a\u0001b" }, "invalid_scope"],
];

test("what is wrong with a request goes back to the program; an address that is not its own gets nothing", async () => {
  const browser = await signedIn(world);
  const { body: client } = await register({ redirect_uris: [REDIRECT, "cursor://weir/cb"] });
  const right = {
    ...{ response_type: "code", client_id: client.client_id!, redirect_uri: REDIRECT, state: "s" },
    ...{ code_challenge: pkce().challenge, code_challenge_method: "S256" },
  };
  for (const [name, wrong, error] of WRONG_REQUESTS) {
    const answer = await browser.go(`/oauth/authorize?${new URLSearchParams({ ...right, ...wrong })}`);
    const back = new URL(answer.headers.get("location")!);
    expect([
      name,
      back.origin + back.pathname,
      back.searchParams.get("error"),
      back.searchParams.get("state"),
    ]).toEqual([...[name, REDIRECT, error, "s"]]);
  }
  for (const redirect of [
    ...[
      "https://evil.example/callback",
      "http://127.0.0.1:33418/other",
      "http://127.0.0.1@evil.example/callback",
    ],
    ...[
      "http://127.0.0.1:33418/callback#x",
      "http://127.0.0.1.evil.example/callback",
      "cursor://weir/cb2",
      "javascript:alert(1)",
    ],
    ...[
      "http://127.0.0.1:33418/callback/..",
      "HTTP://127.0.0.1:33418/callback",
      "http://localhost:33418/callback",
      "",
    ],
  ]) {
    const answer = await browser.go(
      `/oauth/authorize?${new URLSearchParams({ ...right, redirect_uri: redirect })}`,
    );
    expect([redirect, answer.status, answer.headers.get("location")]).toEqual([redirect, 400, null]);
  }
  const denied = await authorize(browser, right, "deny");
  expect(new URL(denied.headers.get("location")!).searchParams.get("error")).toBe("access_denied");
  const scheme = await browser.go(
    `/oauth/authorize?${new URLSearchParams({ ...right, redirect_uri: "cursor://weir/cb" })}`,
  );
  expect(scheme.headers.get("content-security-policy")).toContain("form-action 'self' cursor:;");
});

test("programs that cannot be trusted do not register", async () => {
  for (const redirects of [
    ...[
      [],
      ["http://evil.example/cb"],
      ["javascript:alert(1)"],
      ["data:text/html,x"],
      ["https://a.example/#x"],
    ],
    ...[
      ["https://u:p@a.example/"],
      ["/relative"],
      Array.from({ length: 21 }, (_, at) => `https://a.example/${at}`),
      "x",
    ],
  ])
    expect([redirects, (await register({ redirect_uris: redirects })).status]).toEqual([redirects, 400]);
  expect(
    (await register({ redirect_uris: [REDIRECT], token_endpoint_auth_method: "client_secret_basic" })).status,
  ).toBe(400);
});

test("a program is known by the document at its address, if that is right, small, quick and public", async () => {
  const browser = await signedIn(world);
  const base = `http://127.0.0.1:${documents.port}`;
  const serveDocument = (path: string, more: object = {}) => {
    DOCUMENTS[path] = (url) =>
      Response.json({ client_id: url, client_name: "Documented", redirect_uris: [REDIRECT], ...more });
    return base + path;
  };
  const ask = (id: string) =>
    browser.go(
      `/oauth/authorize?${new URLSearchParams({
        ...{ response_type: "code", client_id: id, redirect_uri: REDIRECT },
        ...{ code_challenge: pkce().challenge, code_challenge_method: "S256" },
      })}`,
    );
  const page = await ask(serveDocument("/good.json"));
  expect(page.status).toBe(200);
  expect(await page.text()).toContain("Documented");
  DOCUMENTS["/large.json"] = (url) =>
    Response.json({ client_id: url, redirect_uris: [REDIRECT], more: "x".repeat(10_000_000) });
  DOCUMENTS["/moved.json"] = () => Response.redirect(`${base}/good.json`);
  DOCUMENTS["/page.json"] = () => new Response("<html>", { headers: { "content-type": "text/html" } });
  DOCUMENTS["/slow.json"] = () =>
    new Response(new ReadableStream({ pull: () => Bun.sleep(20_000) }), {
      headers: { "content-type": "application/json" },
    });
  const started = performance.now();
  for (const id of [
    serveDocument("/other.json", { client_id: `${base}/good.json` }),
    serveDocument("/secret.json", { token_endpoint_auth_method: "client_secret_basic" }),
    serveDocument("/nowhere.json", { redirect_uris: [] }),
    ...["/large.json", "/moved.json", "/page.json", "/slow.json", "/absent.json"].map((path) => base + path),
    ...["https://127.0.0.1/c", "https://[::1]/c", "https://169.254.169.254/latest", "https://localhost/c"],
    ...["https://10.0.0.1/c", "https://[::ffff:127.0.0.1]/c", "https://0x7f.1/c", "https://user@a.example/c"],
    ...[
      "http://a.example/c",
      `http://localhost:${documents.port}/good.json`,
      "https://a.example",
      "ftp://a/c",
    ],
  ]) {
    const answer = await ask(id);
    expect([id, answer.status, answer.headers.get("location")]).toEqual([id, 401, null]);
  }
  expect(performance.now() - started).toBeLessThan(30_000);
  const isLogged = () => gateway.log.some((line) => line.includes("has an address that is not public"));
  expect(await until(isLogged)).toBe(true);
});

test("metadata says what there is, at both listeners", async () => {
  const [one, other] = await Promise.all(
    [gateway.url, admin].map(
      async (at) =>
        (await fetch(`${at}/.well-known/oauth-authorization-server`)).json() as Promise<
          Record<string, unknown>
        >,
    ),
  );
  expect(one).toEqual(other!);
  expect(one).toMatchObject({
    ...{ issuer: admin, authorization_endpoint: `${admin}/oauth/authorize` },
    ...{ device_authorization_endpoint: `${admin}/oauth/device_authorization`, gateway_protocol_version: 1 },
    ...{ revocation_endpoint: `${admin}/oauth/revoke`, registration_endpoint: `${admin}/oauth/register` },
    grant_types_supported: expect.arrayContaining(["refresh_token", DEVICE_GRANT, "authorization_code"]),
  });
});

test("who guesses codes is stopped after five", async () => {
  const browser = await signedIn(world);
  const answers: number[] = [];
  for (let at = 0; at < 7; at++)
    answers.push((await browser.go(`/device?user_code=BCDF-GHJ${"KLMNPQR"[at]}`)).status);
  expect(answers).toEqual([400, 400, 400, 400, 400, 429, 429]);
});
