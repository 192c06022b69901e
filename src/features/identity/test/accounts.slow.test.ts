/** A person connects an account at a server of tools: the browser must be signed in as the person whose call wanted it. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { FakeAuthority, FakeGuarded } from "../../../../test/helpers/guarded-server.ts";
import { freePort, type Serving, serve, until } from "../../../../test/helpers/serving.ts";
import { askModern } from "../../../../test/helpers/tools-client.ts";
import { OwnTokens } from "../own/own-tokens.ts";
import { personId } from "../people.ts";
import { Issuer } from "./support/issuer.ts";
import { formIn } from "./support/programs.ts";
import { proxyOf } from "./support/proxy.ts";
import { Browser, CLIENT, FakeSignIn } from "./support/sign-in.ts";

setDefaultTimeout(60_000);

const SECRET = "planted-secret-of-weirs-own-tokens-0001";
const KEY = "weir-planted-key-0001";
const CALL = { name: "echo", arguments: { word: "hello" } };
const LINKS = { elicitation: { url: {} } };

let issuer: Issuer;
let provider: FakeSignIn;
let authority: FakeAuthority;
let guarded: FakeGuarded;
let gateway: Serving;
let proxy: ReturnType<typeof proxyOf>;
let url: string;

beforeAll(async () => {
  issuer = await Issuer.start("ES256");
  provider = new FakeSignIn(issuer);
  authority = new FakeAuthority();
  guarded = new FakeGuarded(authority);
  proxy = proxyOf();
  url = proxy.url;
  const port = freePort();
  gateway = await serve({
    workers: 1,
    config: JSON.stringify({
      ...{ log: { format: "json" }, admin: { port }, state: "state", keys: [{ name: "ci", key: KEY }] },
      tools: {
        ...{ url, hosts: [authority.host], pin: "off" },
        servers: {
          files: { url: guarded.url, allow: ["/eng"], auth: { user: {} } },
          own: { url: guarded.url, allow: ["*"], auth: { exchange: { client: "weir", secret: "x" } } },
        },
      },
      identity: {
        ...{ url, tokens: { secret: SECRET } },
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
  await Promise.all([proxy.stop(), issuer.stop(), authority.stop(), guarded.stop()]);
});

const signedIn = async (sub: string) => {
  const browser = new Browser(url);
  const userinfo = { sub, name: sub, email: `${sub}@corp.example`, groups: ["users"] };
  expect((await browser.signIn(provider, { claims: { sub }, userinfo })).status).toBe(303);
  return browser;
};

const tokenOf = (sub: string) =>
  new OwnTokens(url, SECRET, Date.now).make(
    { person: personId(issuer.url, sub), name: sub, path: `/eng/${sub}`, entry: "corp", scope: "tools" },
    600_000,
  );

const call = async (sub: string) =>
  askModern(`${url}/mcp/files`, await tokenOf(sub), {
    method: "tools/call",
    params: CALL,
    capabilities: LINKS,
  });

async function linkOf(sub: string): Promise<string> {
  const { result } = await call(sub);
  return (result.inputRequests["weir/connect"].params.url as string).slice(url.length);
}

test("only the person whose call wanted it connects an account, signed in with its browser", async () => {
  const link = await linkOf("alice");
  const nobody = await new Browser(url).go(link);
  const target = new URL(nobody.headers.get("location")!);
  expect([nobody.status, target.pathname, target.searchParams.get("to")]).toEqual([
    303,
    "/auth/login/corp",
    link,
  ]);

  const [alice, bob] = [await signedIn("alice"), await signedIn("bob")];
  expect((await bob.go(link)).status).toBe(403);
  const { action, fields } = formIn(await (await alice.go(link)).text());
  const send = (browser: Browser, form: Record<string, string>, origin = url) =>
    browser.go(action, { method: "POST", body: new URLSearchParams(form), headers: { origin } });
  expect((await send(bob, fields)).status).toBe(403);
  expect((await send(alice, { ...fields, token: "x" })).status).toBe(403);
  expect((await send(alice, fields, "https://evil.example")).status).toBe(403);
  const away = await send(alice, fields);
  const location = away.headers.get("refresh")!.slice("0; url=".length);
  const back = `/mcp/oauth/callback?${new URLSearchParams(authority.consent(location))}`;
  expect((await bob.go(back)).status).toBe(403);
  expect(await (await alice.go(back)).text()).toContain("is connected");
  expect((await alice.go(link)).status).toBe(410);

  expect(JSON.stringify((await call("alice")).result.content)).toContain("hello");
  expect((await call("bob")).result.resultType).toBe("input_required");
});

test("a browser that had to sign in comes back to the link", async () => {
  const link = await linkOf("carol");
  const carol = new Browser(url);
  const to = (await carol.go(link)).headers.get("location")!.slice(url.length);
  const away = await carol.go(to);
  const userinfo = { sub: "carol", name: "carol", email: "carol@corp.example", groups: ["users"] };
  const query = provider.consent(away.headers.get("location")!, { claims: { sub: "carol" }, userinfo });
  const done = await carol.go(`/auth/callback/corp?${query}`);
  expect(done.headers.get("location")).toBe(link);
  expect((await carol.go(link)).status).toBe(200);
});

test("the token of a caller is exchanged for one of the server, which sees no other; a key is no token", async () => {
  const token = await tokenOf("dave");
  const ask = (credential: string) =>
    askModern(`${url}/mcp/own`, credential, { method: "tools/call", params: CALL });
  expect(JSON.stringify((await ask(token)).result.content)).toContain("hello");
  expect(authority.asked.at(-1)!.form.get("subject_token")).toBe(token);
  const asked = authority.asked.length;
  expect((await ask(KEY)).error.message).toContain("not with a key");
  expect(authority.asked).toHaveLength(asked);
  expect(guarded.seen.join()).not.toContain(token);
});
