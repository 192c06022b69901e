/** What people do about themselves: keys of their own, limits, sessions; and that they see and touch nobody else. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { freePort, type Serving, serve, until } from "../../../../test/helpers/serving.ts";
import { personId } from "../people.ts";
import { Issuer } from "./support/issuer.ts";
import { Browser, CLIENT, FakeSignIn } from "./support/sign-in.ts";

setDefaultTimeout(120_000);

const ADMIN = "weir-planted-admin-0001";
const PAINTER = `export default { name: "painter", providers: [{ name: "painter", models: ["picture", "film"],
  async *generate(request) {
    yield { type: "message-start", id: "a", model: "picture" };
    yield { type: "block-start", index: 0, block: { type: "text" } };
    yield { type: "block-delta", index: 0, delta: "done" };
    if (JSON.stringify(request).includes("a film")) await new Promise((resolve) => setTimeout(resolve, 15_000));
    yield { type: "block-end", index: 0 };
    const usage = { input: 1000, cacheRead: 0, cacheWrite: 0, output: 10, reasoning: 0, known: "final" };
    yield { type: "message-end", reason: { kind: "stop" }, usage };
  } }] };`;

let issuer: Issuer;
let provider: FakeSignIn;
let gateway: Serving;
let admin = "";

beforeAll(async () => {
  issuer = await Issuer.start("ES256");
  provider = new FakeSignIn(issuer);
  admin = `http://127.0.0.1:${freePort()}`;
  gateway = await serve({
    workers: 3,
    config: JSON.stringify({
      log: { format: "json" },
      admin: { port: Number(new URL(admin).port) },
      state: "state",
      adminKeys: [{ name: "boss", key: ADMIN, role: "admin" }],
      prices: { "painter/*": { input: 1, output: 0 } },
      budgets: { eng: { on: { path: "/eng" }, limit: 50, every: "month" } },
      identity: {
        url: admin,
        providers: {
          corp: {
            issuer: issuer.url,
            client: CLIENT.id,
            secret: CLIENT.secret,
            map: { path: "/eng/{email_local}" },
            groups: { users: { member: "/eng" }, readers: { viewer: "/eng" }, leads: { manager: "/eng" } },
            scopes: { models: ["painter/*", "picture"] },
          },
        },
        keys: [
          { path: "/", maxPerPerson: 9 },
          { path: "/eng", maxPerPerson: 2, maxAge: "30d", scopes: { models: ["painter/picture"] } },
        ],
      },
    }),
    plugins: { "painter.ts": PAINTER },
  });
  await until(async () => (await fetch(`${admin}/auth/`, { redirect: "manual" })).status === 200);
});

afterAll(async () => {
  await gateway?.end();
  await issuer?.stop();
});

async function signedIn(who: string, groups: readonly string[] = ["users"]): Promise<Browser> {
  const browser = new Browser(admin);
  const claims = { sub: who };
  const userinfo = { sub: who, name: who, email: `${who}@corp.example`, groups };
  expect((await browser.signIn(provider, { claims, userinfo })).status).toBe(303);
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

const post = (browser: Browser, path: string, form: Record<string, string> = {}, origin = admin) =>
  browser.go(path, {
    method: "POST",
    headers: { origin, "content-type": "application/x-www-form-urlencoded" },
    body: new URLSearchParams(form).toString(),
  });

const call = (key: string, { model = "painter/picture", content = "x" } = {}) =>
  fetch(`${gateway.url}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json", connection: "close" },
    body: JSON.stringify({ model, stream: content === "a film", messages: [{ role: "user", content }] }),
    keepalive: false,
  });

/** At all workers, as far as chance reaches them. */
async function statuses(key: string): Promise<number[]> {
  const all = await Promise.all(Array.from({ length: 12 }, async () => (await call(key)).status));
  return [...new Set(all)];
}

test("a member makes, uses, rotates and deletes keys, within the policy of its path", async () => {
  const ann = await signedIn("ann");
  const made = await operate(ann, "POST", "/me/keys", { name: "laptop" });
  expect(made.status).toBe(201);
  expect(made.json).toMatchObject({ path: "/eng/ann", name: expect.stringMatching(/^laptop-[a-z0-9]{6}$/) });
  expect(Math.round((made.json.expiresAt - Date.now()) / 86_400_000)).toBe(30);
  expect(await statuses(made.json.secret)).toEqual([200]);
  expect((await call(made.json.secret, { model: "painter/film" })).status).toBe(403);
  // By the page.
  const page = await (await post(ann, "/console/me/keys", { name: "desk" })).text();
  const [desk = ""] = /weir_sk_\w+/.exec(page) ?? [];
  expect((await call(desk)).status).toBe(200);
  const third = await operate(ann, "POST", "/me/keys", { name: "third" });
  expect([third.status, third.json.error.message]).toEqual([409, expect.stringContaining("You have 2 keys")]);
  const rotated = await operate(ann, "POST", `/me/keys/${made.json.id}/rotate`, { graceMs: 0 });
  expect([(await call(made.json.secret)).status, (await call(rotated.json.secret)).status]).toEqual([
    401, 200,
  ]);
  expect((await operate(ann, "DELETE", `/me/keys/${made.json.id}`)).status).toBe(200);
  expect(await statuses(rotated.json.secret)).toEqual([401]);
  const { keys } = (await operate(ann, "GET", "/me")).json;
  expect(keys.map(({ name }: { name: string }) => name.split("-")[0])).toEqual(["desk"]);
});

test("a hundred wishes at once make no more keys than the policy permits", async () => {
  const eva = await signedIn("eva");
  const all = await Promise.all(
    Array.from({ length: 100 }, (_, at) =>
      at % 2 === 0
        ? operate(eva, "POST", "/me/keys", { name: "k" }).then(({ status }) => status)
        : post(eva, "/console/me/keys", { name: "k" }).then(({ status }) => status),
    ),
  );
  expect(all.filter((status) => status < 300)).toHaveLength(2);
});

test("the record has the person, and the numbers are those of weir usage --key", async () => {
  const ben = await signedIn("ben");
  const { json: key } = await operate(ben, "POST", "/me/keys", { name: "job" });
  for (let at = 0; at < 3; at++) await (await call(key.secret)).text();
  const counted = async () => (await operate(ben, "GET", "/me")).json;
  expect(await until(async () => (await counted()).keys[0].calls === 3)).toBe(true);
  const { keys, calls, cost, budgets, lastCalls, models } = await counted();
  const used = JSON.parse(gateway.run("usage", "--key", key.id, "--json").output);
  expect([keys[0].calls, keys[0].cost]).toEqual([used.total.calls, used.total.cost]);
  expect([calls, cost]).toEqual([3, used.total.cost]);
  expect(cost).toBe(3_000_000);
  expect(budgets).toEqual([
    expect.objectContaining({ name: "eng", why: "all calls at /eng and below", limit: 50e9 }),
  ]);
  expect(budgets[0].left).toBeLessThan(50e9);
  expect(lastCalls[0]).toMatchObject({ model: "painter/picture", status: 200, key: key.name });
  // The entry of the issuer permits none of the others.
  expect(models.filter((id: string) => id.startsWith("mock/"))).toEqual([]);
  const found = await fetch(`${admin}/admin/v1/calls?person=${personId(issuer.url, "ben")}`, {
    headers: { authorization: `Bearer ${ADMIN}` },
  });
  const [logged] = ((await found.json()) as { calls: object[] }).calls;
  expect(logged).toMatchObject({ key: key.id, path: "/eng/ben", person: personId(issuer.url, "ben") });
  const page = await (await ben.go("/console/me")).text();
  for (const text of ["3 calls, $0.003", "all calls at /eng and below", key.name])
    expect(page).toContain(text);
});

test("no sibling: keys, sessions and calls of others are not there", async () => {
  const [ann, ben] = [await signedIn("ann"), await signedIn("ben")];
  const bens = (await operate(ben, "GET", "/me")).json;
  const key = bens.keys[0];
  const [session] = bens.sessions;
  for (const [method, path] of [
    ["POST", `/me/keys/${key.id}/rotate`],
    ["DELETE", `/me/keys/${key.id}`],
  ] as const)
    expect((await operate(ann, method, path)).status).toBe(404);
  expect((await post(ann, `/console/me/keys/${key.id}/delete`)).status).toBe(404);
  expect((await post(ann, `/console/me/keys/${key.id}/rotate`)).status).toBe(404);
  await operate(ann, "DELETE", `/me/sessions/${session.id}`);
  for (const id of ["%25", "0", session.id.slice(0, 15) + "_"])
    await operate(ann, "DELETE", `/me/sessions/${id}`);
  expect((await operate(ben, "GET", "/me")).status).toBe(200);
  const seen =
    JSON.stringify((await operate(ann, "GET", "/me")).json) + (await (await ann.go("/console/me")).text());
  for (const text of [key.id, key.name, session.id, "/eng/ben", personId(issuer.url, "ben")])
    expect([text, seen.includes(text)]).toEqual([text, false]);
  for (const path of ["/keys", "/usage", "/calls", "/people", "/audit/log", "/overview", "/budgets"])
    expect([path, (await operate(ann, "GET", path)).status]).toEqual([path, 403]);
});

test("who may not use models makes no key; keys have no person", async () => {
  const vic = await signedIn("vic", ["readers"]);
  expect((await operate(vic, "GET", "/me")).json.mayHaveKeys).toBe(0);
  expect((await operate(vic, "POST", "/me/keys", { name: "x" })).status).toBe(403);
  expect((await post(vic, "/console/me/keys", { name: "x" })).status).toBe(403);
  const answer = await fetch(`${admin}/admin/v1/me`, { headers: { authorization: `Bearer ${ADMIN}` } });
  expect(answer.status).toBe(404);
});

test("forms of other sites, wrong methods and odd names change nothing", async () => {
  const cat = await signedIn("cat");
  for (const origin of ["http://evil.example", "null", ""])
    expect((await post(cat, "/console/me/keys", { name: "x" }, origin)).status).toBe(403);
  expect((await cat.go("/console/me/keys")).status).toBe(404);
  for (const name of ["", " ", "a/b", "<b>", "x".repeat(58), "a\u0000b", "\u202eevil"])
    expect([name, (await post(cat, "/console/me/keys", { name })).status]).toEqual([name, 400]);
  const { keys } = (await operate(cat, "GET", "/me")).json;
  expect(keys).toEqual([]);
  const stranger = new Browser(admin);
  const away = await post(stranger, "/console/me/keys", { name: "x" });
  expect([away.status, away.headers.get("location")]).toEqual([303, "/auth/?to=%2Fconsole%2Fme"]);
});

test("own sessions can be ended, and are out within a second", async () => {
  const [here, there] = [await signedIn("dan"), await signedIn("dan")];
  const { sessions } = (await operate(here, "GET", "/me")).json;
  expect(sessions.map(({ isOwn }: { isOwn: boolean }) => isOwn).sort()).toEqual([false, true]);
  const other = sessions.find(({ isOwn }: { isOwn: boolean }) => !isOwn);
  expect((await post(here, `/console/me/sessions/${other.id}/end`)).status).toBe(303);
  await Bun.sleep(1_000);
  expect([(await operate(here, "GET", "/me")).status, (await operate(there, "GET", "/me")).status]).toEqual([
    200, 401,
  ]);
});

test("a key stops with its person at all workers, its streams with --cut, and works again with it", async () => {
  const fay = await signedIn("fay");
  const { json: key } = await operate(fay, "POST", "/me/keys", { name: "job" });
  const film = await call(key.secret, { content: "a film" });
  expect(film.status).toBe(200);
  const person = personId(issuer.url, "fay");
  expect(gateway.run("people", "suspend", person, "--cut").code).toBe(0);
  expect(await statuses(key.secret)).toEqual([403]);
  const begun = Date.now();
  await film.text().catch(() => {});
  expect(Date.now() - begun).toBeLessThan(5_000);
  gateway.run("people", "restore", person);
  expect(await statuses(key.secret)).toEqual([200]);
  // The role ends with the group at the next sign-in.
  await signedIn("fay", ["readers"]);
  expect(await until(async () => (await statuses(key.secret))[0] === 403, 1_000)).toBe(true);
  await signedIn("fay");
  expect(await statuses(key.secret)).toEqual([200]);
  gateway.run("people", "forget", person, "--yes");
  expect(await statuses(key.secret)).toEqual([403]);
});

test("a lead sees and ends keys of people, and cannot call in their names", async () => {
  const [lea, gus] = [await signedIn("lea", ["leads"]), await signedIn("gus")];
  const { json: key } = await operate(gus, "POST", "/me/keys", { name: "job" });
  const shown = await operate(lea, "GET", `/keys/${key.id}`);
  expect([shown.status, shown.json.person]).toEqual([200, personId(issuer.url, "gus")]);
  expect((await operate(lea, "POST", `/keys/${key.id}/rotate`, {})).status).toBe(409);
  const trial = { format: "chat-completions", key: key.id, body: { model: "painter/picture", messages: [] } };
  expect((await operate(lea, "POST", "/playground", trial)).status).toBe(400);
  expect(gateway.run("keys", "rotate", key.id).code).not.toBe(0);
  expect((await operate(lea, "PATCH", `/keys/${key.id}`, { tags: ["x"] })).json.person).toBe(
    personId(issuer.url, "gus"),
  );
  expect((await operate(lea, "DELETE", `/keys/${key.id}`)).status).toBe(200);
  expect((await call(key.secret)).status).toBe(401);
});

test("the audit log has it all, and none of the secrets", async () => {
  const hal = await signedIn("hal");
  const { json: key } = await operate(hal, "POST", "/me/keys", { name: "job" });
  await operate(hal, "DELETE", `/me/keys/${key.id}`);
  const entries = JSON.parse(gateway.run("audit", "log", "--last", "500", "--json").output) as any[];
  const own = entries.filter(({ actor }) => actor === personId(issuer.url, "hal"));
  expect(own.map(({ action, subject }) => `${action} ${subject}`)).toEqual(
    expect.arrayContaining([`create keys/${key.id}`, `change keys/${key.id}`]),
  );
  const text = JSON.stringify(entries);
  for (const secret of [key.secret, hal.cookies.get("weir-session")!, CLIENT.secret, ADMIN, "opaque-access"])
    expect(text.includes(secret)).toBe(false);
  expect(gateway.run("audit").output).toContain("log");
});
