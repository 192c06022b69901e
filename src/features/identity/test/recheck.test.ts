/** Re-checks with the provider: rotation, two nodes, deprovisioning, groups that change, a provider that is away. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { fetchDocument } from "../fetch-document.ts";
import { PeopleBook } from "../people-book.ts";
import { personId } from "../people.ts";
import { Provider } from "../sign-in/provider.ts";
import { Recheck } from "../sign-in/recheck.ts";
import { RefreshBook } from "../sign-in/refresh-book.ts";
import { Sealer } from "../sign-in/sealer.ts";
import { SessionBook } from "../sign-in/session-book.ts";
import { Issuer } from "./support/issuer.ts";
import { CLIENT, FakeSignIn } from "./support/sign-in.ts";
import { openStore, type TestStore } from "./support/store.ts";

const MINUTE = 60_000;
let issuer: Issuer;
let fake: FakeSignIn;
let store: TestStore;
let alice: string;
let late = 0;
const now = () => Date.now() + late;

beforeEach(async () => {
  issuer = await Issuer.start("ES256");
  fake = new FakeSignIn(issuer);
  store = openStore();
  alice = personId(issuer.url, "alice-1");
  late = 0;
});

afterEach(async () => {
  await issuer.stop();
  await store.sql.close();
});

/** A gateway on the store. */
function node(secret = CLIENT.secret) {
  const options = {
    issuer: issuer.url,
    client: CLIENT.id,
    require: { email_verified: true },
    groups: { "llm-admins": { admin: "/" }, "team-*": { member: "/teams/{1}" } },
  };
  const settings = { name: "corp", options, client: CLIENT.id, secret: CLIENT.secret, scopes: ["openid"] };
  const fault = (sentence: string) => void store.log.push(sentence);
  const callback = "http://127.0.0.1/auth/callback/corp";
  const provider = new Provider({ provider: settings, callback, fetchDocument, now: Date.now, fault });
  const people = new PeopleBook(store.host);
  const sessions = new SessionBook(store.host);
  const recheck = new Recheck({
    ...{ book: new RefreshBook(store.host), people, sessions, now, fault },
    providers: new Map([["corp", { provider, sealer: new Sealer(secret, "refresh tokens") }]]),
  });
  return { recheck, people, sessions };
}

/** Signs Alice in. */
async function signIn(token: string | undefined = fake.giveRefreshToken("alice-1")) {
  const one = node();
  await one.people.decide({ actor: "test" }, "sign in", alice, (former) => ({
    ...former,
    grants: [
      { role: "admin", on: "/", source: "group:llm-admins" },
      { role: "viewer", on: "/eng", source: "hand" },
    ],
  }));
  const session = {
    person: alice,
    provider: "corp",
    sid: undefined,
    until: now() + 600 * MINUTE,
    now: now(),
  };
  await one.sessions.begin({ actor: alice }, session);
  await one.recheck.keep({ person: alice, provider: "corp" }, token);
  return one;
}

const sessionCount = async () => (await store.sql.all("SELECT hash FROM identity_sessions")).length;
const check = (recheck: Recheck, olderThanMs = 0) => recheck.check(alice, "corp", { olderThanMs });

test("nobody is asked about somebody without a refresh token, or about one who was checked just now", async () => {
  const { recheck } = node();
  expect(await check(recheck)).toBe("none");
  expect(await recheck.admits({ person: alice, provider: "corp" })).toBe(true);
  await signIn();
  expect(await check(recheck, MINUTE)).toBe("ok");
  expect(fake.spent).toEqual([]);
});

test.each([[true], [false]])("rotation (%p): each check uses the newest token", async (rotates) => {
  fake.refreshing.rotates = rotates;
  const { recheck } = await signIn();
  for (let n = 0; n < 3; n++) expect(await check(recheck)).toBe("ok");
  expect(new Set(fake.spent).size).toBe(rotates ? 3 : 1);
  expect(fake.refreshTokens.size).toBe(1);
});

test("whether somebody can be asked about: by the token of this sign-in, or of an earlier one", async () => {
  const { recheck } = node();
  const holder = { person: alice, provider: "corp" };
  expect(await recheck.keep(holder, undefined)).toBe(false);
  expect(await recheck.keep(holder, "refresh-1")).toBe(true);
  expect(await recheck.keep(holder, undefined)).toBe(true);
});

test("a token is sealed in the store, and is nobody else's there", async () => {
  await signIn();
  const [token] = [...fake.refreshTokens.keys()];
  const [row] = await store.sql.all<{ sealed: string }>("SELECT sealed FROM identity_provider_tokens");
  expect(row!.sealed).not.toContain(token!);
  expect(Buffer.from(row!.sealed, "base64url").toString("latin1")).not.toContain(token!);
  const bob = personId(issuer.url, "bob-1");
  await store.sql.run("UPDATE identity_provider_tokens SET person = $1", [bob]);
  expect(await node().recheck.check(bob, "corp", { olderThanMs: 0 })).toBe("refused");
  expect(fake.spent).toEqual([]);
});

test("one request for all who ask at once, also on two nodes with a token that works once", async () => {
  await signIn();
  fake.refreshing.delayMs = 300;
  const nodes = [node(), node(), node()];
  const asked = nodes.flatMap(({ recheck }) => [check(recheck), check(recheck), check(recheck)]);
  expect(new Set(await Promise.all(asked))).toEqual(new Set(["ok"]));
  expect(fake.spent.length).toBe(1);
});

test("the provider refuses: sessions and tokens of the person end, on all nodes, with an entry", async () => {
  const { recheck, people } = await signIn();
  fake.refreshTokens.clear();
  const before = Math.floor(now() / 1_000);
  fake.refreshing.delayMs = 200;
  expect(await Promise.all([check(recheck), check(node().recheck)])).toEqual(["refused", "refused"]);
  expect(fake.spent.length).toBe(1);
  expect(await sessionCount()).toBe(0);
  expect((await people.known(alice)).not_before).toBeGreaterThan(before);
  expect(store.audit.filter((entry) => entry.startsWith("refused by the provider"))).toEqual([
    `refused by the provider people/${alice}`,
    "refused by the provider sessions",
  ]);
  expect(await check(recheck)).toBe("none");
});

test("somebody who signs in while the provider refuses the earlier token stays", async () => {
  const { recheck } = await signIn();
  fake.refreshTokens.clear();
  fake.refreshing.delayMs = 200;
  const checked = check(recheck);
  await Bun.sleep(100);
  await signIn();
  expect(await checked).toBe("ok");
  expect(await sessionCount()).toBe(2);
  fake.refreshing.delayMs = 0;
  expect(await check(recheck)).toBe("ok");
});

test("groups follow the answer; grants by hand stay; nothing new leaves no entry", async () => {
  const { recheck, people } = await signIn();
  const grants = async () => (await people.known(alice)).grants.map(({ role, on }) => `${role} ${on}`);
  fake.refreshing.userinfo = { groups: ["llm-admins"] };
  expect(await check(recheck)).toBe("ok");
  const entries = () => store.audit.filter((entry) => entry.startsWith("groups of the provider")).length;
  expect([await grants(), entries()]).toEqual([["admin /", "viewer /eng"], 0]);
  fake.refreshing.userinfo = { groups: ["team-a", "other"] };
  await check(recheck);
  expect([await grants(), entries()]).toEqual([["member /teams/a", "viewer /eng"], 1]);
  // The ID token has the last word, and no groups at all are none.
  fake.refreshing.userinfo = { groups: undefined };
  await check(recheck);
  expect(await grants()).toEqual(["viewer /eng"]);
  // An answer without an ID token says nothing of groups that were in one.
  fake.refreshing.userinfo = { groups: ["team-b"] };
  await check(recheck);
  fake.refreshing.hasIdToken = false;
  fake.refreshing.userinfo = { groups: undefined };
  await check(recheck);
  expect(await grants()).toEqual(["member /teams/b", "viewer /eng"]);
});

const FOREIGN: readonly [string, () => void][] = [
  ["claims that the config demands", () => (fake.refreshing.userinfo = { email_verified: false })],
  ["the tokens of somebody else", () => (fake.refreshing.claims = { sub: "bob-1" })],
];

test.each(FOREIGN)("an answer without %s ends the session", async (_, change) => {
  const { recheck } = await signIn();
  change();
  if (fake.refreshing.claims["sub"]) fake.refreshing.userinfo = { sub: "bob-1" };
  expect(await check(recheck)).toBe("refused");
  expect(await sessionCount()).toBe(0);
});

const AWAY: readonly [string, () => void][] = [
  ["answers 500", () => (fake.refreshing.answer = { status: 500, body: "x" })],
  ["answers 429", () => (fake.refreshing.answer = { status: 429, body: { error: "slow_down" } })],
  ["does not know weir", () => (fake.refreshing.answer = { status: 401, body: { error: "invalid_client" } })],
  ["gives an ID token of another client", () => (fake.refreshing.claims = { aud: "other" })],
  ["has no userinfo", () => (fake.refreshing.userinfo = { sub: "bob-1" })],
];

test.each(AWAY)("a provider that %s: the last answer counts for an hour", async (_, change) => {
  fake.refreshing.rotates = false;
  const { recheck } = await signIn();
  change();
  late = 59 * MINUTE;
  expect(await check(recheck)).toBe("ok");
  late = 61 * MINUTE;
  expect(await check(recheck)).toBe("away");
  expect(await sessionCount()).toBe(1);
  // It is not asked again at once, and a minute has one line.
  const asked = fake.spent.length;
  expect(await check(recheck)).toBe("away");
  expect([fake.spent.length, store.log.length]).toEqual([asked, asked]);
  delete fake.refreshing.answer;
  Object.assign(fake.refreshing, { claims: {}, userinfo: {} });
  late += MINUTE;
  expect(await check(recheck)).toBe("ok");
});

test("a provider that does not answer costs 3.5 s", async () => {
  fake.refreshing.rotates = false;
  const { recheck } = await signIn();
  fake.refreshing.delayMs = 8_000;
  const begun = performance.now();
  expect(await check(recheck)).toBe("ok");
  expect(performance.now() - begun).toBeLessThan(4_200);
}, 10_000);

test("a session in use is checked after a quarter of an hour, in the background, and before its use after an hour", async () => {
  const { recheck } = await signIn();
  const session = { person: alice, provider: "corp", checkedAt: now() };
  late = 13 * MINUTE;
  expect(await recheck.admits(session)).toBe(true);
  expect(fake.spent.length).toBe(0);
  late = 17 * MINUTE;
  fake.refreshing.delayMs = 200;
  const begun = performance.now();
  expect(await recheck.admits(session)).toBe(true);
  expect(performance.now() - begun).toBeLessThan(100);
  await Bun.sleep(500);
  expect(fake.spent.length).toBe(1);
  // The session that was read before is not asked about again.
  expect(await recheck.admits(session)).toBe(true);
  expect(fake.spent.length).toBe(1);
  late = 80 * MINUTE;
  fake.refreshTokens.clear();
  expect(await recheck.admits(session)).toBe(false);
});

test("while the store fails, a session goes on for an hour after the last answer", async () => {
  const { recheck } = await signIn();
  const session = { person: alice, provider: "corp", checkedAt: now() };
  late = 30 * MINUTE;
  store.host.read = () => Promise.reject(new Error("the store is away"));
  expect(await recheck.admits(session)).toBe(true);
  await Bun.sleep(1);
  late = 61 * MINUTE;
  expect(await recheck.admits(session)).toBe(false);
  expect(store.log.length).toBe(2);
});

test("another secret does not open the token: the person signs in again", async () => {
  await signIn();
  expect(await check(node("another secret").recheck)).toBe("refused");
  expect([fake.spent.length, await sessionCount()]).toEqual([0, 0]);
});
