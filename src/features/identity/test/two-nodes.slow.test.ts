/** Sessions on two gateways with one PostgreSQL: both know them, both see their end within a second, and one of them asks the provider. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { SQL } from "bun";
import { missingPostgres, startPostgres, type TestPostgres } from "../../../../test/helpers/postgres.ts";
import { freePort, type Serving, serve, until } from "../../../../test/helpers/serving.ts";
import { personId } from "../people.ts";
import { Issuer } from "./support/issuer.ts";
import { formIn, oauth, type OAuthBody } from "./support/programs.ts";
import { Browser, CLIENT, FakeSignIn } from "./support/sign-in.ts";

setDefaultTimeout(120_000);

const HOUR = 3_600_000;
const DEVICE_GRANT = "urn:ietf:params:oauth:grant-type:device_code";
let server: TestPostgres;
let database: SQL;
let issuer: Issuer;
let provider: FakeSignIn;
let nodes: Serving[] = [];
let admins: string[] = [];

async function startNode(url: string, port: number): Promise<Serving> {
  return serve({
    workers: 2,
    config: JSON.stringify({
      ...{ log: { format: "json" }, admin: { port }, state: "state", store: { url } },
      identity: {
        url: admins[0],
        tokens: { secret: "planted-secret-of-weirs-own-tokens-0001" },
        providers: {
          corp: {
            ...{ issuer: issuer.url, client: CLIENT.id, secret: CLIENT.secret },
            groups: { "llm-admins": { admin: "/" } },
          },
        },
      },
    }),
  });
}

async function start(): Promise<void> {
  server = await startPostgres();
  const url = await server.createDatabase();
  database = new SQL(url);
  issuer = await Issuer.start("ES256");
  provider = new FakeSignIn(issuer);
  provider.refreshing.isGiven = true;
  const ports = [freePort(), freePort()];
  admins = ports.map((port) => `http://127.0.0.1:${port}`);
  for (const port of ports) nodes.push(await startNode(url, port));
  for (const admin of admins)
    expect(await until(async () => (await fetch(`${admin}/auth/`)).status === 200)).toBe(true);
}

/** What each node answers to the session of a browser. */
const statuses = (browser: Browser) =>
  Promise.all(
    admins.map(async (admin) => {
      const cookie = [...browser.cookies].map(([name, value]) => `${name}=${value}`).join("; ");
      return (await fetch(`${admin}/admin/v1/session`, { headers: { cookie } })).status;
    }),
  );

async function signIn(): Promise<Browser> {
  const browser = new Browser(admins[0]!);
  expect((await browser.signIn(provider)).status).toBe(303);
  return browser;
}

/** The whole way of a device, at one node. */
async function connect(browser: Browser, url: string): Promise<OAuthBody> {
  const { body: device } = await oauth(`${url}/oauth/device_authorization`, { surface: "claude_code" });
  const { action, fields } = formIn(await (await browser.go(`/device?user_code=${device.user_code}`)).text());
  const body = new URLSearchParams({ ...fields, decision: "allow" });
  await browser.go(action, { method: "POST", body, headers: { origin: admins[0]! } });
  const poll = { grant_type: DEVICE_GRANT, device_code: device.device_code! };
  return (await oauth(`${url}/oauth/token`, poll)).body;
}

/** As if the provider had been asked some time ago, and the nodes did not remember it. */
async function lastChecked(ago: number): Promise<void> {
  for (const node of nodes) process.kill(node.keeper()!, "SIGKILL");
  const isBack = async () =>
    (
      await Promise.all(
        admins.map((admin) =>
          fetch(`${admin}/auth/`).then(
            ({ status }) => status,
            () => 0,
          ),
        ),
      )
    ).every((status) => status === 200);
  expect(await until(isBack)).toBe(true);
  await database`UPDATE identity_provider_tokens SET checked_at = ${Date.now() - ago}`;
}

if (missingPostgres) test.skip(`sessions on PostgreSQL: ${missingPostgres}`, () => {});
else
  describe("two gateways", () => {
    beforeAll(start);
    afterAll(async () => {
      for (const node of nodes) await node.end();
      await issuer.stop();
      await database.close();
      await server.close();
    });

    test("both know a session; both refuse it within a second after its end", async () => {
      const browser = await signIn();
      expect(await statuses(browser)).toEqual([200, 200]);
      const copy = new Browser(admins[0]!);
      for (const [name, value] of browser.cookies) copy.cookies.set(name, value);
      await browser.go("/auth/logout", { method: "POST", headers: { origin: admins[0]! } });
      await Bun.sleep(1_000);
      expect(await statuses(copy)).toEqual([401, 401]);
    });

    test("a device that one lets in gets its tokens from the other; one refresh token gives one next one at both", async () => {
      const browser = await signIn();
      const [one, other] = nodes.map(({ url }) => url) as [string, string];
      const { body: device } = await oauth(`${one}/oauth/device_authorization`, { surface: "claude_code" });
      const page = await browser.go(`/device?user_code=${device.user_code}`);
      const { action, fields } = formIn(await page.text());
      const allowed = new URLSearchParams({ ...fields, decision: "allow" });
      await browser.go(action, { method: "POST", body: allowed, headers: { origin: admins[0]! } });
      const poll = { grant_type: DEVICE_GRANT, device_code: device.device_code! };
      // Two polls at once at two nodes: one gets the tokens, and the second use ends nothing that it did not get.
      const polled = await Promise.all([one, other].map((url) => oauth(`${url}/oauth/token`, poll)));
      const [first] = polled.filter(({ status }) => status === 200);
      expect(polled.map(({ status }) => status).sort()).toEqual([200, 400]);
      const again = { grant_type: "refresh_token", refresh_token: first!.body.refresh_token! };
      const isEnded = (await oauth(`${one}/oauth/token`, again)).status === 401;
      // The poll that came second saw the code as spent, or as being spent: the family ends only in the first case.
      const tokens = isEnded ? await connect(browser, one) : first!.body;
      const both = await Promise.all(
        [one, other, one, other].map((url) =>
          oauth(`${url}/oauth/token`, { grant_type: "refresh_token", refresh_token: tokens.refresh_token! }),
        ),
      );
      expect(both.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
      expect(new Set(both.map(({ body }) => body.refresh_token)).size).toBe(1);
      const access = both[0]!.body.access_token!;
      const own = (url: string) =>
        fetch(`${url}/v1/key`, { headers: { authorization: `Bearer ${access}` } }).then(
          ({ status }) => status,
        );
      expect(await Promise.all([own(one), own(other)])).toEqual([200, 200]);
      expect((await oauth(`${other}/oauth/revoke`, { token: access })).status).toBe(200);
      expect(await Promise.all([own(one), own(other)])).toEqual([401, 401]);
    });

    test("a person who is suspended at one is out at both", async () => {
      const browser = await signIn();
      expect(await statuses(browser)).toEqual([200, 200]);
      const person = personId(issuer.url, "alice-1");
      expect((await nodes[1]!.runBeside("people", "suspend", person)).code).toBe(0);
      await Bun.sleep(1_000);
      expect(await statuses(browser)).toEqual([401, 401]);
      expect((await nodes[1]!.runBeside("people", "restore", person)).code).toBe(0);
    });

    test("one of them asks the provider with a token that works once, and both take its answer", async () => {
      const browser = await signIn();
      await lastChecked(2 * HOUR);
      provider.spent.splice(0);
      provider.refreshing.delayMs = 300;
      expect((await Promise.all([statuses(browser), statuses(browser)])).flat()).toEqual([
        200, 200, 200, 200,
      ]);
      expect(provider.spent.length).toBe(1);
      expect(await statuses(browser)).toEqual([200, 200]);
      expect(provider.spent.length).toBe(1);
    });

    test("whom the provider has removed is out at both", async () => {
      const browser = await signIn();
      await lastChecked(2 * HOUR);
      provider.refreshTokens.clear();
      expect(await statuses(browser)).toEqual([401, 401]);
      const [{ count }] = await database`SELECT count(*)::int AS count FROM identity_sessions`;
      const [row] = await database`SELECT not_before FROM identity_access WHERE id LIKE 'per%'`;
      expect(count).toBe(0);
      expect(Number(row.not_before)).toBeGreaterThan(Date.now() / 1_000 - 60);
    });
  });
