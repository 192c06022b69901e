/** Keys for the admin API that the config declares: a new gateway with a config and no commands has them. */
import { afterEach, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { configShow } from "../../src/cli/config.ts";
import { loadConfig } from "../../src/config/load.ts";
import { maskText } from "../../src/config/mask-text.ts";
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

/** The two places of the config that take keys for the admin API. */
const places: [string, object][] = [
  ["adminKeys", { adminKeys }],
  ["admin.keys", { admin: { keys: adminKeys } }],
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

test.each(places)(
  "a read key reads and scrapes, an admin key also writes, neither calls: %s",
  async (_, place) => {
    const url = await start(place);
    for (const key of [READ, ADMIN]) {
      expect((await ask(url, "/metrics", key)).status).toBe(200);
      expect((await ask(url, "/admin/v1/keys", key)).status).toBe(200);
    }
    expect((await ask(url, "/admin/v1/keys", READ, { name: "x" })).status).toBe(403);
    expect((await ask(url, "/admin/v1/keys", ADMIN, { name: "x" })).status).toBeLessThan(300);
    expect((await ask(url, "/admin/v1/keys", "weir-test-late-key-00001")).status).toBe(401);
    expect((await ask(weir!.url, "/v1/models", READ)).status).toBe(401);
  },
);

test.each(places)("they do not close the gateway, and no answer has their digests: %s", async (_, place) => {
  const url = await start(place);
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
  expect(() => startAdmin(books, settings, declared)).toThrow("set admin.keys in the config");
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
    [own({ name: "a" }), "admin.keys[0] must have either key or sha256"],
    [own({ name: "a", key: "changeme" }), "admin.keys[0] is a placeholder"],
    [own({ name: "a", key: "fifteen-letters" }), "weir.yaml:1: admin.keys[0] has fewer than 16 characters"],
    [own({ name: "a", key: "fifteen-letters" }), "(at admin.keys[0].key)"],
    [own({ name: "a", key: ADMIN, role: "writer" }), "role must be one of admin, read"],
    [own({ name: "a", key: ADMIN, rolle: "read" }), "unknown option rolle, did you mean role?"],
    [own({ name: "a", key: ADMIN, path: "eng" }), "(at admin.keys[0].path)"],
    [own({ name: "a", key: ADMIN, expires: "soon" }), "(at admin.keys[0].expires)"],
    [
      own({ name: "a", key: ADMIN }, { name: "a", key: READ }),
      "admin.keys[1] has the name a, which the key at",
    ],
    [own({ name: "a", key: ADMIN }, { name: "b", key: ADMIN }), "admin.keys[1] is the same key as a"],
    [own({ name: "a", key: "${WEIR_TEST_NOT_SET}" }), "variable WEIR_TEST_NOT_SET is not set"],
    [own({ name: "a", key: "${file:no-such-file}" }), "the secret file no-such-file cannot be read"],
    [{ admin: { keys: "all" } }, "keys must be a list"],
    [{ keys: [`b:${CALL}`], ...own({ name: "a", key: CALL }) }, "admin.keys[0] is the same key as b of keys"],
    [{ ...own(ops), adminKeys: [{ ...ops, name: "x" }] }, "admin.keys[0] is the same key as x of adminKeys"],
    [{ ...own(ops), adminKeys: [{ ...ops, key: READ }] }, "has the name ops, which a key of adminKeys has"],
  ];
  for (const [config, says] of rows) expect(() => load(config)).toThrow(says);
  for (const [config] of rows)
    for (const secret of [ADMIN, CALL, READ, "fifteen-letters"])
      expect(messageOf(config)).not.toContain(secret);
});

const ops = { name: "ops", key: ADMIN, role: "admin" };

function own(...keys: object[]): { admin: object } {
  return { admin: { keys } };
}

function messageOf(config: object): string {
  try {
    load(config);
  } catch (fault) {
    return String(fault);
  }
  return "";
}

test("a reload takes what changed in the config and in the file of a secret", async () => {
  const secret = join(folder, "scraper.txt");
  writeFileSync(secret, `${READ}\n`);
  const scraper = { name: "scraper", key: "${file:scraper.txt}" };
  const url = await start(own(ops, scraper));
  const statusOf = async (key: string, path = "/admin/v1/keys") => (await ask(url, path, key)).status;
  expect(await Promise.all([statusOf(ADMIN), statusOf(READ, "/metrics")])).toEqual([200, 200]);
  const next = "weir-test-next-key-00001";
  writeFileSync(secret, next);
  await weir!.reload({ ...load(own({ ...ops, role: "read" }, scraper)), env: {} });
  await until(async () => (await statusOf(next)) === 200);
  expect(await statusOf(READ)).toBe(401);
  expect((await ask(url, "/admin/v1/keys", ADMIN, { name: "y" })).status).toBe(403);
  await weir!.reload({ ...load(own(scraper)), env: {} });
  await until(async () => (await statusOf(ADMIN)) === 401);
});

test("a key with a path sees and changes what lies below it, and the whole gateway only with the path /", async () => {
  const team = "weir-test-team-key-00001";
  const url = await start(own(ops, { name: "team", key: team, role: "admin", path: "/eng" }));
  const make = (name: string, path: string) => ask(url, "/admin/v1/keys", team, { name, path });
  expect((await make("inside", "/eng/web")).status).toBeLessThan(300);
  expect((await make("outside", "/sales")).status).toBe(403);
  expect((await ask(url, "/admin/v1/keys", ADMIN, { name: "other", path: "/sales" })).status).toBeLessThan(
    300,
  );
  const listed = await (await ask(url, "/admin/v1/keys", team)).text();
  expect(listed).toContain("inside");
  expect(listed).not.toContain("other");
  expect((await ask(url, "/metrics", team)).status).toBe(403);
});

test("neither the config as weir shows it nor its masked text has a key", async () => {
  const text = `admin:\n  keys:\n    - { name: ops, key: ${ADMIN}, role: admin }\n    - name: scraper\n      key: ${READ}\n`;
  writeFileSync(join(folder, "weir.yaml"), text);
  for (const flags of [{}, { "--json": true as const }] as Record<string, true>[]) {
    const shown = await configShown(flags);
    expect(shown).toContain("scraper");
    for (const secret of [ADMIN, READ, digest(ADMIN), digest(READ)]) expect(shown).not.toContain(secret);
  }
  // A file that is no valid YAML is masked too.
  for (const written of [text, `${text}  x: [\n`]) {
    const masked = maskText(written);
    expect(masked).toContain("ops");
    for (const secret of [ADMIN, READ]) expect(masked).not.toContain(secret);
  }
});

async function configShown(flags: Record<string, true>): Promise<string> {
  const lines: string[] = [];
  await configShow.run({
    ...{ flags, env: {}, cwd: folder, sections: [], print: (line: string) => lines.push(line) },
  } as never);
  return lines.join("\n");
}

async function until(holds: () => Promise<boolean>): Promise<void> {
  for (let tries = 0; !(await holds()); tries++) {
    if (tries > 200) throw new Error("it did not come true");
    await Bun.sleep(10);
  }
}
