/** Who may use the admin API, for each operation of its document. */
import { describe, expect, test } from "bun:test";
import { fakeAdmin, type FakeAdmin } from "../helpers/admin.ts";
import { digestOf, makeKeyText } from "../../src/ledger/keys/form.ts";

interface Documented {
  "x-access": "open" | "scraper" | "read" | "write";
  "x-whole-gateway"?: boolean;
}
type Document = { paths: Record<string, Record<string, Documented>> };

const admin = fakeAdmin();
const { paths } = (await admin.send("GET", "/admin/v1/openapi.json")).body as Document;
const operations = Object.entries(paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({
    method: method.toUpperCase(),
    path,
    sent: path.replaceAll(/\{\w+\}/g, "nothing"),
    access: operation["x-access"],
    wholeGateway: operation["x-whole-gateway"] === true,
  })),
);
const METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];

test("the document lists operations of every access", () => {
  expect(operations.length).toBeGreaterThan(25);
  expect(new Set(operations.map(({ access }) => access))).toEqual(
    new Set(["open", "scraper", "read", "write"]),
  );
});

describe("on loopback", () => {
  for (const { method, path, sent, access, wholeGateway } of operations) {
    test(`${method} ${path} is refused without a key unless it is open, and always with a key for calls`, async () => {
      const { send, addKey } = fakeAdmin();
      const none = await send(method, sent, { key: null });
      const isOpen = access === "open" || access === "scraper";
      // The sign-in needs a body.
      if (isOpen) expect(none.status).toBe(method === "GET" ? 200 : 400);
      else expect([none.status, none.body.error.code]).toEqual([401, "unauthorized"]);
      const withCallKey = await send(method, sent, { key: addKey("call") });
      if (access !== "open") expect(withCallKey.status).toBe(403);
      const unknown = await send(method, sent, { key: "weir_ad_unknown" });
      if (access !== "open") expect(unknown.status).toBe(401);
    });

    test(`${method} ${path} gives a read key what it may read and nothing more`, async () => {
      const given = fakeAdmin();
      const key = given.addKey("read", "/");
      const before = given.books.log.length;
      const { status, body } = await given.send(method, sent, { key, ...bodyOf(method) });
      if (access === "write") expect([status, body.error.code]).toEqual([403, "forbidden"]);
      else if (access !== "open" || method === "GET") expect(status).not.toBe(403);
      expect(given.books.log.length).toBe(before);
    });

    test(`${method} ${path} keeps a key to its path`, async () => {
      const given = fakeAdmin();
      fillTwoPaths(given);
      for (const kind of ["read", "admin"] as const) {
        const key = given.addKey(kind, "/eng");
        const foreign = path.includes("/budgets")
          ? "b_sales"
          : path.includes("/rates")
            ? "r_sales"
            : "k_sales";
        const { status, text } = await given.send(method, path.replace("{id}", foreign), {
          key,
          ...bodyOf(method),
        });
        expect(text).not.toContain("sales-");
        if (wholeGateway) expect(status).toBe(403);
        if (path.includes("{id}")) expect(status).toBeGreaterThanOrEqual(400);
      }
    });
  }

  for (const path of Object.keys(paths))
    test(`${path} answers only the methods that it has`, async () => {
      for (const method of METHODS) {
        if (paths[path]![method.toLowerCase()] || (method === "HEAD" && paths[path]!["get"])) continue;
        const { status, headers } = await admin.send(method, path.replaceAll(/\{\w+\}/g, "nothing"));
        expect(status).toBe(405);
        expect(headers.get("allow")).toBeTruthy();
      }
    });

  test("a path without an operation is 404 with a key, and 401 without", async () => {
    expect((await admin.send("GET", "/admin/v1/nothing")).status).toBe(404);
    expect((await admin.send("GET", "/admin/v1/nothing", { key: null })).status).toBe(401);
  });

  test("an expired, a revoked and a rotated-out admin key give no access", async () => {
    const { send, addKey, wait } = fakeAdmin();
    const expiring = addKey("admin", "/", { expiresAt: 1_800_000_001_000 });
    const revoked = addKey("admin", "/", { revokedAt: 1 });
    const old = "weir_ad_old";
    addKey("admin", "/", { digests: [{ sha256: digestOf(old), until: 1_800_000_001_000 }] });
    const statusOf = async (key: string) => (await send("GET", "/admin/v1/keys", { key })).status;
    expect([await statusOf(expiring), await statusOf(revoked), await statusOf(old)]).toEqual([200, 401, 200]);
    wait(1_000);
    expect([await statusOf(expiring), await statusOf(old)]).toEqual([401, 401]);
  });

  test("an address that gave five wrong keys waits a minute, but not for a key that nobody guesses", async () => {
    const { send, addKey, wait } = fakeAdmin();
    const made = addKey("admin");
    const short = "short-key-of-a-person";
    addKey("admin", "/", { digests: [{ sha256: digestOf(short) }] });
    const from = (address: string, given: string) => send("GET", "/admin/v1/keys", { key: given, address });
    for (let count = 0; count < 5; count++)
      expect((await from("10.0.0.1", `wrong${count}`)).status).toBe(401);
    const blocked = await from("10.0.0.1", short);
    expect([blocked.status, blocked.headers.get("retry-after")]).toEqual([429, "60"]);
    expect((await from("10.0.0.1", "wrong")).status).toBe(429);
    expect((await from("10.0.0.1", makeKeyText("admin"))).status).toBe(429);
    expect((await from("10.0.0.1", made)).status).toBe(200);
    expect((await from("10.0.0.2", short)).status).toBe(200);
    expect((await send("GET", "/admin/v1/keys", { address: "10.0.0.1" })).status).toBe(200);
    wait(60_000);
    expect((await from("10.0.0.1", short)).status).toBe(200);
  });
});

describe("not on loopback", () => {
  test("the credential of the run file gives no access, and metrics need a key", async () => {
    const { send, addKey } = fakeAdmin("0.0.0.0");
    expect((await send("GET", "/admin/v1/keys")).status).toBe(401);
    expect((await send("GET", "/metrics", { key: null })).status).toBe(401);
    expect((await send("GET", "/metrics", { key: addKey("read") })).status).toBe(200);
    expect((await send("GET", "/health", { key: null })).status).toBe(200);
  });
});

describe("requests of foreign web pages", () => {
  const foreign: [string, Record<string, string>, number][] = [
    ["another host", { host: "evil.example" }, 403],
    ["no host", { host: "" }, 400],
    ["an odd host", { host: "127.0.0.1:P@evil" }, 400],
    ["another port of this machine", { origin: "http://127.0.0.1:3000" }, 403],
    ["another origin", { origin: "https://evil.example" }, 403],
    ["an opaque origin", { origin: "null" }, 403],
    ["another site", { "sec-fetch-site": "cross-site" }, 403],
    ["a form", { "content-type": "application/x-www-form-urlencoded" }, 415],
    ["a form with a file", { "content-type": "multipart/form-data; boundary=x" }, 415],
    ["plain text", { "content-type": "text/plain" }, 415],
  ];
  for (const [what, headers, status] of foreign)
    test(`${what} is refused, with and without a key, and for what is open`, async () => {
      const { send, books } = fakeAdmin();
      const body = { name: "x" };
      for (const key of [undefined, null])
        expect((await send("POST", "/admin/v1/keys", { key, body, headers })).status).toBe(status);
      expect((await send("GET", "/health", { key: null, headers })).status).toBe(status);
      expect(books.keys.size).toBe(0);
    });

  test("behind a proxy that replaces the Host, the origin must be a listed name and the browser's own word", async () => {
    const { send, addKey } = fakeAdmin("0.0.0.0");
    const key = addKey("admin");
    const statusOf = async (origin: string, site?: string) => {
      const headers = { origin, ...(site !== undefined && { "sec-fetch-site": site }) };
      return (await send("GET", "/admin/v1/keys", { key, headers })).status;
    };
    expect(await statusOf("https://weir.example", "same-origin")).toBe(200);
    expect(await statusOf("https://weir.example")).toBe(403);
    expect(await statusOf("https://weir.example:3000", "same-site")).toBe(403);
    expect(await statusOf("https://evil.example", "same-origin")).toBe(403);
  });

  test("the listener's own names and origin are accepted", async () => {
    const { send } = fakeAdmin();
    const names = ["127.0.0.1:9348", "localhost:9348", "LOCALHOST:9348", "[::1]:9348", "weir.localhost:9348"];
    // A tunnel or a container may map another port to the listener.
    for (const host of [...names, "localhost:19348", "127.0.0.1", "host.docker.internal:9348", "10.1.2.3"])
      expect((await send("GET", "/admin/v1/keys", { headers: { host } })).status).toBe(200);
    const origin = "http://127.0.0.1:9348";
    expect((await send("GET", "/admin/v1/keys", { headers: { origin } })).status).toBe(200);
    const far = fakeAdmin("0.0.0.0");
    const key = far.addKey("admin");
    for (const host of ["10.1.2.3:9348", "weir.example", "[fd00::1]:9348"])
      expect((await far.send("GET", "/admin/v1/keys", { key, headers: { host } })).status).toBe(200);
    expect((await far.send("GET", "/health", { key, headers: { host: "rebound.example" } })).status).toBe(
      403,
    );
  });
});

function bodyOf(method: string): { body?: object } {
  return method === "POST" || method === "PATCH" ? { body: {} } : {};
}

function fillTwoPaths({ addKey, books }: FakeAdmin): void {
  for (const path of ["eng", "sales"]) {
    addKey("call", `/${path}`, { id: `k_${path}`, name: `${path}-key` });
    books.budgets.set(`b_${path}`, {
      id: `b_${path}`,
      name: `${path}-budget`,
      on: { kind: "path", what: `/${path}` },
      window: "day",
      zone: "UTC",
      limit: 1e9,
      mode: "soft",
      onEmpty: "refuse",
      alerts: [],
      source: "store",
    });
    const on = { kind: "key", what: `k_${path}` } as const;
    books.limits.set(`r_${path}`, {
      id: `r_${path}`,
      name: `${path}-rate`,
      on,
      limits: { rpm: 1 },
      source: "store",
    });
  }
}
