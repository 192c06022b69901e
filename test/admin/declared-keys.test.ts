/** Keys for the admin API that the config declares: a new gateway with a config and no commands has them. */
import { afterEach, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadConfig } from "../../src/config/load.ts";
import { startAdmin } from "../../src/admin/listener.ts";
import type { RunningWeir } from "../../src/run/running-weir.ts";
import { startWeir } from "../../src/run/weir.ts";
import { Columns } from "../../src/core/column.ts";

const READ = "weir-test-read-key-0001";
const ADMIN = "weir-test-admin-key-0001";
const CALL = "weir-test-call-key-00001";
const digest = (text: string) => new Bun.CryptoHasher("sha256").update(text).digest("hex");

const folder = mkdtempSync(join(tmpdir(), "weir-test-"));
let weir: RunningWeir | undefined;

afterEach(async () => {
  await weir?.stop();
  weir = undefined;
  rmSync(join(folder, "weir.yaml"), { force: true });
});

function load(config: object) {
  writeFileSync(join(folder, "weir.yaml"), JSON.stringify(config));
  return loadConfig({ flags: { "--port": "0" }, env: {}, cwd: folder });
}

const adminKeys = [
  { name: "prometheus", sha256: digest(READ) },
  { name: "ops", key: ADMIN, role: "admin" },
  { name: "late", key: "weir-test-late-key-00001", expires: "2020-01-01" },
];

async function start(config: object): Promise<string> {
  weir = await startWeir({
    ...load(config),
    env: {},
    write: () => {},
    adminCredential: "credential-of-the-run",
  });
  await weir.books();
  const admin = weir.admin;
  if (!admin || !("url" in admin)) throw new Error("the admin API is off");
  return admin.url;
}

function ask(url: string, path: string, key: string, body?: object): Promise<Response> {
  return fetch(url + path, {
    headers: { authorization: `Bearer ${key}`, ...(body && { "content-type": "application/json" }) },
    ...(body && { method: "POST", body: JSON.stringify(body) }),
  });
}

test("a read key reads and scrapes, an admin key also writes, and neither makes calls", async () => {
  const url = await start({ adminKeys });
  for (const key of [READ, ADMIN]) {
    expect((await ask(url, "/metrics", key)).status).toBe(200);
    expect((await ask(url, "/admin/v1/keys", key)).status).toBe(200);
  }
  expect((await ask(url, "/admin/v1/keys", READ, { name: "x" })).status).toBe(403);
  expect((await ask(url, "/admin/v1/keys", ADMIN, { name: "x" })).status).toBeLessThan(300);
  expect((await ask(url, "/admin/v1/keys", "weir-test-late-key-00001")).status).toBe(401);
  expect((await ask(weir!.url, "/v1/models", READ)).status).toBe(401);
});

test("they do not close the gateway, and the answers of the admin API do not have their digests", async () => {
  const url = await start({ adminKeys });
  expect((await fetch(`${weir!.url}/v1/models`)).status).toBe(200);
  for (const path of ["/admin/v1/config", "/admin/v1/config/source", "/admin/v1/keys"]) {
    const text = await (await ask(url, path, ADMIN)).text();
    expect(text).not.toContain(digest(READ));
    expect(text).not.toContain(ADMIN);
  }
});

test("an address that other machines can reach needs no other admin key", () => {
  const books = { health: () => ({ degraded: [] }), policy: () => ({ keys: [] }), report() {} } as never;
  const settings = { host: "0.0.0.0", port: 0, names: [], credential: "c", version: "1" } as never;
  const declared = async () => ({ columns: new Columns([]), keyOptions: [] });
  expect(() => startAdmin(books, settings, declared)).toThrow("set adminKeys in the config");
  const listener = startAdmin(books, { ...(settings as object), declaresKeys: true } as never, declared);
  expect(listener.token).toBeUndefined();
  listener.stop();
});

test("mistakes stop the start, with their place", () => {
  const rows: [object, string][] = [
    [{ adminKeys: [{ name: "a" }] }, "adminKeys[0] must have either key or sha256"],
    [{ adminKeys: [{ name: "a", key: "changeme" }] }, "adminKeys[0] is a placeholder"],
    [{ adminKeys: [{ name: "a", key: ADMIN, role: "writer" }] }, "role must be one of admin, read"],
    [{ adminKeys: [{ name: "a", key: ADMIN, path: "eng" }] }, "path"],
    [{ keys: [{ name: "b", key: CALL }], adminKeys: [{ name: "a", key: CALL }] }, "is the same key as b"],
  ];
  for (const [config, says] of rows) expect(() => load(config)).toThrow(says);
});
