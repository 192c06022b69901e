/** Accounts of callers at servers: connecting, tokens at rest, refreshing, and authorization servers that are not what they say. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type AuthServer, Credentials } from "../auth/credentials.ts";
import { GoneCallers } from "../../../gateway/gone.ts";
import { Forgetting } from "../auth/forgetting.ts";
import { NeedsUser } from "../auth/credential.ts";
import { FakeAuthority, FakeGuarded } from "../../../../test/helpers/guarded-server.ts";

const WEIR = "https://weir.corp.example";
const OWNER = "key_0001";

let authority: FakeAuthority;
let guarded: FakeGuarded;
let folder: string;
let credentials: Credentials;
const said: string[] = [];

beforeEach(() => {
  said.length = 0;
  authority = new FakeAuthority();
  guarded = new FakeGuarded(authority);
  folder = mkdtempSync(join(tmpdir(), "weir-accounts-"));
  credentials = made();
});
afterEach(async () => {
  await Promise.all([authority.stop(), guarded.stop()]);
  rmSync(folder, { recursive: true });
});

function made(hosts = [authority.host]): Credentials {
  const log = (sentence: string) => void said.push(sentence);
  const one = new Credentials({ folder, fault: log, info: log });
  one.configure({ url: WEIR, hosts });
  return one;
}

const server = (user: object = {}): AuthServer => ({ name: "files", url: guarded.url, auth: { user } });

/** Asks the server as the bridge does: once more after a refusal, if that is worth it. */
async function ask(of = credentials, owner = OWNER, at = server()): Promise<number> {
  const credential = of.of(at, owner);
  // No token is sent for a caller who has none.
  const send = async () => fetch(at.url, { headers: await credential.headers() });
  const first = await send();
  if (first.status !== 401 && first.status !== 403) return first.status;
  const challenge = first.headers.get("www-authenticate") ?? undefined;
  return (await credential.refused({ status: first.status, challenge }))
    ? (await send()).status
    : first.status;
}

async function needed(of = credentials, owner = OWNER, at = server()): Promise<NeedsUser> {
  const thrown = await ask(of, owner, at).catch((error: unknown) => error);
  expect(thrown).toBeInstanceOf(NeedsUser);
  return thrown as NeedsUser;
}

const linkOf = async (...which: Parameters<typeof needed>) => (await needed(...which)).link;

const secretIn = (link: string) => new URL(link).searchParams.get("t")!;

async function begin(of = credentials, owner = OWNER, at = server()) {
  const link = { server: at.name, secret: secretIn(await linkOf(of, owner, at)) };
  return of.connect({ link, owner }, [at]);
}

/** The whole way of a browser. @param change of the query of the way back */
async function connect(
  of = credentials,
  owner = OWNER,
  at = server(),
  change: Record<string, string | undefined> = {},
) {
  const answer = await begin(of, owner, at);
  if (!("begun" in answer)) return answer;
  const { location, state, binding } = answer.begun;
  const back: Record<string, string | undefined> = { ...guarded.authority.consent(location), ...change };
  const given = Object.fromEntries(Object.entries(back).filter(([, value]) => value !== undefined));
  return of.connect({ finish: { binding, state, ...(given as object) } }, [at]);
}

const grants = () => authority.asked.map(({ form }) => form.get("grant_type"));

test("a caller connects once, and its token goes to the server", async () => {
  const link = await linkOf();
  expect(link).toStartWith(`${WEIR}/mcp/connect/files?t=`);
  expect(await linkOf()).toBe(link);
  expect(await linkOf(credentials, "key_0002")).not.toBe(link);
  expect(await connect()).toEqual({ server: "files" });
  expect(await ask()).toBe(200);
  expect(guarded.seen.filter((one) => one !== null)).toEqual([expect.stringContaining("planted-access")]);
  expect(authority.asked[0]!.form.get("resource")).toBe(guarded.url);
  expect(authority.registered[0]).toMatchObject({ redirect_uris: [`${WEIR}/mcp/oauth/callback`] });
  await linkOf(credentials, "key_0002");
});

test("the error of a caller without an account has its link, as clients of 2025-11-25 read it", async () => {
  const thrown = await needed();
  const elicitation = { mode: "url", url: thrown.link, message: expect.stringContaining(thrown.link) };
  expect(thrown.rpc).toMatchObject({ code: -32042, data: { elicitations: [elicitation] } });
});

test("where callers can connect accounts the operator hears of no fault", async () => {
  expect(await credentials.fault(server())).toBeUndefined();
  expect(await credentials.fault({ ...server(), auth: {} })).toBeUndefined();
});

test("a link is good once, for its caller and its server, and ends after some tries of others", async () => {
  const secret = secretIn(await linkOf());
  const link = { server: "files", secret };
  const ofOther = await credentials.connect({ link, owner: "key_0002" }, [server()]);
  expect(ofOther).toEqual({ gone: true });
  expect(await credentials.connect({ link: { ...link, server: "other" } }, [server()])).toEqual({
    gone: true,
  });
  expect(await credentials.connect({ link }, [server()])).toEqual({
    link: { owner: OWNER, host: new URL(guarded.url).host },
  });
  expect(await credentials.connect({ link, owner: OWNER }, [server()])).toHaveProperty("begun");
  expect(await credentials.connect({ link, owner: OWNER }, [server()])).toEqual({ gone: true });
  const tried = { server: "files", secret: secretIn(await linkOf()) };
  for (let time = 0; time < 5; time++) await credentials.connect({ link: tried, refuse: true }, [server()]);
  expect(await credentials.connect({ link: tried }, [server()])).toEqual({ gone: true });
});

test("the way back is for the browser that went, and good once", async () => {
  const answer = await begin();
  if (!("begun" in answer)) throw new Error(JSON.stringify(answer));
  const { location, state, binding } = answer.begun;
  const { code, iss } = authority.consent(location) as { code: string; iss: string };
  const finish = (more: object) =>
    credentials.connect({ finish: { state, binding, code, iss, ...more } }, [server()]);
  expect(await finish({ binding: "x".repeat(43) })).toHaveProperty("fault");
  expect(await finish({ state: "x".repeat(43) })).toHaveProperty("fault");
  expect(grants()).toEqual([]);
  expect(await finish({})).toEqual({ server: "files" });
  expect(await finish({})).toHaveProperty("fault");
  expect(grants()).toEqual(["authorization_code"]);
});

test.each<[string, Record<string, string | undefined>]>([
  ["no iss, where the metadata promises one", { iss: undefined }],
  ["another iss", { iss: "https://evil.example" }],
  ["an iss with a slash behind it", { iss: "SLASH" }],
  ["an error", { error: "access_denied", code: undefined }],
  ["no code", { code: undefined }],
])("the way back with %s connects nothing", async (_, change) => {
  const iss = change["iss"] === "SLASH" ? { iss: `${authority.url}/` } : {};
  expect(await connect(credentials, OWNER, server(), { ...change, ...iss })).toHaveProperty("fault");
  expect(authority.asked).toEqual([]);
  await linkOf();
});

const nowhere = "http://127.0.0.1:1";
test.each<[string, () => void, RegExp]>([
  ["another issuer", () => (authority.metadata = { issuer: "https://evil.example" }), /another issuer/],
  ["no PKCE", () => (authority.metadata = { code_challenge_methods_supported: undefined }), /PKCE with S256/],
  [
    "plain PKCE alone",
    () => (authority.metadata = { code_challenge_methods_supported: ["plain"] }),
    /PKCE with S256/,
  ],
  [
    "a file as its page",
    () => (authority.metadata = { authorization_endpoint: "file:///etc/passwd" }),
    /no address of the web/,
  ],
  [
    "a script as its page",
    () => (authority.metadata = { authorization_endpoint: "javascript:alert(1)" }),
    /no address of the web/,
  ],
  [
    "no page",
    () => (authority.metadata = { authorization_endpoint: undefined }),
    /no authorization_endpoint/,
  ],
  [
    "a redirect elsewhere",
    () => (authority.reply = () => Response.redirect(`${nowhere}/latest/meta-data`)),
    /another origin/,
  ],
  ["redirects without end", () => (authority.reply = (url) => Response.redirect(url.href)), /too often/],
  ["too much", () => (authority.reply = () => new Response("x".repeat(70_000))), /more than 65536 bytes/],
  [
    "no way to be known",
    () => (authority.metadata = { registration_endpoint: undefined }),
    /neither reads documents of clients nor registers them/,
  ],
  [
    "a document about another server",
    () => (guarded.document = { resource: "https://other.example/mcp" }),
    /its metadata is that of/,
  ],
  [
    "a document about a part",
    () => (guarded.document = { resource: `${guarded.url}/part` }),
    /its metadata is that of/,
  ],
  [
    "a document that names nobody",
    () => (guarded.document = { authorization_servers: [] }),
    /no authorization server/,
  ],
  [
    "an authority of this machine",
    () => (guarded.document = { authorization_servers: [nowhere] }),
    /must begin with https/,
  ],
  [
    "an authority of this network",
    () => (guarded.document = { authorization_servers: ["https://127.0.0.1:1"] }),
    /not public/,
  ],
  [
    "the metadata service of a cloud",
    () => (guarded.document = { authorization_servers: ["https://169.254.169.254"] }),
    /not public/,
  ],
])("nobody connects where there is %s, and the operator learns why", async (_, change, reason) => {
  change();
  const answer = await connect();
  expect(answer).toEqual({ fault: expect.stringMatching(reason) });
  expect(said.join()).toMatch(reason);
  expect(await credentials.fault(server())).toMatch(reason);
  expect(authority.asked).toEqual([]);
});

test("100 calls at once refresh a token once; a call that was refused too", async () => {
  authority.life = 0;
  await connect();
  authority.life = 3_600;
  authority.delayMs = 50;
  const all = await Promise.all(Array.from({ length: 100 }, () => ask()));
  expect(new Set(all)).toEqual(new Set([200]));
  expect(grants()).toEqual(["authorization_code", "refresh_token"]);
  expect(authority.asked[1]!.form.get("resource")).toBe(guarded.url);
});

test("a refused refresh deletes the token and asks the caller again", async () => {
  authority.life = 0;
  await connect();
  authority.refresh.clear();
  await linkOf();
  expect(grants()).toEqual(["authorization_code", "refresh_token"]);
  await linkOf();
  expect(grants()).toEqual(["authorization_code", "refresh_token"]);
});

test("while the authorization server is away a token is used to its end, and then the call fails", async () => {
  authority.life = 2;
  await connect();
  authority.answer = { status: 503, body: {} };
  await Bun.sleep(1_700);
  expect(await ask()).toBe(200);
  await Bun.sleep(400);
  const thrown = await credentials
    .of(server(), OWNER)
    .headers()
    .catch((error: unknown) => error);
  expect(thrown).toMatchObject({ code: 1002, data: { server: "files" } });
  authority.answer = undefined;
  expect(await ask()).toBe(200);
});

test("another authorization server gets no token of the first one, and weir registers there", async () => {
  await connect();
  const first = authority;
  const second = new FakeAuthority();
  guarded.authority = second;
  credentials.configure({ url: WEIR, hosts: [first.host, second.host] });
  await expect(ask()).rejects.toBeInstanceOf(NeedsUser);
  expect(grants()).toEqual(["authorization_code"]);
  expect(second.asked).toEqual([]);
  expect(await connect()).toEqual({ server: "files" });
  expect(second.registered).toHaveLength(1);
  expect(await ask()).toBe(200);
  await second.stop();
});

test("a server of the same name at another address gets no token of the first one", async () => {
  await connect();
  const other = new FakeGuarded(authority);
  const moved = { ...server(), url: other.url };
  await needed(credentials, OWNER, moved);
  expect(other.seen.every((one) => one === null)).toBe(true);
  expect(await connect(credentials, OWNER, moved)).toEqual({ server: "files" });
  expect(authority.asked.at(-1)!.form.get("resource")).toBe(other.url);
  expect(await ask(credentials, OWNER, moved)).toBe(200);
  await other.stop();
});

test("a client that the authorization server has forgotten registers again", async () => {
  authority.life = 0;
  await connect();
  authority.answer = { status: 401, body: { error: "invalid_client" } };
  await needed();
  authority.answer = undefined;
  authority.life = 3_600;
  expect(await connect()).toEqual({ server: "files" });
  expect(authority.registered).toHaveLength(2);
});

test("tokens survive a restart, and the folder shows none", async () => {
  await connect();
  const files = readdirSync(join(folder, "auth")).sort();
  expect(files).toHaveLength(3);
  for (const name of files) {
    const path = join(folder, "auth", name);
    expect(readFileSync(path, "latin1")).not.toMatch(/planted|registered|127\.0\.0\.1|key_0001/);
    expect(statSync(path).mode & 0o777).toBe(0o600);
  }
  expect(statSync(join(folder, "auth")).mode & 0o777).toBe(0o700);
  const next = made();
  expect(await ask(next)).toBe(200);
  const gone = new GoneCallers();
  const forgetting = new Forgetting(
    gone,
    (asked) => next.connect(asked, [server()]),
    () => true,
  );
  gone.add((id) => id === "key_0002");
  await forgetting.look();
  expect(await ask(next)).toBe(200);
  gone.add((id) => id === OWNER);
  await forgetting.look();
  expect(readdirSync(join(folder, "auth")).filter((name) => name.startsWith("account"))).toEqual([]);
  await linkOf(next);
});

test("a file that was changed, or is that of somebody else, is none", async () => {
  await connect();
  await connect(credentials, "key_0002");
  const [one, other] = readdirSync(join(folder, "auth")).filter((name) => name.startsWith("account"));
  const path = (name: string) => join(folder, "auth", name);
  await Bun.write(path(one!), readFileSync(path(other!)));
  const bytes = readFileSync(path(other!));
  bytes[bytes.length - 1]! ^= 1;
  await Bun.write(path(other!), bytes);
  const next = made();
  for (const owner of [OWNER, "key_0002"]) await linkOf(next, owner);
  expect(said.filter((sentence) => sentence.includes("cannot be read"))).toHaveLength(2);
});

test("the key of a config seals all files, and the next one too, as long as the one before is named", async () => {
  await connect();
  const file = () => {
    const [name] = readdirSync(join(folder, "auth")).filter((one) => one.startsWith("account"));
    return readFileSync(join(folder, "auth", name!), "latin1");
  };
  const [first, second] = ["first-key-of-the-config-0123456789", "second-key-of-the-config-0123456789"];
  const before = file();
  credentials.sealBy([first]);
  const sealed = file();
  expect(sealed).not.toBe(before);
  const next = made();
  next.sealBy([second, first]);
  expect(file()).not.toBe(sealed);
  expect(said).toEqual([]);
  const wrong = made();
  wrong.sealBy(["another-key-of-the-config-0123456789"]);
  const kept = file();
  await linkOf(wrong);
  expect(said.filter((sentence) => sentence.includes("cannot be read"))).toHaveLength(1);
  expect(file()).toBe(kept);
});

test("a document that only the challenge names is found, and a client that the operator names is used", async () => {
  guarded.isUsual = false;
  const at = server({ client: "ours", secret: "planted:secret ü", scope: "read write" });
  const answer = await begin(credentials, OWNER, at);
  if (!("begun" in answer)) throw new Error(JSON.stringify(answer));
  const query = new URL(answer.begun.location).searchParams;
  expect([query.get("client_id"), query.get("scope")]).toEqual(["ours", "read write"]);
  expect(authority.registered).toEqual([]);
  expect(await connect(credentials, OWNER, at)).toEqual({ server: "files" });
  expect(await ask(credentials, OWNER, at)).toBe(200);
});

test("a secret goes where the authorization server or the operator wants it", async () => {
  for (const [more, methods, place] of [
    [{}, undefined, "header"],
    [{}, ["client_secret_post"], "form"],
    [{ method: "post" as const }, undefined, "form"],
    [{ method: "basic" as const }, ["client_secret_post"], "header"],
  ] as const) {
    authority.metadata = { token_endpoint_auth_methods_supported: methods };
    const one = made();
    const owner = `key_${Math.random()}`;
    const at = server({ client: "ours", secret: "planted:secret ü", ...more });
    expect(await connect(one, owner, at)).toEqual({ server: "files" });
    const { form, authorization } = authority.asked.at(-1)!;
    const basic = `Basic ${Buffer.from("ours:planted%3Asecret+%C3%BC").toString("base64")}`;
    expect([authorization, form.get("client_secret")]).toEqual(
      place === "header" ? [basic, null] : [null, "planted:secret ü"],
    );
  }
});

test("a server that wants more scopes gets a token with them and those before, once in a while", async () => {
  guarded.document = { scopes_supported: ["read"] };
  await connect();
  const more = { status: 403, challenge: 'Bearer error="insufficient_scope", scope="write"' };
  const credential = credentials.of(server(), OWNER);
  await credential.headers();
  const needs = await credential.refused(more).catch((error: unknown) => error);
  expect(needs).toBeInstanceOf(NeedsUser);
  const link = { server: "files", secret: secretIn((needs as NeedsUser).link) };
  const answer = await credentials.connect({ link, owner: OWNER }, [server()]);
  if (!("begun" in answer)) throw new Error(JSON.stringify(answer));
  const { location, state, binding } = answer.begun;
  expect(new URL(location).searchParams.get("scope")).toBe("read write");
  const { code, iss } = authority.consent(location) as { code: string; iss: string };
  await credentials.connect({ finish: { state, binding, code, iss } }, [server()]);
  expect(await credential.refused(more)).toBe(false);
  expect(await credential.refused({ status: 403, challenge: undefined })).toBe(false);
});

test("weir gets one token for itself, whoever asks, and another one when it is refused", async () => {
  const at: AuthServer = {
    ...server(),
    auth: { clientCredentials: { client: "ours", secret: "planted" as never, scope: "read" } },
  };
  authority.delayMs = 20;
  const owners = Array.from({ length: 50 }, (_, index) => `key_${index}`);
  const all = await Promise.all(owners.map((owner) => ask(credentials, owner, at)));
  expect(new Set(all)).toEqual(new Set([200]));
  expect(grants()).toEqual(["client_credentials"]);
  const { form } = authority.asked[0]!;
  expect([form.get("scope"), form.get("resource")]).toEqual(["read", guarded.url]);
  // A new token that is refused is not replaced at once.
  authority.access.clear();
  expect(await ask(credentials, OWNER, at)).toBe(401);
  expect(grants()).toHaveLength(1);
});

test("a token of weir is replaced before its life is over, and none is made up where there is none", async () => {
  const given = { client: "ours", secret: "planted" as never, tokenUrl: `${authority.url}/token` };
  const at: AuthServer = {
    ...server(),
    auth: { clientCredentials: given, headers: { "X-Fixed": "1" as never } },
  };
  authority.life = 1;
  const credential = credentials.of(at, OWNER);
  const first = await credential.headers();
  expect(first).toMatchObject({ "x-fixed": "1" });
  await Bun.sleep(850);
  expect(await credential.headers()).not.toEqual(first);
  authority.answer = { status: 401, body: { error: "invalid_client" } };
  await Bun.sleep(850);
  const thrown = await credential.headers().catch((error: unknown) => error);
  expect(thrown).toMatchObject({ code: 1002, message: expect.stringContaining("401 invalid_client") });
});

test("weir is known by its document, where the authorization server reads documents", async () => {
  authority.metadata = { client_id_metadata_document_supported: true };
  const answer = await begin();
  if (!("begun" in answer)) throw new Error(JSON.stringify(answer));
  expect(new URL(answer.begun.location).searchParams.get("client_id")).toBe(`${WEIR}/oauth/client.json`);
  expect(authority.registered).toEqual([]);
});

test("a caller's token is exchanged once for all of its calls, goes to no server, and a key is none", async () => {
  const exchange = { client: "weir", secret: "planted" as never, scope: "read" };
  const at: AuthServer = { ...server(), auth: { exchange } };
  authority.delayMs = 20;
  const call = async (subject: string | undefined) => {
    const credential = credentials.of(at, OWNER, subject);
    return (await fetch(at.url, { headers: await credential.headers() })).status;
  };
  const all = await Promise.all(Array.from({ length: 50 }, (_, index) => call(`a.b.${index % 2}`)));
  expect(new Set(all)).toEqual(new Set([200]));
  const forms = authority.asked.map(({ form }) => Object.fromEntries(form));
  expect(forms.map((form) => form["subject_token"]).sort()).toEqual(["a.b.0", "a.b.1"]);
  expect(forms[0]).toMatchObject({
    ...{
      grant_type: "urn:ietf:params:oauth:grant-type:token-exchange",
      resource: guarded.url,
      scope: "read",
    },
    subject_token_type: "urn:ietf:params:oauth:token-type:access_token",
  });
  expect(guarded.seen.join()).not.toContain("a.b.");
  expect(new Set(guarded.seen.filter((one) => one !== null)).size).toBe(2);
  await expect(call(undefined)).rejects.toMatchObject({
    code: 1002,
    message: expect.stringContaining("not with a key"),
  });
});
