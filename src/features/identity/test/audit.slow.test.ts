/** The audit log of what people do: who sees which entries, that no secret is in it, and that each changed byte is found. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { freePort, type Serving, serve, until } from "../../../../test/helpers/serving.ts";
import { checkChain } from "../../../keeper/store/audit-log.ts";
import { sqliteStore } from "../../../keeper/store/sqlite-store.ts";
import type { Sql } from "../../../keeper/store/sql.ts";
import { personId } from "../people.ts";
import { Issuer } from "./support/issuer.ts";
import { Browser, CLIENT, FakeSignIn } from "./support/sign-in.ts";

setDefaultTimeout(120_000);

const ADMIN = "weir-planted-admin-0001";
const TOKENS = "planted-secret-of-the-tokens-of-weir-0123456789";
let issuer: Issuer;
let provider: FakeSignIn;
let gateway: Serving;
let admin = "";
/** What must not be in the log. */
const secrets: string[] = [ADMIN, TOKENS, CLIENT.secret, "opaque-access"];

beforeAll(async () => {
  issuer = await Issuer.start("ES256");
  provider = new FakeSignIn(issuer);
  admin = `http://127.0.0.1:${freePort()}`;
  const groups = {
    admins: { admin: "/" },
    leads: { manager: "/eng" },
    users: { member: "/eng" },
    sellers: { member: "/sales" },
  };
  gateway = await serve({
    workers: 2,
    config: JSON.stringify({
      log: { format: "json" },
      admin: { port: Number(new URL(admin).port) },
      state: "state",
      adminKeys: [{ name: "boss", key: ADMIN, role: "admin" }],
      identity: {
        url: admin,
        providers: {
          corp: {
            ...{ issuer: issuer.url, audience: "weir", client: CLIENT.id, secret: CLIENT.secret, groups },
            map: { path: "/eng/{email_local}" },
          },
        },
        keys: [{ path: "/" }],
        people: [{ provider: "corp", subject: "ops", path: "/sales/ops", grants: [{ member: "/sales" }] }],
        tokens: { secret: TOKENS },
      },
    }),
  });
  await until(async () => (await fetch(`${admin}/auth/`, { redirect: "manual" })).status === 200);
});

afterAll(async () => {
  await gateway?.end();
  await issuer?.stop();
});

async function signedIn(who: string, group: string): Promise<Browser> {
  const browser = new Browser(admin);
  const userinfo = { sub: who, name: who, email: `${who}@corp.example`, groups: [group] };
  await browser.signIn(provider, { claims: { sub: who }, userinfo });
  secrets.push(...browser.cookies.values());
  return browser;
}

async function operate(browser: Browser, method: string, path: string, body?: object) {
  const answer = await browser.go(`/admin/v1${path}`, {
    method,
    headers: {
      ...{ "x-weir-console": "1", origin: admin },
      ...(body && { "content-type": "application/json" }),
    },
    ...(body && { body: JSON.stringify(body) }),
  });
  return { status: answer.status, json: (await answer.json()) as any };
}

const idOf = (who: string) => personId(issuer.url, who);

test("each sees what it may: admins all, managers what lies below, members what they did themselves", async () => {
  const [root, lead, ann] = [
    await signedIn("root", "admins"),
    await signedIn("lea", "leads"),
    await signedIn("ann", "users"),
  ];
  expect([...(await signedIn("eve", "others")).cookies.keys()]).toEqual([]);
  const made = (await operate(ann, "POST", "/me/keys", { name: "laptop" })).json;
  const rotated = (await operate(ann, "POST", `/me/keys/${made.id}/rotate`)).json;
  const sales = (await operate(root, "POST", "/keys", { name: "sales", path: "/sales" })).json;
  secrets.push(made.secret, rotated.secret, sales.secret);
  await operate(lead, "PATCH", `/people/${idOf("ann")}`, { grants: [{ role: "viewer", on: "/eng" }] });
  const token = await issuer.token({ sub: "job", email: "job@corp.example", groups: ["users"] });
  secrets.push(token, token.split(".")[2]!);
  await fetch(`${gateway.url}/v1/models`, { headers: { authorization: `Bearer ${token}` } });
  const subjects = async (browser: Browser) => {
    const { json } = await operate(browser, "GET", "/audit/log?limit=500");
    return json.entries.map(({ subject }: { subject: string }) => subject) as string[];
  };
  const [all, below] = [await subjects(root), await subjects(lead)];
  const [own, other] = [`keys/${made.id}`, `keys/${sales.key.id}`];
  expect([all.includes(own), all.includes(other), all.includes(`people/${idOf("ops")}`)]).toEqual([
    true,
    true,
    true,
  ]);
  expect([below.includes(own), below.includes(`people/${idOf("ann")}`)]).toEqual([true, true]);
  expect(below.filter((subject) => subject === other || subject === `people/${idOf("ops")}`)).toEqual([]);
  expect((await operate(ann, "GET", "/audit/log")).status).toBe(403);
  const { changes } = (await operate(ann, "GET", "/me")).json;
  const seen = changes.map(({ subject }: { subject: string }) => subject);
  expect(seen).toContain(own);
  expect(seen.filter((subject: string) => subject !== own && subject !== `people/${idOf("ann")}`)).toEqual(
    [],
  );
});

test("a session of weir console, in the log under its own name", async () => {
  const { output } = gateway.run("console");
  const [, link = ""] = /#t=([\w-]+)/.exec(output) ?? [];
  expect(link).not.toBe("");
  secrets.push(link);
  const used = await fetch(`${admin}/admin/v1/session`, {
    method: "POST",
    headers: { "x-weir-console": "1", origin: admin, "content-type": "application/json" },
    body: JSON.stringify({ token: link }),
  });
  expect(used.status).toBe(200);
  const log = gateway.run("audit", "log", "--actor", "console", "--json").output;
  expect(log).toContain('"actor": "console"');
});

test("no secret is in the log; the chain holds, and each changed byte breaks it", async () => {
  const log = gateway.run("audit", "log", "--last", "1000", "--json").output;
  expect(JSON.parse(log).length).toBeGreaterThan(10);
  for (const secret of secrets) expect([secret, log.includes(secret)]).toEqual([secret, false]);
  expect(gateway.run("audit").code).toBe(0);
  gateway.signal("SIGTERM");
  await gateway.exited;
  const store = sqliteStore(join(gateway.folder, "state/weir.db"));
  await store.open();
  const { sql } = store;
  expect((await checkChain(sql)).fault).toBeUndefined();
  await sql.run("DROP TRIGGER audit_update");
  const missed: string[] = [];
  const rows = await sql.all<{ id: number }>("SELECT id FROM audit ORDER BY id");
  for (const { id } of rows)
    for (const column of [
      "at",
      "actor",
      "address",
      "action",
      "subject",
      "before",
      "after",
      "previous",
      "hash",
    ])
      if ((await isFlipped(sql, id, column)) && !(await checkChain(sql)).fault?.includes(`entry ${id} `))
        missed.push(`${id} ${column}`);
      else await sql.run(`UPDATE audit SET ${column} = (SELECT kept FROM temp.flipped) WHERE id = $1`, [id]);
  expect(missed).toEqual([]);
  expect((await checkChain(sql)).fault).toBeUndefined();
  await store.close();
});

/** Changes one byte of a value. @returns false for one that is empty */
async function isFlipped(sql: Sql, id: number, column: string): Promise<boolean> {
  await sql.run("DROP TABLE IF EXISTS temp.flipped");
  await sql.run(`CREATE TEMP TABLE flipped AS SELECT ${column} AS kept FROM audit WHERE id = ${id}`);
  const [row] = await sql.all<{ kept: string | number | null }>("SELECT kept FROM temp.flipped");
  const kept = row?.kept ?? null;
  if (kept === null || kept === "") return false;
  const next = typeof kept === "number" ? kept + 1 : `${kept.slice(0, -1)}${kept.endsWith("0") ? "1" : "0"}`;
  await sql.run(`UPDATE audit SET ${column} = $2 WHERE id = $1`, [id, next]);
  return true;
}
