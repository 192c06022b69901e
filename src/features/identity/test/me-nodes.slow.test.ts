/** Two gateways with one PostgreSQL: keys of people stop at both, and two admins cannot remove each other at the same time. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { missingPostgres, startPostgres, type TestPostgres } from "../../../../test/helpers/postgres.ts";
import { freePort, type Serving, serve, until } from "../../../../test/helpers/serving.ts";
import { personId } from "../people.ts";
import { Issuer } from "./support/issuer.ts";
import { Browser, CLIENT, FakeSignIn } from "./support/sign-in.ts";

setDefaultTimeout(120_000);

let server: TestPostgres;
let issuer: Issuer;
let provider: FakeSignIn;
const nodes: Serving[] = [];
let admins: string[] = [];

async function start(): Promise<void> {
  server = await startPostgres();
  const url = await server.createDatabase();
  issuer = await Issuer.start("ES256");
  provider = new FakeSignIn(issuer);
  const ports = [freePort(), freePort()];
  admins = ports.map((port) => `http://127.0.0.1:${port}`);
  const corp = {
    ...{ issuer: issuer.url, client: CLIENT.id, secret: CLIENT.secret },
    groups: { users: { member: "/people" } },
  };
  const people = [{ provider: "corp", subject: "root", grants: [{ admin: "/" }] }];
  for (const port of ports) {
    const store = { ...{ log: { format: "json" }, admin: { port }, state: "state" }, store: { url } };
    const identity = { url: admins[0], providers: { corp }, keys: [{ path: "/" }], people };
    nodes.push(await serve({ workers: 2, config: JSON.stringify({ ...store, identity }) }));
  }
  for (const admin of admins)
    expect(await until(async () => (await fetch(`${admin}/auth/`)).status === 200)).toBe(true);
}

async function signedIn(who: string): Promise<Browser> {
  const browser = new Browser(admins[0]!);
  const userinfo = { sub: who, name: who, email: `${who}@corp.example`, groups: ["users"] };
  expect((await browser.signIn(provider, { claims: { sub: who }, userinfo })).status).toBe(303);
  return browser;
}

/** The session of a browser at one of the nodes. */
async function operate(browser: Browser, node: number, method: string, path: string, body?: object) {
  const cookie = [...browser.cookies].map(([name, value]) => `${name}=${value}`).join("; ");
  const answer = await fetch(`${admins[node]!}/admin/v1${path}`, {
    method,
    headers: {
      ...{ cookie, "x-weir-console": "1", origin: admins[node]! },
      ...(body && { "content-type": "application/json" }),
    },
    ...(body && { body: JSON.stringify(body) }),
  });
  return { status: answer.status, json: (await answer.json()) as any };
}

/** What all workers of both nodes answer to a key, as far as chance reaches them. */
async function statuses(key: string): Promise<number[]> {
  const headers = { authorization: `Bearer ${key}`, connection: "close" };
  const asked = nodes.flatMap(({ url }) =>
    Array.from({ length: 8 }, () => fetch(`${url}/v1/models`, { headers, keepalive: false })),
  );
  return [...new Set((await Promise.all(asked)).map(({ status }) => status))];
}

const idOf = (who: string) => personId(issuer.url, who);

if (missingPostgres) test.skip(`keys of people on PostgreSQL: ${missingPostgres}`, () => {});
else
  describe("two gateways", () => {
    beforeAll(start);
    afterAll(async () => {
      for (const node of nodes) await node.end();
      await issuer.stop();
      await server.close();
    });

    test("a key that was made at one works at both, and stops at both with its person and by itself", async () => {
      const ann = await signedIn("ann");
      const { json: key } = await operate(ann, 0, "POST", "/me/keys", { name: "laptop" });
      expect(await until(async () => (await statuses(key.secret)).join() === "200")).toBe(true);
      expect((await nodes[1]!.runBeside("people", "suspend", idOf("ann"))).code).toBe(0);
      expect(await statuses(key.secret)).toEqual([403]);
      expect((await nodes[0]!.runBeside("people", "restore", idOf("ann"))).code).toBe(0);
      expect(await statuses(key.secret)).toEqual([200]);
      expect((await operate(ann, 1, "GET", "/me")).json.keys).toHaveLength(1);
      expect((await operate(ann, 1, "DELETE", `/me/keys/${key.id}`)).status).toBe(200);
      expect(await until(async () => (await statuses(key.secret)).join() === "401", 1_000)).toBe(true);
    });

    test("two admins who remove each other at two nodes: one stays, each time", async () => {
      const [root, bob] = [await signedIn("root"), await signedIn("bob")];
      const admin = { grants: [{ role: "admin", on: "/" }] };
      expect((await operate(root, 0, "PATCH", `/people/${idOf("bob")}`, admin)).status).toBe(200);
      for (let round = 0; round < 5; round++) {
        await Bun.sleep(1_000);
        const both = await Promise.all([
          operate(root, 0, "PATCH", `/people/${idOf("bob")}`, { status: "suspended" }),
          operate(bob, 1, "PATCH", `/people/${idOf("root")}`, { status: "suspended" }),
        ]);
        expect(both.filter(({ status }) => status === 200)).toHaveLength(1);
        for (const who of ["root", "bob"]) await nodes[0]!.runBeside("people", "restore", idOf(who));
      }
    });
  });
