/** Keys by the admin API. */
import { expect, test } from "bun:test";
import { fakeAdmin } from "../helpers/admin.ts";
import { digestOf } from "../../src/ledger/keys/form.ts";

const KEYS = "/admin/v1/keys";

test("a created key is answered once, and the books get its digest alone", async () => {
  const { send, books } = fakeAdmin();
  const created = await send("POST", KEYS, { body: { name: "alice", path: "/eng" } });
  expect(created.status).toBe(201);
  const { secret, key } = created.body;
  expect(secret).toMatch(/^weir_sk_[0-9A-Za-z]{49}$/);
  expect(books.keys.get(key.id)!.digests[0]!.sha256).toBe(digestOf(secret));
  expect(JSON.stringify([books.log, [...books.keys.values()]])).not.toContain(secret);
  const others = [
    await send("GET", KEYS),
    await send("GET", `${KEYS}/${key.id}`),
    await send("GET", `${KEYS}/alice`),
    await send("PATCH", `${KEYS}/alice`, { body: { tags: ["x"] } }),
    await send("DELETE", `${KEYS}/alice`),
  ];
  for (const { status, text } of others) {
    expect(status).toBe(200);
    expect(text).not.toContain(secret);
    expect(text).not.toContain(digestOf(secret));
  }
  expect((await send("GET", "/admin/v1/audit/log")).text).not.toContain(secret);
});

test("a key can be created with a budget and a rate limit, which exist before it does", async () => {
  const { send, books } = fakeAdmin();
  const body = { name: "bot", budget: { limit: 1e9, mode: "hard" }, rates: { rpm: 10 } };
  const { status, body: answer } = await send("POST", KEYS, { body });
  expect(status).toBe(201);
  const on = { kind: "key", what: answer.key.id } as const;
  expect([...books.budgets.values()]).toMatchObject([{ name: "bot", on, limit: 1e9, mode: "hard" }]);
  expect([...books.limits.values()]).toMatchObject([{ name: "bot", on, limits: { rpm: 10 } }]);
  expect(books.log.map(({ subject }) => subject.split(" ")[0])).toEqual(["budget", "rate", "key"]);
});

test("a rotated key has a new text, and the old one works until the grace period ends", async () => {
  const { send, books } = fakeAdmin();
  const { secret } = (await send("POST", KEYS, { body: { name: "a" } })).body;
  const rotated = await send("POST", `${KEYS}/a/rotate`, { body: { graceMs: 60_000 } });
  expect(rotated.body.secret).not.toBe(secret);
  const [key] = books.keys.values();
  expect(key!.digests.map(({ sha256, until }) => [sha256, until])).toEqual([
    [digestOf(rotated.body.secret), undefined],
    [digestOf(secret), 1_800_000_060_000],
  ]);
  expect((await send("POST", `${KEYS}/a/rotate`)).status).toBe(200);
});

test("a revoked key stays in the books, and revoking it again changes nothing", async () => {
  const { send, books } = fakeAdmin();
  await send("POST", KEYS, { body: { name: "a" } });
  expect((await send("DELETE", `${KEYS}/a`)).body.state).toBe("revoked");
  const entries = books.log.length;
  expect((await send("DELETE", `${KEYS}/a`)).status).toBe(200);
  expect(books.log.length).toBe(entries);
  expect((await send("GET", KEYS)).body.keys).toEqual([]);
  expect((await send("GET", `${KEYS}?revoked=true`)).body.keys).toHaveLength(1);
  expect((await send("POST", `${KEYS}/a/rotate`)).status).toBe(400);
  expect((await send("DELETE", `${KEYS}/a?cut=true`)).status).toBe(200);
  expect([...books.keys.values()][0]!.cut).toBe(true);
});

test("a key of the configuration is listed and cannot be changed", async () => {
  const { send, addKey } = fakeAdmin();
  addKey("call", "/", { id: "config:old", name: "old" });
  const listed = await send("GET", KEYS);
  for (const [method, path] of [
    ["PATCH", `${KEYS}/key_call0`],
    ["DELETE", `${KEYS}/key_call0`],
    ["POST", `${KEYS}/key_call0/rotate`],
  ] as const) {
    const { status, body } = await send(method, path.replace("key_call0", encodeURIComponent("config:old")), {
      ...(method !== "DELETE" && { body: {} }),
    });
    expect([status, body.error.code]).toEqual([409, "declared"]);
  }
  expect(listed.body.keys[0].source).toBe("config");
});

test("a key cannot be created, imported or renamed to the name of a key of the configuration", async () => {
  const { send, addKey, books } = fakeAdmin();
  addKey("call", "/", { id: "config:old", name: "old" });
  await send("POST", KEYS, { body: { name: "new" } });
  const before = books.keys.size;
  const imported = { keys: [{ name: "old", sha256: digestOf("sk-of-another-gateway") }] };
  for (const [method, path, body] of [
    ["POST", KEYS, { name: "old" }],
    ["POST", "/admin/v1/import/keys", imported],
    ["PATCH", `${KEYS}/new`, { name: "old" }],
  ] as const) {
    const { status, body: answer } = await send(method, path, { body });
    expect([status, answer.error.code]).toEqual([409, "conflict"]);
    expect(answer.error.message).toBe("There is already a key with the name old.");
  }
  expect(books.keys.size).toBe(before);
});

test("an admin key makes keys on its path only, and with its own scopes at most", async () => {
  const { send, addKey } = fakeAdmin();
  const key = addKey("admin", "/eng", { scopes: { models: ["gpt-*"] } });
  const make = (body: object) => send("POST", KEYS, { key, body: { name: "x", ...body } });
  expect((await make({ path: "/sales" })).body.error).toMatchObject({ code: "not_permitted", path: "/path" });
  expect((await make({ scopes: { models: ["*"] } })).status).toBe(403);
  const made = await make({ path: "/eng/a" });
  expect(made.status).toBe(201);
  expect(made.body.key.scopes.models).toEqual(["gpt-*"]);
});

test("two keys cannot have one name, and a change needs the version that was read", async () => {
  const { send } = fakeAdmin();
  const first = await send("POST", KEYS, { body: { name: "a" } });
  expect((await send("POST", KEYS, { body: { name: "a" } })).body.error.code).toBe("conflict");
  const version = first.headers.get("etag")!;
  expect(version).toBe(`"${first.body.key.version}"`);
  const change = (tags: string[]) =>
    send("PATCH", `${KEYS}/a`, { body: { tags }, headers: { "if-match": version } });
  expect((await change(["one"])).status).toBe(200);
  expect((await change(["two"])).body.error).toMatchObject({ code: "changed", path: "header if-match" });
});

test("imported digests become keys, and digests that are known are skipped", async () => {
  const { send, books } = fakeAdmin();
  const sha256 = digestOf("sk-of-another-gateway");
  const body = { keys: [{ name: "one", sha256 }] };
  expect((await send("POST", "/admin/v1/import/keys", { body })).body.keys).toHaveLength(1);
  expect((await send("POST", "/admin/v1/import/keys", { body })).body).toEqual({
    keys: [],
    skipped: ["one"],
  });
  expect([...books.keys.values()][0]!.digests[0]!.sha256).toBe(sha256);
});

test("with store.keys: file the API makes no keys for calls, and still admin keys", async () => {
  const { send, books } = fakeAdmin();
  books.storesCallKeys = false;
  const create = (kind: string) => send("POST", KEYS, { body: { name: "a", kind } });
  expect((await create("call")).body.error.code).toBe("keys_in_file");
  const body = { keys: [{ name: "b", sha256: "0".repeat(64) }] };
  expect((await send("POST", "/admin/v1/import/keys", { body })).status).toBe(409);
  expect((await create("admin")).status).toBe(201);
  expect(books.keys.size).toBe(1);
});

test("parallel creations of one name make one key", async () => {
  const { send, books } = fakeAdmin();
  const answers = await Promise.all(
    Array.from({ length: 20 }, () => send("POST", KEYS, { body: { name: "same" } })),
  );
  expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
  expect(books.keys.size).toBe(1);
});

test("a repeated creation with one Idempotency-Key gets the same answer, and makes one key", async () => {
  const { send, books, wait } = fakeAdmin();
  const headers = { "idempotency-key": "abc" };
  const create = (name: string) => send("POST", KEYS, { body: { name }, headers });
  const [one, two] = await Promise.all([create("a"), create("a")]);
  expect([one!.status, one!.text]).toEqual([two!.status, two!.text]);
  expect((await create("a")).text).toBe(one!.text);
  expect(books.keys.size).toBe(1);
  expect((await create("b")).body.error.code).toBe("idempotency_key_reused");
  wait(700_000);
  expect((await create("b")).status).toBe(201);
});

test("a creation that failed may be repeated with the same Idempotency-Key", async () => {
  const { send, books } = fakeAdmin();
  const { saveKey } = books;
  books.saveKey = () => Promise.reject(new Error("the disk is full"));
  const create = () => send("POST", KEYS, { body: { name: "a" }, headers: { "idempotency-key": "k" } });
  expect((await create()).status).toBe(500);
  books.saveKey = saveKey;
  expect((await create()).status).toBe(201);
});
