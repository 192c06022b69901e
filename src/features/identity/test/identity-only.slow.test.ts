/** `identity.only`: people sign in alone. Keys are no callers of the admin API; the command line on the machine and its links stay. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { freePort, type Serving, serve, until } from "../../../../test/helpers/serving.ts";
import { Issuer } from "./support/issuer.ts";
import { faultOf } from "./support/load.ts";
import { Browser, CLIENT, FakeSignIn } from "./support/sign-in.ts";

setDefaultTimeout(60_000);

const ADMIN = "weir-planted-admin-0001";
const READER = "weir-planted-reader-0001";
let issuer: Issuer;
let provider: FakeSignIn;
let gateway: Serving;
let admin = "";

const config = (only: boolean) =>
  JSON.stringify({
    log: { format: "json" },
    admin: { port: Number(new URL(admin).port) },
    state: "state",
    adminKeys: [
      { name: "boss", key: ADMIN, role: "admin" },
      { name: "prometheus", key: READER, role: "read" },
    ],
    identity: {
      ...{ url: admin, only },
      providers: {
        corp: {
          ...{ issuer: issuer.url, client: CLIENT.id, secret: CLIENT.secret },
          groups: { "llm-admins": { admin: "/" } },
        },
      },
    },
  });

beforeAll(async () => {
  issuer = await Issuer.start("ES256");
  provider = new FakeSignIn(issuer);
  admin = `http://127.0.0.1:${freePort()}`;
  gateway = await serve({ workers: 2, config: config(true) });
  expect(await until(async () => (await fetch(`${admin}/auth/`)).status === 200)).toBe(true);
});

afterAll(async () => {
  await gateway?.end();
  await issuer?.stop();
});

const ask = async (path: string, init: RequestInit = {}) =>
  (await fetch(`${admin}/admin/v1${path}`, init)).status;
const withKey = (key: string) => ({ headers: { authorization: `Bearer ${key}` } });
const CONSOLE = () => ({ "x-weir-console": "1", origin: admin, "content-type": "application/json" });

/** A session of the console, by what is in the body. */
const begin = (body: object) =>
  fetch(`${admin}/admin/v1/session`, { method: "POST", headers: CONSOLE(), body: JSON.stringify(body) });

test("no key reads, writes or signs in; figures are still collected", async () => {
  expect(await ask("/keys", withKey(ADMIN))).toBe(403);
  expect(await ask("/keys", withKey(READER))).toBe(403);
  const body = JSON.stringify({ name: "x" });
  const headers = { authorization: `Bearer ${ADMIN}`, "content-type": "application/json" };
  expect(await ask("/keys", { method: "POST", headers, body })).toBe(403);
  expect((await begin({ key: ADMIN })).status).toBe(403);
  expect((await fetch(`${admin}/metrics`, withKey(READER))).status).toBe(200);
});

test("the command line goes on, its link opens the console, and both are in the audit log", async () => {
  expect(gateway.run("people", "list").code).toBe(0);
  const link = gateway.run("console").output;
  const [, token] = /#t=([\w-]+)/.exec(link) ?? [];
  const begun = await begin({ token });
  expect(begun.status).toBe(200);
  const [cookie = ""] = begun.headers.getSetCookie()[0]!.split(";");
  expect(await ask("/keys", { headers: { cookie } })).toBe(200);
  expect(gateway.run("audit", "log").output).toMatch(/console +127\.0\.0\.1 +sign in +console/);
});

test("people sign in, and a reload lets keys in again", async () => {
  const browser = new Browser(admin);
  expect((await browser.signIn(provider)).status).toBe(303);
  expect((await browser.go("/admin/v1/keys")).status).toBe(200);
  gateway.configure(config(false));
  gateway.signal("SIGHUP");
  expect(await until(async () => (await ask("/keys", withKey(ADMIN))) === 200)).toBe(true);
  // A session that began with a key meanwhile is none when keys are off again.
  const [cookie = ""] = (await begin({ key: ADMIN })).headers.getSetCookie()[0]!.split(";");
  expect(await ask("/keys", { headers: { cookie } })).toBe(200);
  gateway.configure(config(true));
  gateway.signal("SIGHUP");
  expect(await until(async () => (await ask("/keys", withKey(ADMIN))) === 403)).toBe(true);
  expect(await ask("/keys", { headers: { cookie } })).toBe(403);
});

test("the option needs somewhere to sign in", () => {
  expect(faultOf({ only: true })).toContain("only needs a provider with client");
  expect(faultOf({ only: false })).toBeUndefined();
});
