/** Behind a proxy with a name, and with a provider that is away at the start: addresses come from the config, and keys go on. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { freePort, type Serving, serve, until } from "../../../../test/helpers/serving.ts";
import { Issuer } from "./support/issuer.ts";
import { CLIENT, FakeSignIn } from "./support/sign-in.ts";

setDefaultTimeout(60_000);

const KEY = "weir-planted-key-0001";
const PUBLIC = "https://weir.corp.example";
const NAME = "weir.corp.example";
const PAINTER = `export default { name: "painter", providers: [{ name: "painter", models: ["picture"],
  async *generate() {
    yield { type: "message-start", id: "a", model: "picture" };
    yield { type: "block-start", index: 0, block: { type: "text" } };
    yield { type: "block-delta", index: 0, delta: "done" };
    yield { type: "block-end", index: 0 };
    const usage = { input: 1, cacheRead: 0, cacheWrite: 0, output: 1, reasoning: 0, known: "final" };
    yield { type: "message-end", reason: { kind: "stop" }, usage };
  } }] };`;

let issuer: Issuer;
let provider: FakeSignIn;
let gateway: Serving;
let admin = "";
let deadPort = 0;

beforeAll(async () => {
  issuer = await Issuer.start("ES256");
  provider = new FakeSignIn(issuer);
  const port = freePort();
  admin = `http://127.0.0.1:${port}`;
  deadPort = freePort();
  const client = { client: CLIENT.id, secret: CLIENT.secret, groups: { "llm-admins": { admin: "/" } } };
  gateway = await serve({
    workers: 1,
    config: JSON.stringify({
      ...{ log: { format: "json" }, admin: { port, names: [NAME] }, state: "state" },
      keys: [{ name: "ci", key: KEY }],
      prices: { "painter/*": { input: 0, output: 0 } },
      identity: {
        url: PUBLIC,
        providers: {
          corp: { issuer: issuer.url, ...client },
          dead: { issuer: `http://127.0.0.1:${deadPort}`, audience: "weir", ...client },
        },
      },
    }),
    plugins: { "painter.ts": PAINTER },
  });
  const isOn = async () => (await ask("/auth/")).status === 200;
  expect(await until(isOn)).toBe(true);
});

afterAll(async () => {
  await gateway?.end();
  await issuer?.stop();
});

const ask = (path: string, headers: Record<string, string> = { host: NAME }) =>
  fetch(admin + path, { redirect: "manual", headers });

test("calls with keys go on while a provider is away; its sign-in says which one it is, and works when it is back", async () => {
  const call = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${KEY}`, "content-type": "application/json" },
    body: JSON.stringify({ model: "painter/picture", messages: [{ role: "user", content: "hello" }] }),
  });
  expect([call.status, await call.text()]).toEqual([200, expect.stringContaining("done")]);
  const choice = await (await ask("/auth/")).text();
  for (const name of ["corp", "dead"]) expect(choice).toContain(`/auth/login/${name}?`);
  const away = await ask("/auth/login/dead");
  expect([away.status, away.headers.get("retry-after")]).toEqual([503, "60"]);
  expect(await away.text()).toContain("The provider dead cannot be reached");
  expect((await ask("/auth/login/corp")).status).toBe(303);
  const back = Bun.serve({
    ...{ port: deadPort, hostname: "127.0.0.1" },
    fetch: ({ url }) =>
      Response.json({
        issuer: new URL(url).origin,
        authorization_endpoint: `${new URL(url).origin}/authorize`,
      }),
  });
  expect((await ask("/auth/login/dead")).status).toBe(303);
  await back.stop(true);
});

const FORWARDED: readonly Record<string, string>[] = [
  {},
  { "x-forwarded-host": "evil.example", "x-forwarded-proto": "http" },
  { "x-forwarded-host": "evil.example:8443", "x-forwarded-port": "8443", "x-forwarded-prefix": "/evil" },
  { forwarded: "host=evil.example;proto=http", "x-original-host": "evil.example", "x-host": "evil.example" },
];

test.each(FORWARDED)(
  "the way back is the address of the config, whatever a header says: %o",
  async (headers) => {
    const answer = await ask("/auth/login/corp?to=/console/usage", { host: NAME, ...headers });
    const location = new URL(answer.headers.get("location")!);
    expect(location.searchParams.get("redirect_uri")).toBe(`${PUBLIC}/auth/callback/corp`);
    expect(location.href).not.toContain("evil");
    const [cookie = ""] = answer.headers.getSetCookie();
    expect(cookie).toMatch(
      /^__Host-weir-login-\S{8}=\S+; Max-Age=600; Path=\/; HttpOnly; SameSite=Lax; Secure$/,
    );
    const back = provider.consent(location.href, {});
    const done = await ask(`/auth/callback/corp?${back}`, {
      host: NAME,
      cookie: cookie.split(";")[0]!,
      ...headers,
    });
    expect([done.status, done.headers.get("location")]).toEqual([303, "/console/usage"]);
    const session = done.headers.getSetCookie().find((set) => set.startsWith("__Host-weir-session="))!;
    expect(session).toMatch(/; Path=\/; HttpOnly; SameSite=Lax; Secure$/);
    expect(session).not.toContain("Domain");
  },
);

test("another host is no host of the listener", async () => {
  for (const host of ["evil.example", "weir.corp.example.evil.example", "weir.corp.example@evil.example"])
    expect((await ask("/auth/login/corp", { host })).status).toBeGreaterThanOrEqual(400);
});

test("forms of another origin do nothing, and no page can be framed", async () => {
  const post = (origin: string) =>
    fetch(`${admin}/auth/logout`, { method: "POST", redirect: "manual", headers: { host: NAME, origin } });
  for (const origin of ["https://evil.example", "http://weir.corp.example", "null", `${PUBLIC}.evil.example`])
    expect((await post(origin)).status).toBe(403);
  expect((await post(PUBLIC)).status).toBe(303);
  for (const path of ["/auth/", "/auth/callback/corp?state=x", "/auth/login/dead"]) {
    const { headers } = await ask(path);
    expect(headers.get("x-frame-options")).toBe("DENY");
    expect(headers.get("content-security-policy")).toContain("frame-ancestors 'none'");
  }
});
