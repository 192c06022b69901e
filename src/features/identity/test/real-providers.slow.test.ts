/**
 * Sign-in at identity providers of others, without a browser: oidc-provider (certified), oauth2-mock-server, and a server with
 * Authlib. Nothing is installed here: `WEIR_PROVIDERS` names a folder that has them.
 */
import { afterEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { generateKeyPairSync } from "node:crypto";
import { freePort, type Serving, serve, until } from "../../../../test/helpers/serving.ts";
import { fetchDocument } from "../fetch-document.ts";
import { PeopleBook } from "../people-book.ts";
import { Provider } from "../sign-in/provider.ts";
import { Recheck } from "../sign-in/recheck.ts";
import { RefreshBook } from "../sign-in/refresh-book.ts";
import { Sealer } from "../sign-in/sealer.ts";
import { SessionBook } from "../sign-in/session-book.ts";
import { openStore } from "./support/store.ts";
import {
  missing,
  PEOPLE,
  type RealProvider,
  type Registration,
  startAuthlib,
  startMockServer,
  startOidcProvider,
  Walker,
} from "./support/real-providers.ts";

setDefaultTimeout(60_000);

const CLIENT = { client: "weir", secret: "planted-secret-of-the-client" };
const ANNA = {
  name: "Anna",
  email: "anna@corp.example",
  email_verified: true,
  groups: ["llm-admins", "team-a"],
};
const GROUPS = { "llm-admins": { admin: "/" }, "team-*": { member: "/teams/{1}" } };
let real: RealProvider | undefined;
let gateway: Serving | undefined;

afterEach(async () => {
  await gateway?.end();
  await real?.stop();
  [gateway, real] = [undefined, undefined];
});

/** weir with a provider. @returns its public address */
async function start(
  provide: (registration: Registration) => Promise<RealProvider>,
  options: object = {},
): Promise<string> {
  const port = freePort();
  const weir = `http://127.0.0.1:${port}`;
  real = await provide({ weir, ...CLIENT });
  const { client, secret } = CLIENT;
  gateway = await serve({
    workers: 1,
    config: JSON.stringify({
      ...{ log: { format: "json" }, admin: { port }, state: "state" },
      identity: {
        url: weir,
        providers: { corp: { issuer: real.issuer, client, secret, groups: GROUPS, ...options } },
      },
    }),
  });
  expect(await until(async () => (await fetch(`${weir}/auth/`)).status === 200)).toBe(true);
  return weir;
}

/** Signs somebody in. @returns the browser, which has a session */
async function signIn(weir: string, who: string, prompt = "consent"): Promise<Walker> {
  const walker = new Walker({ login: who, password: "x", sub: who });
  const to = encodeURIComponent("/console/me");
  const page = await walker.walk(`${weir}/auth/login/corp?prompt=${prompt}&to=${to}`, weir);
  const text = await page.text();
  expect([page.status, gateway!.log.filter((line) => line.includes("was refused"))]).toEqual([200, []]);
  for (const part of ["admin on <code>/</code>", "group:llm-admins", "member on <code>/teams/a</code>"])
    expect(text).toContain(part);
  return walker;
}

const session = async (walker: Walker, weir: string) => (await walker.go(`${weir}/admin/v1/session`)).status;

const ASK = ["openid", "profile", "email", "groups", "offline_access"];
const noNode = missing("oidc-provider");

if (noNode !== undefined) test.skip(`oidc-provider: ${noNode}`, () => {});
else
  describe("oidc-provider", () => {
    test("sign-in, console, sign-out at the provider, which ends the other session by its back channel", async () => {
      PEOPLE.set("anna", ANNA);
      const weir = await start((registration) => startOidcProvider(registration), { ask: ASK });
      const [first, second] = [await signIn(weir, "anna"), await signIn(weir, "anna")];
      expect(await session(first, weir)).toBe(200);
      expect(await (await first.go(`${weir}/console/me`)).text()).toContain("/people/anna");
      // The second browser signs out; the provider tells weir of its session alone.
      const body = new URLSearchParams({ everywhere: "1" });
      const out = { method: "POST", headers: { origin: weir }, body };
      const end = await second.walk(`${weir}/auth/logout`, weir, out);
      expect([end.status, second.steps.at(-1)]).toEqual([200, "/auth/"]);
      expect([await session(first, weir), await session(second, weir)]).toEqual([200, 401]);
      // The first one ends at the provider: nobody tells its browser.
      const idp = real!.issuer;
      const cookie = [...first.jars.get(new URL(idp).host)!]
        .map(([name, value]) => `${name}=${value}`)
        .join("; ");
      const asked = await fetch(`${idp}/session/end`, { headers: { cookie } });
      const [, secret = ""] = /name="xsrf" value="([^"]+)"/.exec(await asked.text()) ?? [];
      const form = new URLSearchParams({ xsrf: secret, logout: "yes" });
      const jar = [cookie, ...asked.headers.getSetCookie().map((set) => set.split(";")[0])].join("; ");
      const confirmed = await fetch(`${idp}/session/end/confirm`, {
        ...{ method: "POST", body: form, redirect: "manual", headers: { cookie: jar } },
      });
      expect(confirmed.status).toBe(303);
      expect(await until(async () => (await session(first, weir)) === 401)).toBe(true);
    });

    test("without consent it gives no refresh token, and the log says what that means", async () => {
      PEOPLE.set("anna", ANNA);
      const weir = await start((registration) => startOidcProvider(registration), { ask: ASK });
      await signIn(weir, "anna", "login");
      const lines = () => gateway!.log.filter((line) => line.includes("gives no refresh token"));
      expect(await until(async () => lines().length === 1)).toBe(true);
      await signIn(weir, "anna", "login");
      expect(lines().length).toBe(1);
    });

    test("a private key in place of the secret, and requests ahead of the browser", async () => {
      PEOPLE.set("anna", ANNA);
      const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
      const jwk = { ...privateKey.export({ format: "jwk" }), kid: "k1" };
      const { d: _, ...open } = jwk;
      const own = { token_endpoint_auth_method: "private_key_jwt", jwks: { keys: [open] } };
      const par = {
        pushedAuthorizationRequests: { enabled: true, requirePushedAuthorizationRequests: true },
      };
      const weir = await start(
        ({ weir: address, client }) =>
          startOidcProvider(
            { weir: address, client, secret: "" },
            { ...own, client_secret: undefined },
            { features: par },
          ),
        { ask: ASK, secret: undefined, method: "private_key_jwt", key: JSON.stringify(jwk) },
      );
      expect(await session(await signIn(weir, "anna"), weir)).toBe(200);
    });

    test.each([[true], [false]])(
      "re-checks: rotation (%p), groups that change, somebody who is gone",
      async (rotates) => {
        PEOPLE.set("anna", ANNA);
        const callback = `http://127.0.0.1:${freePort()}`;
        const registration = { weir: callback, ...CLIENT };
        const idp = (real = await startOidcProvider(registration, {}, { rotateRefreshToken: rotates }));
        const provider = new Provider({
          provider: {
            ...{ name: "corp", ...CLIENT, scopes: ASK },
            options: { issuer: idp.issuer, groups: GROUPS },
          },
          ...{ callback: `${callback}/auth/callback/corp`, fetchDocument, now: Date.now, fault: () => {} },
        });
        const { location, attempt } = await provider.begin("/console", "consent");
        const walker = new Walker({ login: "anna", password: "x" });
        const back = Bun.serve({
          port: Number(new URL(callback).port),
          fetch: (request) => new Response(request.url),
        });
        const query = new URL(await (await walker.walk(location, callback)).text()).searchParams;
        await back.stop(true);
        const signedIn = await provider.finish(query, attempt);
        expect(signedIn.refreshToken).toBeDefined();
        const store = openStore();
        const [people, sessions] = [new PeopleBook(store.host), new SessionBook(store.host)];
        const recheck = new Recheck({
          ...{ book: new RefreshBook(store.host), people, sessions, now: Date.now },
          fault: (sentence) => void store.log.push(sentence),
          providers: new Map([["corp", { provider, sealer: new Sealer(CLIENT.secret, "refresh tokens") }]]),
        });
        const { person } = signedIn;
        await people.regroup({ actor: "test" }, person, signedIn.grants);
        await recheck.keep({ person, provider: "corp" }, signedIn.refreshToken);
        const check = () => recheck.check(person, "corp", { olderThanMs: 0 });
        for (let n = 0; n < 3; n++) expect([await check(), store.log]).toEqual(["ok", []]);
        PEOPLE.set("anna", { ...ANNA, groups: ["team-b"] });
        expect(await check()).toBe("ok");
        expect((await people.known(person)).grants.map(({ role, on }) => `${role} ${on}`)).toEqual([
          "member /teams/b",
        ]);
        PEOPLE.delete("anna");
        expect(await check()).toBe("refused");
        expect((await people.known(person)).not_before).toBeGreaterThan(0);
        await store.sql.close();
      },
    );
  });

const noMock = missing("oauth2-mock-server");
if (noMock !== undefined) test.skip(`oauth2-mock-server: ${noMock}`, () => {});
else
  test("oauth2-mock-server: sign-in and console", async () => {
    const weir = await start(() => startMockServer(ANNA.groups), { map: { path: "/people/{email_local}" } });
    const walker = await signIn(weir, "johndoe", "login");
    expect(await session(walker, weir)).toBe(200);
    expect(await (await walker.go(`${weir}/console/me`)).text()).toContain("/people/mock");
  });

const noAuthlib = missing("venv");
if (noAuthlib !== undefined) test.skip(`Authlib: ${noAuthlib}`, () => {});
else
  test("a server with Authlib: sign-in, console, sign-out at the provider", async () => {
    const weir = await start(() => startAuthlib({ sub: "anna", ...ANNA }), { ask: ASK });
    const walker = await signIn(weir, "anna");
    expect(await session(walker, weir)).toBe(200);
    const body = new URLSearchParams({ everywhere: "1" });
    const out = { method: "POST", headers: { origin: weir }, body };
    expect((await walker.walk(`${weir}/auth/logout`, weir, out)).status).toBe(200);
    expect(await session(walker, weir)).toBe(401);
  });
