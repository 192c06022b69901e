/** People of the config: with a file and an empty store all of them have their roles, at all workers, as long as the file says so. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { freePort, type Serving, serve, until } from "../../../../test/helpers/serving.ts";
import { personId } from "../people.ts";
import { Issuer } from "./support/issuer.ts";
import { Browser, CLIENT, FakeSignIn } from "./support/sign-in.ts";

setDefaultTimeout(120_000);

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

interface Entry {
  provider: string;
  subject?: string;
  email?: string;
  path?: string;
  grants: object[];
}

const ADA: Entry = { provider: "corp", email: "Ada@corp.example", grants: [{ admin: "/" }] };
const BOB: Entry = { provider: "corp", subject: "bob", path: "/eng/bob", grants: [{ member: "/eng" }] };

const configOf = (people: readonly Entry[]) =>
  JSON.stringify({
    log: { format: "json" },
    admin: { port: Number(new URL(admin).port) },
    state: "state",
    prices: { "painter/*": { input: 0, output: 0 } },
    identity: {
      url: admin,
      providers: {
        corp: { issuer: issuer.url, audience: "weir", client: CLIENT.id, secret: CLIENT.secret, groups: {} },
      },
      people,
    },
  });

beforeAll(async () => {
  issuer = await Issuer.start("ES256");
  provider = new FakeSignIn(issuer);
  admin = `http://127.0.0.1:${freePort()}`;
  gateway = await serve({ workers: 3, config: configOf([ADA, BOB]), plugins: { "painter.ts": PAINTER } });
  await until(async () => (await fetch(`${admin}/auth/`, { redirect: "manual" })).status === 200);
});

afterAll(async () => {
  await gateway?.end();
  await issuer?.stop();
});

function reload(people: readonly Entry[]): void {
  gateway.configure(configOf(people));
  const { code, output } = gateway.run("reload");
  if (code !== 0) throw new Error(output);
}

/** Over connections of their own, which reach all workers. */
async function statuses(token: string, times = 12): Promise<number[]> {
  const all = await Promise.all(
    Array.from({ length: times }, async () => {
      const answer = await fetch(`${gateway.url}/v1/chat/completions`, {
        method: "POST",
        headers: {
          authorization: `Bearer ${token}`,
          "content-type": "application/json",
          connection: "close",
        },
        body: JSON.stringify({ model: "painter/picture", messages: [{ role: "user", content: "x" }] }),
        keepalive: false,
      });
      await answer.text();
      return answer.status;
    }),
  );
  return [...new Set(all)];
}

const tokenOf = (sub: string, more: object = {}) =>
  issuer.token({ sub, name: sub, email: `${sub}@corp.example`, ...more });

const ada = (more: object = {}) => ({
  claims: { sub: "ada-1" },
  userinfo: { sub: "ada-1", name: "Ada", email: "ada@corp.example", email_verified: true, ...more },
});

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

test("with an empty store: calls at all workers at once, the sign-in, and everybody in the list", async () => {
  expect(await statuses(await tokenOf("bob"))).toEqual([200]);
  expect(await statuses(await tokenOf("eve"))).toEqual([403]);
  const browser = new Browser(admin);
  expect((await browser.signIn(provider, ada())).status).toBe(303);
  const session = await operate(browser, "GET", "/session");
  expect([session.json.role, session.json.path]).toEqual(["admin", "/"]);
  const { people } = (await operate(browser, "GET", "/people")).json;
  const bob = people.find(({ subject }: { subject: string }) => subject === "bob");
  expect(bob).toMatchObject({
    ...{ id: personId(issuer.url, "bob"), path: "/eng/bob" },
    grants: [{ role: "member", on: "/eng", source: "config" }],
  });
  expect(gateway.run("people", "list").output).toContain("bob");
});

test("an address that the provider does not vouch for is nobody's", async () => {
  for (const verified of [false, undefined, "false"]) {
    const broken = ada({ sub: "mallory", email_verified: verified });
    broken.claims.sub = "mallory";
    expect((await new Browser(admin).signIn(provider, broken)).status).toBe(403);
  }
});

test("what the config says cannot be changed elsewhere, and what operators add stays apart from it", async () => {
  const browser = new Browser(admin);
  await browser.signIn(provider, ada());
  const bob = `/people/${personId(issuer.url, "bob")}`;
  const moved = await operate(browser, "PATCH", bob, { path: "/sales/bob" });
  expect([moved.status, moved.json.error.code]).toEqual([409, "declared"]);
  expect(moved.json.error.message).toContain("is declared in the configuration file");
  const grants = [
    { role: "member", on: "/eng" },
    { role: "viewer", on: "/sales" },
  ];
  const changed = await operate(browser, "PATCH", bob, { grants });
  expect(changed.json.grants).toEqual([
    { role: "member", on: "/eng", source: "config" },
    { role: "viewer", on: "/sales", source: "hand" },
  ]);
  expect((await operate(browser, "PATCH", bob, { grants: [] })).json.grants).toEqual([
    { role: "member", on: "/eng", source: "config" },
  ]);
});

test("a reload adds and removes at once, at all workers, for calls and for sessions", async () => {
  const browser = new Browser(admin);
  await browser.signIn(provider, ada());
  const [bob, eve] = [await tokenOf("bob"), await tokenOf("eve")];
  const EVE: Entry = { provider: "corp", subject: "eve", grants: [{ member: "/people/eve" }] };
  reload([{ ...ADA, grants: [{ viewer: "/eng" }] }, EVE]);
  expect([await statuses(bob), await statuses(eve)]).toEqual([[403], [200]]);
  const isViewer = async () => (await operate(browser, "GET", "/session")).json.path === "/eng";
  expect(await until(isViewer, 2_500)).toBe(true);
  expect((await operate(browser, "POST", "/keys", { name: "x" })).status).toBe(403);
  reload([ADA, BOB]);
  expect([await statuses(bob), await statuses(eve)]).toEqual([[200], [403]]);
});

test("a line that is removed while weir does not run is gone", async () => {
  const browser = new Browser(admin);
  await browser.signIn(provider, ada());
  gateway.signal("SIGTERM");
  await gateway.exited;
  const { folder } = gateway;
  gateway.configure(configOf([BOB]));
  const again = Bun.spawn(
    [process.execPath, `${import.meta.dir}/../../../main.ts`, "serve", "--port", "0", "--workers", "2"],
    {
      ...{ cwd: folder, stdout: "ignore", stderr: "ignore", stdin: "ignore" },
      env: { ...process.env, HOME: folder, XDG_RUNTIME_DIR: `${folder}/run` },
    },
  );
  try {
    const isRefused = async () => {
      const answer = await browser.go("/admin/v1/session").catch(() => undefined);
      return answer?.status === 403;
    };
    expect(await until(isRefused, 10_000)).toBe(true);
  } finally {
    again.kill();
    await again.exited;
  }
});
