/** Sign-in to the console: links, keys, the cookie, and what another page cannot do with it. */
import { describe, expect, test } from "bun:test";
import { LiveReader } from "../../src/admin/live.ts";
import { ADMIN_HOST, fakeAdmin, type FakeAdmin } from "../helpers/admin.ts";

const ORIGIN = { origin: `http://${ADMIN_HOST}` };
const FROM_CONSOLE = { ...ORIGIN, "x-weir-console": "1" };
const HOURS_12 = 12 * 3_600_000;

const signIn = ({ send }: FakeAdmin, body: object, headers: Record<string, string> = FROM_CONSOLE) =>
  send("POST", "/admin/v1/session", { key: null, body, headers });

async function tokenOf({ send }: FakeAdmin): Promise<string> {
  const { body } = await send("POST", "/admin/v1/session/link");
  return /^http:\/\/127\.0\.0\.1:9348\/console#t=([\w-]{43})$/.exec(body.url)![1]!;
}

/** What the browser sends back. */
const cookieOf = (headers: Headers) => headers.get("set-cookie")!.split(";")[0]!;

async function signedIn(given: FakeAdmin): Promise<string> {
  return cookieOf((await signIn(given, { token: await tokenOf(given) })).headers);
}

describe("a sign-in link", () => {
  test("gives a cookie that no script can read and no other page sends, once", async () => {
    const given = fakeAdmin();
    const token = await tokenOf(given);
    const { status, headers, body, text } = await signIn(given, { token });
    expect(status).toBe(200);
    expect(body).toMatchObject({ role: "admin", path: "/", actor: "console", port: 9348 });
    const cookie = headers.get("set-cookie")!;
    expect(cookie).toMatch(
      /^weir_console_9348=[\w-]{43}; Max-Age=43200; Path=\/admin\/v1; HttpOnly; SameSite=Strict$/,
    );
    expect(text).not.toContain(cookieOf(headers).split("=")[1]!);
    const again = await signIn(given, { token });
    expect([again.status, again.body.error.code]).toEqual([410, "link_used"]);
    expect(again.body.error.message).toStartWith("This link was used already.");
    expect(again.headers.get("set-cookie")).toBeNull();
  });

  test("works for ten minutes", async () => {
    const given = fakeAdmin();
    const [early, late] = [await tokenOf(given), await tokenOf(given)];
    given.wait(599_999);
    expect((await signIn(given, { token: early })).status).toBe(200);
    given.wait(1);
    const { status, body } = await signIn(given, { token: late });
    expect([status, body.error.message]).toEqual([
      410,
      "This link has expired. `weir console` makes a new one.",
    ]);
  });

  test("signs in although the address has to wait for its wrong keys", async () => {
    const given = fakeAdmin();
    const token = await tokenOf(given);
    for (let count = 0; count < 5; count++) await signIn(given, { key: "wrong" });
    expect((await signIn(given, { token })).status).toBe(200);
    expect((await signIn(given, { key: given.addKey("admin") })).status).toBe(200);
    expect((await signIn(given, { key: "wrong" })).status).toBe(429);
  });

  test("signs in while the store fails", async () => {
    const given = fakeAdmin();
    given.books.note = () => Promise.reject(new Error("the store failed"));
    expect((await signIn(given, { token: await tokenOf(given) })).status).toBe(200);
  });

  test("is made by admins of the whole gateway alone", async () => {
    const { send, addKey } = fakeAdmin();
    for (const key of [addKey("admin", "/eng"), addKey("read")])
      expect((await send("POST", "/admin/v1/session/link", { key })).status).toBe(403);
  });
});

describe("a session", () => {
  test("reads and writes, ends with a sign-out and after twelve hours", async () => {
    const given = fakeAdmin();
    const { send } = given;
    const cookie = await signedIn(given);
    const read = (with_: string) =>
      send("GET", "/admin/v1/session", { key: null, headers: { cookie: with_ } });
    expect((await read(`other=1; ${cookie}`)).body).toMatchObject({
      actor: "console",
      expiresAt: 1_800_000_000_000 + HOURS_12,
    });
    const headers = { ...FROM_CONSOLE, cookie };
    const made = await send("POST", "/admin/v1/keys", { key: null, body: { name: "a" }, headers });
    expect(made.status).toBe(201);
    const [begun, added] = given.books.log;
    expect(begun).toMatchObject({ actor: "console", subject: "sign in console", after: { by: "link" } });
    expect(added).toMatchObject({ actor: "console" });
    const out = await send("DELETE", "/admin/v1/session", { key: null, headers });
    expect(out.headers.get("set-cookie")).toContain("Max-Age=0");
    expect((await read(cookie)).status).toBe(401);
    expect(given.books.log.at(-1)).toMatchObject({ actor: "console", subject: "sign out console" });
    const other = await signedIn(given);
    given.wait(HOURS_12);
    expect((await read(other)).status).toBe(401);
  });

  test("of a key can do what the key can, and ends with it", async () => {
    const given = fakeAdmin();
    const key = given.addKey("read", "/eng", { name: "viewer" });
    const { body, headers } = await signIn(given, { key });
    expect(body).toMatchObject({ role: "read", path: "/eng", actor: "key_read0", name: "viewer" });
    const cookie = cookieOf(headers);
    const send = (method: string, path: string) =>
      given.send(method, path, { key: null, headers: { ...FROM_CONSOLE, cookie } });
    expect((await send("GET", "/admin/v1/keys")).status).toBe(200);
    expect((await send("DELETE", "/admin/v1/keys/key_read0")).status).toBe(403);
    expect((await send("GET", "/admin/v1/audit/books")).status).toBe(403);
    given.books.keys.set("key_read0", { ...given.books.keys.get("key_read0")!, revokedAt: 1 });
    for (let count = 0; count < 6; count++) expect((await send("GET", "/admin/v1/keys")).status).toBe(401);
  });

  test("cannot be used by another page", async () => {
    const given = fakeAdmin();
    const cookie = await signedIn(given);
    const wrong: [Record<string, string>, number, string][] = [
      [{}, 403, "console_header_missing"],
      [ORIGIN, 403, "console_header_missing"],
      [{ "x-weir-console": "1" }, 403, "origin_not_allowed"],
      [{ ...FROM_CONSOLE, origin: "https://evil.example" }, 403, "origin_not_allowed"],
      [{ ...FROM_CONSOLE, origin: "http://127.0.0.1:1" }, 403, "origin_not_allowed"],
      [{ ...FROM_CONSOLE, host: "evil.example:9348" }, 403, "host_not_allowed"],
      [{ ...FROM_CONSOLE, "sec-fetch-site": "same-site" }, 403, "origin_not_allowed"],
      [{ ...FROM_CONSOLE, "content-type": "text/plain" }, 415, "unsupported_media_type"],
    ];
    for (const [headers, status, code] of wrong) {
      const sent = { key: null, body: { name: "a" }, headers: { ...headers, cookie } };
      const answer = await given.send("POST", "/admin/v1/keys", sent);
      expect([answer.status, answer.body.error.code]).toEqual([status, code]);
      const session = await given.send("POST", "/admin/v1/session", { ...sent, body: { token: "x" } });
      expect([session.status, session.body.error.code]).toEqual([status, code]);
    }
    expect(given.books.keys.size).toBe(0);
  });

  test("a live stream ends with it", async () => {
    let isAllowed = true;
    const reader = new LiveReader({
      watch: () => () => {},
      matches: () => true,
      show: (calls) => calls,
      running: () => ({ at: 0, total: 0, held: 0, calls: [] }),
      isFaulty: () => false,
      isAllowed: () => isAllowed,
      now: Date.now,
    })
      .stream()
      .getReader();
    expect((await reader.read()).done).toBe(false);
    isAllowed = false;
    const events: boolean[] = [];
    while (events.length < 3 && events.at(-1) !== true) events.push((await reader.read()).done);
    expect(events.at(-1)).toBe(true);
  });
});

describe("a sign-in by a key", () => {
  test("says how many tries are left, and then refuses all but links", async () => {
    const given = fakeAdmin();
    const key = given.addKey("admin");
    const messages: unknown[] = [];
    for (let count = 0; count < 5; count++) {
      const { status, body } = await signIn(given, { key: "weir_ad_wrong" });
      expect(status).toBe(401);
      messages.push(body.error.message);
    }
    expect(messages.slice(-2)).toEqual([
      "Not a key of this gateway. 1 try left this minute.",
      "Not a key of this gateway. 0 tries left this minute.",
    ]);
    expect((await signIn(given, { key: "wrong" })).status).toBe(429);
    given.wait(60_000);
    expect((await signIn(given, { key })).status).toBe(200);
  });

  test("with a key for calls says what is needed, and both or neither of the members is wrong", async () => {
    const given = fakeAdmin();
    const { status, body } = await signIn(given, { key: given.addKey("call") });
    expect([status, body.error.message]).toEqual([
      403,
      "This key makes calls; signing in needs an admin key (weir_ad_…) or a read key (weir_ro_…).",
    ]);
    expect((await signIn(given, {})).status).toBe(400);
    expect((await signIn(given, { key: "a", token: "b" })).status).toBe(400);
  });
});
